/**
 * What a caller may ask of this server, in one place with the reason for each number. The operator
 * can set them; `assertLimits` says how they hang together.
 */
import { assert } from "../bytes/assert.ts";

export interface Limits {
  /** Chat: a context of a million tokens is about as long. */
  readonly chatBodyBytesMax: number;
  /** Process, compose and state: a year of a law firm's bank records. */
  readonly recordBodyBytesMax: number;
  /** A schema as JSON text. */
  readonly schemaBytesMax: number;
  /** Values, names and punctuation count one each: 4 MiB of `{}` would become 120 MB of objects. */
  readonly chatJsonTokensMax: number;
  readonly recordJsonTokensMax: number;
  /** A schema nests twice per level, and its own limit is 400 levels. */
  readonly jsonDepthMax: number;
  readonly messagesMax: number;
  /** OpenAI's own limit. */
  readonly toolsMax: number;
  readonly choicesMax: number;
  readonly stopsMax: number;
  /** Texts of one request for embeddings; OpenAI's number. */
  readonly embeddingInputsMax: number;
  readonly topLogprobsMax: number;
  /** Locks kept compiled, most recently used first; a small one takes about 100 kB. */
  readonly compiledSchemasMax: number;
  /** Answers kept for idempotent replays, on disk; one tenant may have a quarter of it. */
  readonly replayBytesMax: number;
  readonly replayMs: number;
  /** Keys that one address (of IPv6, one /64) may ask for in an hour. */
  readonly signUpsPerHour: number;
  /** Keys that all addresses together may ask for in an hour. */
  readonly signUpsPerHourInAll: number;
  /** Credentials that were not taken, of one address in a minute, before their 401s become 429s. */
  readonly failedAttemptsPerMinute: number;
  /** Silence of a stream after which a comment shows that it lives; proxies allow 30 s and more. */
  readonly keepAliveMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  chatBodyBytesMax: 4 << 20,
  recordBodyBytesMax: 32 << 20,
  schemaBytesMax: 1 << 20,
  chatJsonTokensMax: 500_000,
  recordJsonTokensMax: 4_000_000,
  jsonDepthMax: 1000,
  messagesMax: 10_000,
  toolsMax: 128,
  choicesMax: 8,
  stopsMax: 16,
  embeddingInputsMax: 2048,
  topLogprobsMax: 20,
  compiledSchemasMax: 256,
  replayBytesMax: 512 << 20,
  replayMs: 24 * 3_600_000,
  signUpsPerHour: 5,
  signUpsPerHourInAll: 500,
  failedAttemptsPerMinute: 100,
  keepAliveMs: 15_000,
};

/** @throws AssertionError for limits that contradict each other. */
export function assertLimits(limits: Limits): void {
  for (const [name, value] of Object.entries(limits)) {
    assert(Number.isSafeInteger(value) && value > 0, `the limit ${name} is a whole number above 0`);
  }
  assert(limits.schemaBytesMax <= limits.chatBodyBytesMax, "a schema fits a chat request");
  assert(limits.signUpsPerHour <= limits.signUpsPerHourInAll, "one network is one of all");
  assert(limits.recordBodyBytesMax * 4 <= limits.replayBytesMax, "an answer can be kept");
  assert(limits.jsonDepthMax <= 5000, "JSON's depth stays far from the end of the stack");
}
