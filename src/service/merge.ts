/** Several sequences as one, in the order in which their values come. */

/** Ends when all have ended; where one fails or the reader leaves, the others are left too. */
export async function* mergeIndexed<T>(
  sources: readonly AsyncIterable<T>[],
): AsyncGenerator<{ readonly index: number; readonly value: T }, void> {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) {
    for await (const value of only) yield { index: 0, value };
    return;
  }
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const pending = new Map<number, Promise<{ index: number; result: IteratorResult<T> }>>();
  const ask = (index: number): void => {
    const asked = iterators[index]?.next();
    if (asked !== undefined)
      pending.set(
        index,
        asked.then((result) => ({ index, result })),
      );
  };
  for (const index of iterators.keys()) ask(index);
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      pending.delete(index);
      if (result.done === true) continue;
      yield { index, value: result.value };
      ask(index);
    }
  } finally {
    // Nobody reads the others any more; what they fail with is nobody's either.
    for (const index of pending.keys()) {
      pending.get(index)?.catch(() => {});
      void iterators[index]?.return?.()?.catch(() => {});
    }
  }
}
