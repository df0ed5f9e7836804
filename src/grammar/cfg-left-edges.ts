/** What blocks can begin with: a block that can begin with itself has no first byte to look at. */
import { type Block, END, type Item, type Rules } from "./cfg-rules.ts";

export interface LeftEdges {
  /** Names of rules, each beginning with the next and the last with the first; null for none. */
  readonly cycle: readonly string[] | null;
  /** Blocks in the longest chain of which each begins with the next. */
  readonly depth: number;
}

/** @param isNullable by block: it can be empty, so what follows it can come first. */
export function leftEdges(rules: Rules, isNullable: (block: Block) => boolean): LeftEdges {
  const { blocks } = rules;
  const depths = new Int32Array(blocks.length);
  const isOpen = new Uint8Array(blocks.length);
  let most = 0;
  for (const first of blocks) {
    if (depths[first.id] !== 0) continue;
    const path = [visit(first, rules.items, isNullable)];
    isOpen[first.id] = 1;
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.edges.pop();
      if (next === undefined) {
        path.pop();
        isOpen[top.block.id] = 0;
        depths[top.block.id] = top.depth;
        most = Math.max(most, top.depth);
        const above = path.at(-1);
        if (above) above.depth = Math.max(above.depth, top.depth + 1);
      } else if (isOpen[next.id] === 1) {
        const blocksOnPath = path.map(({ block }) => block);
        return { cycle: namesOf(blocksOnPath.slice(blocksOnPath.indexOf(next))), depth: most };
      } else if (depths[next.id] !== 0) {
        top.depth = Math.max(top.depth, 1 + (depths[next.id] as number));
      } else {
        isOpen[next.id] = 1;
        path.push(visit(next, rules.items, isNullable));
      }
    }
  }
  return { cycle: null, depth: most };
}

interface Visit {
  readonly block: Block;
  /** Blocks that it can begin with, not visited yet. */
  readonly edges: Block[];
  depth: number;
}

function visit(block: Block, items: readonly Item[], isNullable: (block: Block) => boolean): Visit {
  const edges = new Set<Block>();
  for (const start of block.starts) {
    for (let at = start; at !== END; ) {
      const item = items[at] as Item;
      if (item.kind === "terminal") break;
      edges.add(item.block);
      const canBeEmpty = item.kind === "repetition" && item.min === 0;
      if (!canBeEmpty && !isNullable(item.block)) break;
      at = item.next;
    }
  }
  return { block, edges: [...edges], depth: 1 };
}

/** Only rules can close a cycle, so there is a name; from there on, once around. */
function namesOf(cycle: readonly Block[]): string[] {
  return cycle.flatMap(({ name }) => (name === null ? [] : [name]));
}
