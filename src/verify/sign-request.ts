/**
 * For clients: signs requests with Ed25519 instead of sending a key with them (HTTP Message
 * Signatures, RFC 9421, with Content-Digest, RFC 9530), in the profile that `tenant/README.md`
 * describes. A signature is good for one request and one minute.
 */
import { getPublicKeyAsync, signAsync } from "@noble/ed25519";
import { sha256 } from "@noble/hashes/sha2.js";
import { toBase64, utf8 } from "./encoding.ts";

/** A key that signs requests. */
export interface RequestSigner {
  /** As its registration returned it: `k_` and 26 characters. */
  readonly keyId: string;
  /** 32 bytes (RFC 8032): keep it as a password is kept. */
  readonly seed: Uint8Array;
}

export interface RequestToSign {
  readonly method: string;
  readonly url: string | URL;
  /** Of a request with a body; by default `application/json`. */
  readonly contentType?: string;
  /** The exact bytes that are sent. */
  readonly body?: Uint8Array | string;
}

export interface SigningSources {
  readonly nowMs?: () => number;
  readonly randomBytes?: (count: number) => Uint8Array;
}

/** @returns the headers to send with the request, `content-type` among them where it has a body. */
export async function signRequest(
  request: RequestToSign,
  signer: RequestSigner,
  sources: SigningSources = {},
): Promise<Record<string, string>> {
  const { method, body = "", contentType = "application/json" } = request;
  const url = new URL(request.url);
  const bytes = typeof body === "string" ? utf8(body) : body;
  const ofBody: Readonly<Record<string, string>> =
    bytes.byteLength === 0
      ? {}
      : {
          "content-type": contentType,
          "content-digest": `sha-256=:${toBase64(sha256(bytes))}:`,
        };
  const covered: readonly (readonly [string, string])[] = [
    ["@method", method.toUpperCase()],
    ["@authority", url.host.replace(/:(?:80|443)$/, "")],
    ["@path", url.pathname],
    ["@query", url.search === "" ? "?" : url.search],
    ...Object.entries(ofBody),
  ];
  const parameters = signatureParameters(covered, signer, sources);
  const lines = covered.map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${parameters}`].join("\n");
  const signature = await signAsync(utf8(base), signer.seed);
  return {
    ...ofBody,
    "signature-input": `svc=${parameters}`,
    signature: `svc=:${toBase64(signature)}:`,
  };
}

function signatureParameters(
  covered: readonly (readonly [string, string])[],
  { keyId }: RequestSigner,
  { nowMs = Date.now, randomBytes = secureBytes }: SigningSources,
): string {
  const nonce = toBase64(randomBytes(18)).replaceAll("+", "-").replaceAll("/", "_");
  const created = Math.floor(nowMs() / 1000);
  const list = covered.map(([name]) => `"${name}"`).join(" ");
  return (
    `(${list});created=${created};expires=${created + 60};nonce="${nonce}";` +
    `keyid="${keyId}";alg="ed25519";tag="svc-request-v1"`
  );
}

/**
 * A `fetch` that signs every request, for client libraries:
 * `new OpenAI({ baseURL, apiKey: "signed", fetch: signingFetch(signer) })`.
 * The Authorization header that such libraries add is left out.
 */
export function signingFetch(
  signer: RequestSigner,
  send: (request: Request) => Promise<Response> = fetch,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request =
      input instanceof Request ? new Request(input, init) : new Request(String(input), init);
    const { method, url, signal } = request;
    const body = new Uint8Array(await request.arrayBuffer());
    const headers = new Headers(request.headers);
    headers.delete("authorization");
    const contentType = headers.get("content-type") ?? "application/octet-stream";
    const signed = await signRequest({ method, url, body, contentType }, signer);
    for (const [name, value] of Object.entries(signed)) headers.set(name, value);
    const sent = { method, headers, signal, ...(body.byteLength > 0 && { body }) };
    return send(new Request(url, sent));
  };
}

/** What `POST /v1/keys` takes, but for the challenge that it answers. */
export interface Registration {
  readonly public_key: string;
  readonly challenge: string;
  readonly signature: string;
}

/**
 * The body of `POST /v1/keys`: a public key, and the proof that its private half is at hand.
 * @param challenge as `POST /v1/keys/challenge` returned it.
 */
export async function signRegistration(
  challenge: { readonly challenge: string; readonly tenant_id: string; readonly app_id: string },
  seed: Uint8Array,
): Promise<Registration> {
  const { app_id, tenant_id } = challenge;
  const text = `svc-key-registration/v1\n${tenant_id}\n${app_id}\n${challenge.challenge}\n`;
  return {
    public_key: toBase64(await getPublicKeyAsync(seed)),
    challenge: challenge.challenge,
    signature: toBase64(await signAsync(utf8(text), seed)),
  };
}

function secureBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
