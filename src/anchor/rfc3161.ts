/**
 * RFC 3161: asks a timestamping authority, and looks whether its answer is about our digest. The
 * authority's signature is for the verifier's user to check, with openssl and a CA that they trust.
 */
import { toHex } from "../bytes/hex.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";

class TimestampTokenError extends Error {
  override readonly name = "TimestampTokenError";
  readonly code = "bad_token";
}

/** DER of AlgorithmIdentifier SHA-256 with NULL parameters. */
const SHA256_ALGORITHM = Buffer.from("300d06096086480165030402010500", "hex");
const SIGNED_DATA = "2a864886f70d010702";
const TST_INFO = "2a864886f70d0109100104";
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;
const OID = 0x06;
const EXPLICIT_0 = 0xa0;

export interface TimestampQuery {
  /** TimeStampReq, DER. */
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array;
  /** Content of the nonce's INTEGER, hex. */
  readonly nonce: string;
}

/** Asks for a token with the authority's certificate in it. @param digest 32 bytes. */
export function timestampQuery(digest: Uint8Array, randomBytes: RandomBytes): TimestampQuery {
  const nonce = Uint8Array.from(randomBytes(9));
  // Positive and in the shortest form: the first byte is 0x40 to 0x7f.
  nonce[0] = 0x40 | ((nonce[0] ?? 0) & 0x3f);
  const imprint = der(SEQUENCE, SHA256_ALGORITHM, der(OCTETS, digest));
  const version = der(INTEGER, Uint8Array.of(1));
  const certReq = Uint8Array.of(0x01, 0x01, 0xff);
  const bytes = der(SEQUENCE, version, imprint, der(INTEGER, nonce), certReq);
  return { bytes, digest, nonce: toHex(nonce) };
}

/** @throws TimestampTokenError unless the response grants a token about this very query. */
export function assertAnswers(query: TimestampQuery, response: Uint8Array): void {
  const [top, ...rest] = elements(response);
  demand(top?.tag === SEQUENCE && rest.length === 0, "is no timestamp response");
  const [status, token] = elements(top.content);
  demand(status?.tag === SEQUENCE, "has no status");
  const [code, ...details] = elements(status.content);
  const granted = code?.tag === INTEGER && /^0[01]$/.test(toHex(code.content));
  demand(
    granted,
    `was refused: status ${toHex(code?.content ?? new Uint8Array())} ${words(details)}`,
  );
  demand(token?.tag === SEQUENCE, "has no token");
  const info = elements(tstInfo(token.content));
  const [, , imprint] = info;
  const expected = der(SEQUENCE, SHA256_ALGORITHM, der(OCTETS, query.digest));
  const bare = Buffer.from("300b0609608648016503040201", "hex");
  const withoutNull = der(SEQUENCE, bare, der(OCTETS, query.digest));
  const found = imprint === undefined ? "" : toHex(der(SEQUENCE, imprint.content));
  const isOurs = found === toHex(expected) || found === toHex(withoutNull);
  demand(isOurs, "is about another digest");
  const nonces = info.slice(4).filter(({ tag }) => tag === INTEGER);
  const isFresh = nonces.some(({ content }) => toHex(content) === query.nonce);
  demand(isFresh, "does not repeat the nonce");
}

/** ContentInfo → SignedData → EncapsulatedContentInfo → TSTInfo's content. */
function tstInfo(contentInfo: Uint8Array): Uint8Array {
  const [type, wrapped] = elements(contentInfo);
  demand(isOid(type, SIGNED_DATA) && wrapped?.tag === EXPLICIT_0, "is not signed data");
  const [signedData] = elements(wrapped.content);
  demand(signedData?.tag === SEQUENCE, "is not signed data");
  const encapsulated = elements(signedData.content).find(
    ({ tag, content }) => tag === SEQUENCE && isOid(elements(content)[0], TST_INFO),
  );
  const [, explicit] = elements(encapsulated?.content ?? new Uint8Array());
  const [octets] = elements(explicit?.tag === EXPLICIT_0 ? explicit.content : new Uint8Array());
  const [info] = elements(octets?.tag === OCTETS ? octets.content : new Uint8Array());
  demand(info?.tag === SEQUENCE, "does not hold a timestamp");
  return info.content;
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** The elements that fill these bytes, one level deep (X.690, definite lengths only). */
function elements(bytes: Uint8Array): Element[] {
  const found: Element[] = [];
  let offset = 0;
  while (offset < bytes.byteLength) {
    const tag = bytes[offset] ?? 0;
    const first = bytes[offset + 1] ?? 0;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    demand(first !== 0x80 && lengthBytes <= 4, "has a length of another form");
    let length = lengthBytes === 0 ? first : 0;
    for (let index = 0; index < lengthBytes; index++) {
      length = length * 256 + (bytes[offset + 2 + index] ?? 0);
    }
    const start = offset + 2 + lengthBytes;
    demand(start + length <= bytes.byteLength, "ends early");
    found.push({ tag, content: bytes.subarray(start, start + length) });
    offset = start + length;
  }
  return found;
}

/** One element; its content is shorter than 128 bytes wherever this is used. */
function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts);
  demand(content.byteLength < 0x80, "has an element of unexpected length");
  return new Uint8Array(Buffer.concat([Uint8Array.of(tag, content.byteLength), content]));
}

/** What a refusal says, as far as it is plain text. */
function words(details: readonly Element[]): string {
  const text = details.map(({ content }) => Buffer.from(content).toString("latin1")).join(" ");
  return text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, 160);
}

function isOid(element: Element | undefined, hex: string): boolean {
  return element?.tag === OID && toHex(element.content) === hex;
}

function demand(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new TimestampTokenError(`the timestamp response ${problem}`);
}
