/** Total orders that no locale, platform or input order can change. */

/** By UTF-16 code unit, as RFC 8785 orders keys. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** By date, then id: the order in which every dated list is worked through. */
export function compareDated(
  a: { readonly day: number; readonly id: string },
  b: { readonly day: number; readonly id: string },
): number {
  return a.day === b.day ? compareText(a.id, b.id) : a.day - b.day;
}

/**
 * A sorted copy; equal items keep no memory of where they came from only if `compare` is total.
 */
export function sorted<T>(items: readonly T[], compare: (a: T, b: T) => number): T[] {
  return [...items].sort(compare);
}

/** Groups in the order of their first item. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Exact as long as the caller has bounded the amounts: see `checkAmounts`. */
export function sumOf<T>(items: Iterable<T>, amountOf: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += amountOf(item);
  return sum;
}
