/** An RFC 3161 authority, over HTTP or as a local command. */
import type { RandomBytes } from "../crypto/secret-box.ts";
import type { AnchorConfig } from "./anchor-config.ts";
import { exchange, type Fetch, OutboundError } from "./outbound.ts";
import { assertAnswers, timestampQuery } from "./rfc3161.ts";

const RESPONSE_BYTES_MAX = 65_536;
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * @param digest 32 bytes.
 * @returns the whole response, DER: what `openssl ts -verify -in` takes.
 * @throws OutboundError, TimestampTokenError.
 */
export async function askAuthority(
  deps: { readonly config: AnchorConfig; readonly fetch: Fetch; readonly randomBytes: RandomBytes },
  digest: Uint8Array,
): Promise<Uint8Array> {
  const { authority } = deps.config;
  if (authority === null) throw new OutboundError("unreachable", "no authority is configured");
  const query = timestampQuery(digest, deps.randomBytes);
  const response =
    authority.kind === "url"
      ? await post(deps.fetch, authority.url, query.bytes)
      : await runCommand(authority.command, query.bytes);
  assertAnswers(query, response);
  return response;
}

async function post(fetch: Fetch, url: string, body: Uint8Array): Promise<Uint8Array> {
  const headers = {
    "content-type": "application/timestamp-query",
    accept: "application/timestamp-reply",
  };
  const request = { method: "POST", headers, body, bytesMax: RESPONSE_BYTES_MAX } as const;
  const response = await exchange(fetch, url, request);
  if (response === null) throw new OutboundError("refused", `${url} answered 404`);
  return response;
}

/** The request goes to standard input, the response comes from standard output. */
async function runCommand(command: readonly string[], input: Uint8Array): Promise<Uint8Array> {
  const child = Bun.spawn([...command], {
    stdin: input,
    stdout: "pipe",
    stderr: "pipe",
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: RESPONSE_BYTES_MAX,
  });
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
  ]);
  const status = await child.exited;
  if (status === 0) return output;
  const reason = complaint.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, 160);
  throw new OutboundError("refused", `the authority's command ended with ${status}: ${reason}`);
}
