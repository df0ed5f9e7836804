/**
 * Reads a text of a GBNF grammar byte by byte. Its whole state is one value, shared and immutable.
 */
import type { StackSet, Stacks } from "../grammar/cfg-stacks.ts";
import type { Machine } from "./recogniser.ts";

export class CfgMachine implements Machine<StackSet> {
  readonly #stacks: Stacks;
  #set: StackSet;

  constructor(stacks: Stacks) {
    this.#stacks = stacks;
    this.#set = stacks.start;
  }

  get canEnd(): boolean {
    return this.#set.hasEmpty;
  }

  step(byte: number): boolean {
    const { to } = this.#stacks.edge(this.#set, byte);
    if (to === null) return false;
    this.#set = to;
    return true;
  }

  save(): StackSet {
    return this.#set;
  }

  undo(mark: StackSet): void {
    this.#set = mark;
  }
}
