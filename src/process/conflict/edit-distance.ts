/** Restricted Damerau distance: insertions, deletions, substitutions, neighbours swapped. */

/** @returns the distance, or `limit + 1` as soon as it is known to be larger. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  // What both begin or end with costs nothing.
  const start = commonStart(a, b);
  const end = commonEnd(a, b, Math.min(a.length, b.length) - start);
  if (start + end === Math.min(a.length, b.length)) return Math.abs(a.length - b.length);
  return distance(a.slice(start, a.length - end), b.slice(start, b.length - end), limit);
}

function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

function commonEnd(a: string, b: string, most: number): number {
  let length = 0;
  while (
    length < most &&
    a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)
  )
    length += 1;
  return length;
}

/** Columns further than `limit` from the diagonal cannot be part of a short enough way. */
function distance(a: string, b: string, limit: number): number {
  const far = limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => Math.min(index, far));
  for (let row = 1; row <= a.length; row += 1) {
    const current = new Array<number>(b.length + 1).fill(far);
    if (row <= limit) current[0] = row;
    let least = current[0] ?? far;
    const until = Math.min(b.length, row + limit);
    for (let column = Math.max(1, row - limit); column <= until; column += 1) {
      const same = a.charCodeAt(row - 1) === b.charCodeAt(column - 1);
      let cost = Math.min(
        (last[column] ?? far) + 1,
        (current[column - 1] ?? far) + 1,
        (last[column - 1] ?? far) + (same ? 0 : 1),
      );
      if (isSwap(a, b, row, column)) cost = Math.min(cost, (before[column - 2] ?? far) + 1);
      current[column] = cost;
      least = Math.min(least, cost);
    }
    if (least > limit) return far;
    before = last;
    last = current;
  }
  return Math.min(last[b.length] ?? far, far);
}

function isSwap(a: string, b: string, row: number, column: number): boolean {
  return (
    row > 1 &&
    column > 1 &&
    a.charCodeAt(row - 1) === b.charCodeAt(column - 2) &&
    a.charCodeAt(row - 2) === b.charCodeAt(column - 1)
  );
}
