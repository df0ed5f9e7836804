/**
 * Requests signed with Ed25519: HTTP Message Signatures (RFC 9421) with Content-Digest (RFC 9530),
 * in one strict profile. Signature label `svc`, tag `svc-request-v1`; covered are exactly
 *
 *     "@method" "@authority" "@path" "@query", and with a body "content-digest" "content-type"
 *
 * in any order; parameters created, nonce, keyid, tag, and optionally expires and alg. A signature
 * is good once: its nonce is remembered for as long as its time would pass. What was signed before
 * the machine started is not taken: a power cut may have undone the last nonces.
 */
import { fromBase64, toBase64 } from "../bytes/base64.ts";
import { fromHex } from "../bytes/hex.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import type { SignatureCheck } from "../crypto/ed25519.ts";
import { sha512 } from "../crypto/hash.ts";
import type { Nonces } from "./nonces.ts";

/** A request as it came, with nothing normalised. */
export interface SignableRequest {
  readonly method: string;
  /** The host by which the service was addressed, lower case; with a port that is not 80 or 443. */
  readonly authority: string;
  /** As routed, without the query. */
  readonly path: string;
  /** With its question mark; `?` without a query. */
  readonly query: string;
  /** Null for a missing header; header lines that came twice are joined and so refused. */
  readonly header: (name: string) => string | null;
  readonly body: Uint8Array;
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string;
}

/** Why a signature is not taken; for the log, not for the caller. */
export type SignatureProblem =
  | "form"
  | "components"
  | "parameters"
  | "time"
  | "unknown_key"
  | "digest"
  | "signature"
  | "replayed";

export interface SignedRequestsDeps {
  /** Checks signatures of a key that is not revoked; null for any other. */
  readonly signerOf: (keyId: string) => SignatureCheck | null;
  readonly nonces: Pick<Nonces, "remember">;
  /** When the machine started, Unix milliseconds. */
  readonly bootedMs: number;
  readonly nowMs: () => number;
}

/** How far a signature's time may be from ours, either way. */
const WINDOW_SECONDS = 60;
const LIFETIME_SECONDS_MAX = 300;

const COMPONENTS = '"[a-z@-]+"(?: "[a-z@-]+")*';
const VALUE = '(?:0|[1-9][0-9]{0,14}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*")';
const INPUT = new RegExp(`^svc=(\\((${COMPONENTS})\\)((?:;[a-z]+=${VALUE})+))$`);
const SIGNATURE = /^svc=:([A-Za-z0-9+/]{86}==):$/;
const WHOLE = /^\d+$/;
const NONCE = /^[A-Za-z0-9_-]{22,86}$/;
const KEY_ID = /^k_[0-9A-HJKMNP-TV-Z]{26}$/;
const TAG = "svc-request-v1";

export class SignedRequests {
  readonly #deps: SignedRequestsDeps;

  constructor(deps: SignedRequestsDeps) {
    this.#deps = deps;
  }

  /**
   * @returns the key that signed the request, or why it is not taken.
   * @throws (rejects) StoreError when its nonce could not be kept.
   */
  async verify(
    request: SignableRequest,
  ): Promise<{ readonly keyId: string } | { readonly problem: SignatureProblem }> {
    const { bootedMs, nonces, nowMs, signerOf } = this.#deps;
    const parsed = parseInput(request);
    if (typeof parsed === "string") return { problem: parsed };
    const { keyId, nonce, signature } = parsed;
    const now = nowMs();
    const nowSeconds = now / 1000;
    if (!isTimely(parsed, nowSeconds, bootedMs / 1000)) return { problem: "time" };
    const isSignedBy = signerOf(keyId);
    if (isSignedBy === null) return { problem: "unknown_key" };
    if (request.body.byteLength > 0 && !hasDigest(request)) return { problem: "digest" };
    const base = signatureBase(request, parsed.components, parsed.parameters);
    if (!isSignedBy(utf8Encode(base), signature)) return { problem: "signature" };
    // Only now: a stranger cannot use up someone's nonces. A signature from ahead passes until its
    // own time and the window are over.
    const untilS = Math.ceil(nowSeconds) + 2 * WINDOW_SECONDS + 1;
    if (!(await nonces.remember(keyId, nonce, untilS, now))) return { problem: "replayed" };
    return { keyId };
  }
}

function isTimely(
  { created, expires }: ParsedInput,
  nowSeconds: number,
  bootedSeconds: number,
): boolean {
  if (Math.abs(nowSeconds - created) > WINDOW_SECONDS) return false;
  // The signer's clock may have been ahead by the window.
  if (created <= bootedSeconds + WINDOW_SECONDS) return false;
  if (expires === null) return true;
  return expires > nowSeconds && expires >= created && expires - created <= LIFETIME_SECONDS_MAX;
}

/** The text that is signed (RFC 9421, 2.5). @param parameters as `Signature-Input` has them. */
export function signatureBase(
  request: Pick<SignableRequest, "method" | "authority" | "path" | "query" | "header">,
  components: readonly string[],
  parameters: string,
): string {
  const lines = components.map((name) => `"${name}": ${componentValue(request, name)}`);
  return [...lines, `"@signature-params": ${parameters}`].join("\n");
}

