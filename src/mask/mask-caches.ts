/**
 * What masks have in common from one answer to the next: worked out once for a vocabulary, and for
 * a grammar over it. Everything here is bounded, and only makes the next answer faster.
 */
import type { SchemaGrammar } from "../grammar/compile.ts";
import { RootCell } from "./cell.ts";
import { ContentMasks } from "./content-masks.ts";
import { KeptMasks } from "./kept-masks.ts";
import { KeyOpenings } from "./key-openings.ts";
import { NameTokenTables } from "./name-tokens.ts";
import { NumberMasks } from "./number-masks.ts";
import type { ForcedBytes } from "./recogniser.ts";
import { StartMasks } from "./start-masks.ts";
import { SuspectTables } from "./suspect-tables.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { WaysOut } from "./way-out.ts";

/** Cells below one root: about 1 KB each with what is kept on them, masks apart. */
const CELLS_MAX = 1000;

/** Most of them are lists; 16 KB each for 128,000 tokens otherwise. */
const MASKS_MAX = 256;
/** Of a few tokens each, mostly. */
const LISTS_MAX = 512;

export class MaskCaches {
  readonly contents: ContentMasks;
  readonly numbers: NumberMasks;
  readonly openings: KeyOpenings;
  readonly names: NameTokenTables;
  readonly starts: StartMasks;
  readonly kept = new KeptMasks(MASKS_MAX);
  readonly keptLists = new KeptMasks(LISTS_MAX);
  /** Tokens of the shortest answer that begins there. */
  readonly wholes = new WeakMap<RootCell, { readonly tokens: readonly number[] | null }>();
  /** What is forced in a state, by what it is a state of. */
  readonly forced = new WeakMap<object, Map<number, ForcedBytes>>();
  readonly #vocabulary: Vocabulary;
  #suspects: SuspectTables | undefined;
  readonly #roots = new WeakMap<SchemaGrammar, RootCell>();
  readonly #waysOut = new WeakMap<SchemaGrammar, WaysOut>();

  private constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.contents = new ContentMasks(vocabulary);
    const { trie, content, size } = vocabulary;
    this.numbers = new NumberMasks(trie);
    this.openings = new KeyOpenings(trie, content, size);
    this.names = new NameTokenTables(trie, content);
    this.starts = new StartMasks(vocabulary);
  }

  static of(vocabulary: Vocabulary): MaskCaches {
    const known = vocabulary.memo.get(MaskCaches);
    if (known) return known as MaskCaches;
    const caches = new MaskCaches(vocabulary);
    vocabulary.memo.set(MaskCaches, caches);
    return caches;
  }

  /** Worked out when the first array of unique items asks. */
  get suspects(): SuspectTables {
    this.#suspects ??= new SuspectTables(this.#vocabulary);
    return this.#suspects;
  }

  /** Where the next answer begins. Answers that went other ways leave cells: not too many stay. */
  rootOf(grammar: SchemaGrammar): RootCell {
    const known = this.#roots.get(grammar);
    if (known && known.cellsBelow <= CELLS_MAX) return known;
    const root = new RootCell(grammar.root);
    this.#roots.set(grammar, root);
    return root;
  }

  waysOutOf(grammar: SchemaGrammar): WaysOut {
    const known = this.#waysOut.get(grammar) ?? new WaysOut(grammar);
    this.#waysOut.set(grammar, known);
    return known;
  }
}
