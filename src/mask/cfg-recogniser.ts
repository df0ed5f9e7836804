/** The back end for GBNF texts. */
import type { TerminalItem } from "../grammar/cfg-rules.ts";
import type { StackSet, Stacks } from "../grammar/cfg-stacks.ts";
import type { CfgGrammar } from "../grammar/gbnf-compile.ts";
import { CfgMachine } from "./cfg-machine.ts";
import { CfgMasks } from "./cfg-masks.ts";
import { cfgWayOut } from "./cfg-way-out.ts";
import type { ForcedKey, Recogniser } from "./recogniser.ts";
import { tokenCover } from "./token-cover.ts";
import type { TokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** More bytes than that are no list of choices. */
const NEXT_MAX = 32;

export class CfgRecogniser implements Recogniser<StackSet> {
  readonly machine: CfgMachine;
  readonly isFree = false;
  readonly #stacks: Stacks;
  readonly #vocabulary: Vocabulary;
  readonly #masks: CfgMasks;
  readonly #waysOut = new WeakMap<StackSet, { readonly tokens: readonly number[] | null }>();

  constructor({ stacks }: CfgGrammar, vocabulary: Vocabulary) {
    stacks.trim();
    this.machine = new CfgMachine(stacks);
    this.#stacks = stacks;
    this.#vocabulary = vocabulary;
    this.#masks = new CfgMasks(stacks, vocabulary);
  }

  get room(): number {
    return this.machine.save().need;
  }

  computeMask(): TokenWords {
    return this.#masks.compute(this.machine.save());
  }

  fewTokens(): Uint32Array | null {
    return this.#masks.few(this.machine.save());
  }

  suspects(left: number): readonly number[] {
    // Without single-byte tokens a text may take more tokens than bytes say.
    const bytes = this.#vocabulary.hasAllBytes ? left - 2 : -1;
    return this.#masks.needing(this.machine.save(), bytes);
  }

  closers(): null {
    return null;
  }

  get forcedKey(): ForcedKey {
    return { at: this.machine.save(), state: 0 };
  }

  nextBytes(): readonly number[] | null {
    const { items, counts } = this.machine.save();
    const bytes = new Set<number>();
    for (let i = 0; i < items.length; i++) {
      const { terminal } = this.#stacks.rules.items[items[i] as number] as TerminalItem;
      for (const byte of terminal.nextBytes(counts[i] as number)) bytes.add(byte);
      if (bytes.size > NEXT_MAX) return null;
    }
    return [...bytes];
  }

  tokensOut(): readonly number[] | null {
    const here = this.machine.save();
    const known = this.#waysOut.get(here);
    if (known) return known.tokens;
    const bytes = cfgWayOut(this.#stacks, here);
    const tokens = bytes && tokenCover(bytes, this.#vocabulary.trie);
    this.#waysOut.set(here, { tokens });
    return tokens;
  }
}
