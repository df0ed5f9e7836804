/**
 * Looks into an RFC 3161 timestamp response: that it was granted, which digest it is about, and
 * the time it states. The authority's signature is not checked here: that needs its certificate
 * chain, and `opensslCommand` says how to have it checked.
 */
import { equalBytes, latin1, toHex } from "./encoding.ts";

export interface TimestampToken {
  /** As the token has it: `YYYYMMDDHHMMSSZ`, perhaps with fractions. */
  readonly genTime: string;
  readonly serial: string;
}

/** Why a token cannot be read. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

const SIGNED_DATA = "2a864886f70d010702";
const TST_INFO = "2a864886f70d0109100104";
const SHA256 = "608648016503040201";

/** @throws TokenError unless it is a granted response about this SHA-256 digest. */
export function readToken(response: Uint8Array, digest: Uint8Array): TimestampToken {
  const [top, ...rest] = elements(response);
  demand(top?.tag === 0x30 && rest.length === 0, "is not a timestamp response");
  const [status, contentInfo] = elements(top.content);
  const [granted] = status?.tag === 0x30 ? elements(status.content) : [];
  const isGranted =
    granted?.tag === 0x02 && (toHex(granted.content) === "00" || toHex(granted.content) === "01");
  demand(isGranted, "was not granted");
  demand(contentInfo?.tag === 0x30, "has no token");
  const [signedType, wrapped] = elements(contentInfo.content);
  demand(isOid(signedType, SIGNED_DATA) && wrapped?.tag === 0xa0, "is not signed data");
  const [signedData] = elements(wrapped.content);
  demand(signedData?.tag === 0x30, "is not signed data");
  const encapsulated = elements(signedData.content).find(
    (element) => element.tag === 0x30 && isOid(elements(element.content)[0], TST_INFO),
  );
  demand(encapsulated !== undefined, "does not hold a timestamp");
  const [, explicit] = elements(encapsulated.content);
  const [octets] = explicit?.tag === 0xa0 ? elements(explicit.content) : [];
  demand(octets?.tag === 0x04, "does not hold a timestamp");
  return readInfo(octets.content, digest);
}

/** The command that checks the signature too. */
export function opensslCommand(recordFile: string, tokenFile: string): string {
  return `openssl ts -verify -data ${recordFile} -in ${tokenFile} -CAfile <the authority's CA>`;
}

function readInfo(bytes: Uint8Array, digest: Uint8Array): TimestampToken {
  const [info] = elements(bytes);
  demand(info?.tag === 0x30, "does not hold a timestamp");
  const [, , imprint, serial, time] = elements(info.content);
  demand(imprint?.tag === 0x30, "has no imprint");
  const [algorithm, hashed] = elements(imprint.content);
  const [oid] = algorithm?.tag === 0x30 ? elements(algorithm.content) : [];
  demand(isOid(oid, SHA256), "is not about a SHA-256 digest");
  const isSame = hashed?.tag === 0x04 && equalBytes(hashed.content, digest);
  demand(isSame, "is about another file");
  demand(serial?.tag === 0x02 && time?.tag === 0x18, "has no serial number or no time");
  return { genTime: latin1(time.content), serial: toHex(serial.content) };
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
    let length = first < 0x80 ? first : 0;
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

function isOid(element: Element | undefined, hex: string): boolean {
  return element?.tag === 0x06 && toHex(element.content) === hex;
}

function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TokenError(message);
}
