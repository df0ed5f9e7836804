/** The shortest text that ends a text of a GBNF grammar. */
import { END, type Item } from "../grammar/cfg-rules.ts";
import type { StackSet, Stacks } from "../grammar/cfg-stacks.ts";
import { SHORTEST_TEXT_MAX } from "../grammar/gbnf-limits.ts";

/** @returns null where it is longer than any answer. */
export function cfgWayOut(stacks: Stacks, from: StackSet): Uint8Array | null {
  if (from.need > SHORTEST_TEXT_MAX) return null;
  const bytes: number[] = [];
  for (let set = from; !set.hasEmpty; ) {
    const best = set.shortest;
    finishBlock(stacks, set.items[best] as number, set.counts[best] as number, bytes);
    set = set.below[best] as StackSet;
  }
  return Uint8Array.from(bytes);
}

/** Writes the shortest text from within an item to the end of its block. */
function finishBlock(stacks: Stacks, first: number, counted: number, bytes: number[]): void {
  // Where to go on, and how often a repetition there has been written.
  const open: [number, number][] = [[first, counted]];
  for (let top = open.pop(); top !== undefined; top = open.pop()) {
    let [at, count] = top;
    while (at !== END) {
      const item: Item = stacks.rules.items[at] as Item;
      if (item.kind === "terminal") bytes.push(...item.terminal.rest(count));
      const isDue = item.kind === "call" || (item.kind === "repetition" && count < item.min);
      if (item.kind === "terminal" || !isDue) {
        at = item.next;
      } else if (stacks.sizes.blocks[item.block.id] === 0) {
        at = item.next;
      } else {
        open.push(item.kind === "call" ? [item.next, 0] : [at, count + 1]);
        at = stacks.shortestStart(item.block);
      }
      count = 0;
    }
  }
}