interface ParsedInput {
  readonly components: readonly string[];
  /** The components and parameters as they were written: they are signed so. */
  readonly parameters: string;
  readonly created: number;
  readonly expires: number | null;
  readonly nonce: string;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

function parseInput(request: SignableRequest): ParsedInput | SignatureProblem {
  const input = INPUT.exec(request.header("signature-input") ?? "");
  const encoded = SIGNATURE.exec(request.header("signature") ?? "")?.[1];
  if (input === null || encoded === undefined) return "form";
  const signature = fromBase64(encoded);
  if (signature === null) return "form";
  const [, parameters = "", list = "", tail = ""] = input;
  const components = list.slice(1, -1).split('" "');
  if (!coversAll(components, request.body.byteLength > 0)) return "components";
  const values = parametersOf(tail);
  if (values === null) return "parameters";
  const { created, expires, nonce, keyid, alg, tag } = values;
  const isRight =
    WHOLE.test(created ?? "") &&
    (expires === undefined || WHOLE.test(expires)) &&
    NONCE.test(textOf(nonce)) &&
    KEY_ID.test(textOf(keyid)) &&
    textOf(tag) === TAG &&
    (alg === undefined || textOf(alg) === "ed25519");
  if (!isRight) return "parameters";
  return {
    components,
    parameters,
    created: Number(created),
    expires: expires === undefined ? null : Number(expires),
    nonce: textOf(nonce),
    keyId: textOf(keyid),
    signature,
  };
}

const ALWAYS = ["@authority", "@method", "@path", "@query"].join();
const WITH_BODY = [ALWAYS, "content-digest", "content-type"].join();

/** Each once, and nothing else. */
function coversAll(components: readonly string[], hasBody: boolean): boolean {
  return [...components].sort().join() === (hasBody ? WITH_BODY : ALWAYS);
}

interface Parameters {
  created?: string;
  expires?: string;
  nonce?: string;
  keyid?: string;
  alg?: string;
  tag?: string;
}

/**
 * @param tail of the form that `INPUT` demands; no value that is right holds a semicolon.
 * @returns null for a parameter that is not known, or that comes twice.
 */
function parametersOf(tail: string): Readonly<Parameters> | null {
  const found: Parameters = {};
  for (const parameter of tail.slice(1).split(";")) {
    const end = parameter.indexOf("=");
    const name = parameter.slice(0, end);
    if (!isParameter(name) || found[name] !== undefined) return null;
    found[name] = parameter.slice(end + 1);
  }
  return found;
}

function isParameter(name: string): name is keyof Parameters {
  switch (name) {
    case "created":
    case "expires":
    case "nonce":
    case "keyid":
    case "alg":
    case "tag":
      return true;
    default:
      return false;
  }
}

const QUOTED = /^"[^"]+"$/;

/** A quoted string without its quotes; empty for anything else. */
function textOf(value: string | undefined): string {
  return value !== undefined && QUOTED.test(value) ? value.slice(1, -1) : "";
}

function componentValue(
  request: Pick<SignableRequest, "method" | "authority" | "path" | "query" | "header">,
  name: string,
): string {
  switch (name) {
    case "@method":
      return request.method;
    case "@authority":
      return request.authority;
    case "@path":
      return request.path;
    case "@query":
      return request.query;
    default:
      return (request.header(name) ?? "").trim();
  }
}

const DIGEST = /^ *([a-z0-9-]+)=:([A-Za-z0-9+/=]+): *$/;

/** Every digest of a known kind must be the body's, and there must be one. */
function hasDigest({ header, body, bodyHash }: SignableRequest): boolean {
  let matched = 0;
  for (const part of (header("content-digest") ?? "").split(",")) {
    const [, kind, encoded] = DIGEST.exec(part) ?? [];
    if (kind === undefined || encoded === undefined) return false;
    if (kind !== "sha-256" && kind !== "sha-512") continue;
    const digest = kind === "sha-256" ? fromHex(bodyHash) : sha512(body);
    if (digest === null || toBase64(digest) !== encoded) return false;
    matched += 1;
  }
  return matched > 0;
}

/** Points of small order, and how else they can be written: one signature fits every message. */
const SMALL_ORDER: ReadonlySet<string> = new Set(
  [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ].flatMap((hex) => [hex, withSign(hex)]),
);

/**
 * Whether a public key may be registered: 32 bytes in canonical form, not of small order. The
 * runtime's own verification takes any of those (measured).
 */
export function isSafePublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.byteLength !== 32) return false;
  if (SMALL_ORDER.has(Buffer.from(publicKey).toString("hex"))) return false;
  const littleEndian = Uint8Array.from(publicKey).reverse();
  littleEndian[0] = (littleEndian[0] ?? 0) & 0x7f;
  return BigInt(`0x${Buffer.from(littleEndian).toString("hex")}`) < 2n ** 255n - 19n;
}

function withSign(hex: string): string {
  const bytes = Buffer.from(fromHex(hex) ?? []);
  bytes[31] = (bytes[31] ?? 0) | 0x80;
  return bytes.toString("hex");
}
