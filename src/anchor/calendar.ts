/**
 * OpenTimestamps calendars. A calendar promises, at once, to put a digest under a Bitcoin
 * transaction; hours later it can show it. The promise is kept as a pending proof and upgraded.
 */
import { toHex } from "../bytes/hex.ts";
import { sha256 } from "../crypto/hash.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";
import {
  attestationsOf,
  OtsError,
  parseTimestamp,
  printTimestamp,
  replacePending,
  stepFrom,
  type Timestamp,
} from "./ots-format.ts";
import { exchange, type Fetch } from "./outbound.ts";

const HEADERS = {
  accept: "application/vnd.opentimestamps.v1",
  "user-agent": "svc-gateway/0.1",
} as const;
/** What the reference client takes. */
const ANSWER_BYTES_MAX = 10_000;

/**
 * Submits a digest. A random nonce goes first, so that the calendar learns nothing about it.
 * @returns the timestamp from `digest` on, printed.
 * @throws OutboundError, OtsError.
 */
export async function submitDigest(
  deps: { readonly fetch: Fetch; readonly randomBytes: RandomBytes },
  calendar: string,
  digest: Uint8Array,
): Promise<Uint8Array> {
  const nonce = { kind: "append", argument: deps.randomBytes(16) } as const;
  const salted = stepFrom(digest, nonce);
  const commitment = sha256(salted);
  const bytes = await exchange(deps.fetch, `${calendar}/digest`, {
    method: "POST",
    headers: { ...HEADERS, "content-type": "application/x-www-form-urlencoded" },
    body: commitment,
    bytesMax: ANSWER_BYTES_MAX,
  });
  if (bytes === null) throw new OtsError(`${calendar} has no /digest`);
  const promised = parseTimestamp(bytes, commitment);
  const hashed: Timestamp = {
    message: salted,
    attestations: [],
    steps: [{ operation: { kind: "sha256" }, next: promised }],
  };
  return printTimestamp({
    message: digest,
    attestations: [],
    steps: [{ operation: nonce, next: hashed }],
  });
}

export interface Upgrade {
  /** The timestamp from the digest on, printed. */
  readonly proof: Uint8Array;
  readonly isConfirmed: boolean;
}

/**
 * Asks for what was promised.
 * @param mayAsk whether a calendar's address, which comes from its answer, is a configured one.
 * @throws OutboundError, OtsError.
 */
export async function upgradeProof(
  fetch: Fetch,
  proof: Uint8Array,
  digest: Uint8Array,
  mayAsk: (uri: string) => boolean,
): Promise<Upgrade> {
  const timestamp = parseTimestamp(proof, digest);
  const answers = new Map<string, Timestamp>();
  for (const { attestation, message } of attestationsOf(timestamp)) {
    if (attestation.kind !== "pending" || !mayAsk(attestation.uri)) continue;
    const url = `${attestation.uri}/timestamp/${toHex(message)}`;
    const bytes = await exchange(fetch, url, {
      method: "GET",
      headers: HEADERS,
      bytesMax: ANSWER_BYTES_MAX,
    });
    // Not found: still waiting for its transaction.
    if (bytes !== null) answers.set(url, parseTimestamp(bytes, message));
  }
  const better = replacePending(
    timestamp,
    (uri, message) => answers.get(`${uri}/timestamp/${toHex(message)}`) ?? null,
  );
  return { proof: printTimestamp(better), isConfirmed: isConfirmed(better) };
}

/** Whether some branch ends in a Bitcoin block. */
function isConfirmed(timestamp: Timestamp): boolean {
  return attestationsOf(timestamp).some(({ attestation }) => attestation.kind === "bitcoin");
}
