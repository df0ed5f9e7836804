/** An invariant of this program. A failure is a bug here, never a caller's mistake. */
class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** @throws AssertionError with `sentence` when `condition` does not hold. */
export function assert(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new AssertionError(sentence);
}
