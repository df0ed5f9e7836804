/** Thresholds of a check; what a request leaves out has these values. */
import { ProcessInputError } from "../input-error.ts";
import type { ConflictInput } from "./schema.ts";

export const DEFAULT_OPTIONS = {
  /** From here on a match is reported. */
  review: 700,
  /** From here on a match keeps its full severity. */
  strong: 850,
  max_hops: 2,
  /** Smaller shares are no tie: 10 %. Edges without a share always count. */
  ownership_min_bp: 1000,
  max_hits: 500,
} as const;

export interface Options {
  readonly review: number;
  readonly strong: number;
  readonly max_hops: number;
  readonly ownership_min_bp: number;
  readonly max_hits: number;
}

/** @throws ProcessInputError `conflicting_input` when a strong match would not be reported. */
export function optionsOf(input: ConflictInput): Options {
  const options: Options = { ...DEFAULT_OPTIONS, ...input.options };
  if (options.strong < options.review)
    throw new ProcessInputError(
      "conflicting_input",
      "/options/strong",
      "must not be below options.review",
    );
  return options;
}
