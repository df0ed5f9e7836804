/**
 * GBNF text → a grammar that answers can be locked to. What cannot finish is left out beforehand:
 * from every text that the machine gets into, a whole one can be reached.
 */
import { sha256Hex } from "../crypto/hash.ts";
import { type Least, leastValues, type Measure } from "./cfg-least.ts";
import { leftEdges } from "./cfg-left-edges.ts";
import { type Block, END, type Item, type Rules, rulesOf } from "./cfg-rules.ts";
import { Stacks } from "./cfg-stacks.ts";
import { LEFT_DEPTH_MAX, SHORTEST_TEXT_MAX, STACK_DEPTH_MAX } from "./gbnf-limits.ts";
import { gbnfError, parseGbnf, type Rule } from "./gbnf-parse.ts";

export class CfgGrammar {
  readonly kind = "cfg";
  readonly id: string;
  /** Runs the grammar; what it finds out about it is kept for the next answer. */
  readonly stacks: Stacks;

  constructor(text: string, stacks: Stacks) {
    this.id = sha256Hex(`gbnf\n${text}`);
    this.stacks = stacks;
  }
}

/**
 * @param text as llama.cpp takes it.
 * @throws GbnfError with line and column.
 */
export function compileGbnf(text: string): CfgGrammar {
  const parsed = parseGbnf(text);
  const rules = rulesOf(parsed, (code, at, message) => gbnfError(text, at, code, message));
  const sizes = leastValues(rules, SIZES);
  const isNullable = (block: Block): boolean => sizes.blocks[block.id] === 0;
  const atRule = (name: string): number => (parsed.get(name) as Rule).at;
  refuseLeftRecursion(text, rules, isNullable, atRule);
  const { root } = rules;
  const shortest = sizes.blocks[root.id] as number;
  if (!Number.isFinite(shortest)) {
    throw gbnfError(text, atRule("root"), "unsatisfiable", endless(rules, sizes));
  }
  if (shortest > SHORTEST_TEXT_MAX) {
    const message = `the shortest text has ${shortest} bytes, more than any answer can have`;
    throw gbnfError(text, atRule("root"), "too_complex", message);
  }
  const depths = leastValues(rules, depthMeasure(isNullable));
  if ((depths.blocks[root.id] as number) > STACK_DEPTH_MAX) {
    const message = `every text has rules nested more than ${STACK_DEPTH_MAX} deep`;
    throw gbnfError(text, atRule("root"), "too_complex", message);
  }
  const stacks = new Stacks(rules, sizes, depths);
  if (stacks.isTooWide) {
    const message = "texts can begin in too many ways: put what they have in common first";
    throw gbnfError(text, atRule("root"), "too_complex", message);
  }
  return new CfgGrammar(text, stacks);
}

/** Bytes of the shortest text. */
const SIZES: Measure = {
  needs: (item) => item.kind === "call" || (item.kind === "repetition" && item.min > 0),
  add(item, block, rest) {
    if (item.kind !== "terminal") {
      return rest + (item.kind === "repetition" ? item.min * block : block);
    }
    // A class without a character can be read by nothing.
    return rest + (item.terminal.rest(0).length || Number.POSITIVE_INFINITY);
  },
};

/** Entries on the stack while the least deep text is read. What comes last needs none. */
function depthMeasure(isNullable: (block: Block) => boolean): Measure {
  return {
    needs: (item) => SIZES.needs(item) && item.kind !== "terminal" && !isNullable(item.block),
    add(item, block, rest) {
      if (item.kind === "terminal") return rest;
      return Math.max(rest, item.kind === "call" && item.next === END ? block : block + 1);
    },
  };
}

function refuseLeftRecursion(
  text: string,
  rules: Rules,
  isNullable: (block: Block) => boolean,
  atRule: (name: string) => number,
): void {
  const { cycle, depth } = leftEdges(rules, isNullable);
  if (cycle !== null) {
    const [first = "root"] = cycle;
    const path = [...cycle, first].join(" → ");
    const message =
      `the rule "${first}" can begin with itself (${path}): write what repeats as a loop, ` +
      'as in sum ::= term ("+" term)*';
    throw gbnfError(text, atRule(first), "left_recursion", message);
  }
  if (depth > LEFT_DEPTH_MAX) {
    const message = `rules can begin with rules ${LEFT_DEPTH_MAX} deep at most, not ${depth}`;
    throw gbnfError(text, 0, "too_complex", message);
  }
}

/** Why no text ever ends: the rules that each need the next. */
function endless({ items, root }: Rules, { blocks }: Least): string {
  const names: string[] = [];
  let block: Block | null = root;
  const seen = new Set<Block>();
  while (block && !seen.has(block)) {
    seen.add(block);
    if (block.name !== null) names.push(block.name);
    block = endlessPart(block, items, blocks);
  }
  if (block === null) {
    return `no text follows "${names.at(-1)}": it needs a class that holds no character`;
  }
  if (block.name !== null) names.push(block.name);
  const path = names.join(" → ");
  return `no text of "root" ever ends (${path}): give one of them a way out, as in | ""`;
}

/** A block without a text that the first alternative needs. */
function endlessPart(block: Block, items: readonly Item[], sizes: Float64Array): Block | null {
  for (let at = block.starts[0] ?? END; at !== END; ) {
    const item = items[at] as Item;
    at = item.next;
    if (item.kind !== "terminal" && SIZES.needs(item) && sizes[item.block.id] === Infinity) {
      return item.block;
    }
  }
  return null;
}
