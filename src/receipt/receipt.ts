/** The receipt inside a response body. Its hashes are frozen: see FORMAT.md. */
import { assert } from "../bytes/assert.ts";
import { sha256Hex } from "../crypto/hash.ts";

export interface Receipt {
  readonly request_id: string;
  /** Milliseconds the call took. */
  readonly ms: number;
  /** Binds engine, input and output: equal for equal calls of a deterministic engine. */
  readonly deterministic_hash: string;
  /** SHA-256 of the output's canonical bytes, without this receipt. */
  readonly output_hash: string;
  /** Grounded chat only. */
  readonly verify_verdict?: string;
  /** Grounded chat only. */
  readonly evidence_chain?: {
    readonly search_request_id: string;
    readonly search_provider: string;
    readonly search_output_hash: string;
    readonly search_ms: number;
    readonly chat_ms: number;
  };
}

/**
 * @param facts.engine what computed the output, with its version, as the ledger row has it.
 * @param facts.inputHash SHA-256 of the input's canonical bytes, in hex.
 */
export function deterministicHash(facts: {
  readonly engine: string;
  readonly inputHash: string;
  readonly outputHash: string;
}): string {
  assert(!facts.engine.includes("\n"), "an engine's name has a line break");
  return sha256Hex(`svc-deterministic/1\n${facts.engine}\n${facts.inputHash}\n${facts.outputHash}`);
}
