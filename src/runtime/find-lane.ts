/** The class of row counts that a tier's contexts decode in: stored, or found by the self-test. */
import type { Decoder } from "./decoder.ts";
import { type EngineParts, selfTestKey } from "./fingerprint.ts";
import { type CallCost, type ChosenLane, chooseLane, TYPICAL_COST } from "./lane.ts";
import { computeCanary, runSelfTest, type SelfTestOptions } from "./self-test.ts";
import type { SelfTestStore, StoredSelfTest } from "./self-test-store.ts";

export interface FoundLane extends ChosenLane {
  /** Null where nothing repeats. */
  readonly canary: string | null;
  readonly costOf: CallCost;
}

type LaneOptions = Omit<SelfTestOptions, "decoder"> & { readonly serialOnly: boolean };

interface FindLaneDeps {
  readonly selfTests: SelfTestStore;
  readonly log: (message: string) => void;
}

/** The stored result where its canary still sings, else a new test. */
export async function findLane(
  { selfTests, log }: FindLaneDeps,
  parts: EngineParts,
  decoders: readonly [Decoder, ...Decoder[]],
  options: LaneOptions,
): Promise<FoundLane> {
  const key = selfTestKey(parts);
  const stored = selfTests.read(key);
  const known = stored === null ? null : await tryLane(stored, decoders, options);
  if (known !== null && known.canary === stored?.canary) return known;
  if (stored !== null) log("the stored self-test does not fit what this engine computes now");
  const result = await runSelfTest({ ...options, decoder: decoders[0] });
  const found = await tryLane({ ...result, canary: null }, decoders, options);
  try {
    selfTests.write(key, { ...result, canary: found.canary });
  } catch (error) {
    log(`the result of the self-test was not kept, the next start tests again: ${error}`);
  }
  if (found.canary === null) {
    log("no way was found to make answers repeat: the same request may get other answers");
  }
  return found;
}

async function tryLane(
  { classes, callMs }: StoredSelfTest,
  decoders: readonly Decoder[],
  options: LaneOptions,
): Promise<FoundLane> {
  // Not every count is tried where a sequence has no tail to remove.
  const isMeasured = callMs.length >= options.rows && callMs.every((ms) => ms > 0);
  const costOf: CallCost = isMeasured ? (rows) => callMs[rows - 1] ?? 0 : TYPICAL_COST;
  const serial = classes.some((lane) => lane.includes(1)) ? [[1]] : [];
  const chosen = chooseLane(options.serialOnly ? serial : classes, options.rows);
  const every = Array.from({ length: options.rows }, (_, index) => index + 1);
  if (chosen === null) return { lane: every, rows: options.rows, canary: null, costOf };
  // What one context was found to do, the others do as well: they sing the same.
  const songs = decoders.map((decoder) => computeCanary({ ...options, decoder }, chosen.lane));
  const canaries = new Set(await Promise.all(songs));
  const [canary = null] = canaries;
  return { ...chosen, canary: canaries.size === 1 ? canary : null, costOf };
}
