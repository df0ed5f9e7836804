/**
 * Which texts of a trie a machine accepts from where it stands: one depth-first walk that shares
 * what texts have in common and leaves out what lies below a refused byte. Inside a string that
 * allows any
 * content, the content tokens are known beforehand; only the ways to a closing quote are walked.
 */
import { type ContentTables, QUOTE_BELOW } from "./content-tables.ts";
import type { JsonMachine } from "./json-machine.ts";
import type { Mark } from "./registers.ts";
import type { TokenTrie } from "./token-trie.ts";

const QUOTE = 0x22;

export class TrieWalk {
  readonly #machine: JsonMachine;
  readonly #trie: TokenTrie;
  /** Set for the vocabulary's own trie. */
  readonly #content: ContentTables | null;
  /** By depth; made as they are needed. */
  readonly #marks: Mark[] = [];
  #onEnd: ((node: number) => void) | null = null;
  /** By depth: the machine stands inside a string that allows any content. */
  readonly #inContent: Uint8Array;

  constructor(machine: JsonMachine, trie: TokenTrie, content: ContentTables | null) {
    this.#machine = machine;
    this.#trie = trie;
    this.#content = content;
    this.#inContent = new Uint8Array(trie.depthMax + 1);
  }

  /**
   * Calls `allow` with every token id whose text below the root the machine accepts.
   * @param first the bytes that may come first; null for any.
   */
  fromRoot(first: Uint8Array | null, allow: (token: number) => void): void {
    this.#onEnd = null;
    const trie = this.#trie;
    const here = this.#saveAt(0);
    this.#inContent[0] = first === null && this.#content && this.#enter(0, allow) ? 1 : 0;
    if (first === null) this.#below(1, trie.ends[0] as number, allow);
    else {
      for (const byte of first) {
        const node = trie.roots[byte] as number;
        if (node >= 0) this.#below(node, trie.ends[node] as number, allow);
      }
    }
    this.#machine.undo(here);
  }

  /**
   * The same for the texts below a node, with the machine standing at that node.
   * @param onEnd is told the nodes with others below where the machine's text is whole.
   */
  fromNode(
    node: number,
    allow: (token: number) => void,
    onEnd: ((node: number) => void) | null = null,
  ): void {
    this.#onEnd = onEnd;
    const depth = this.#trie.depths[node] as number;
    const here = this.#saveAt(depth);
    this.#inContent[depth] = this.#content !== null && this.#enter(node, allow) ? 1 : 0;
    this.#below(node + 1, this.#trie.ends[node] as number, allow);
    this.#machine.undo(here);
  }

  /** Nodes from `from` to before `end`; the machine's state at the depth above is saved. */
  #below(from: number, end: number, allow: (token: number) => void): void {
    const { bytes, depths, ends, tokens } = this.#trie;
    const machine = this.#machine;
    const marks = this.#marks;
    const inContent = this.#inContent;
    let standing = -1;
    for (let at = from; at < end; ) {
      const depth = depths[at] as number;
      const byte = bytes[at] as number;
      if (inContent[depth - 1] === 1 && byte !== QUOTE && !this.#hasQuoteBelow(at)) {
        at = ends[at] as number;
        continue;
      }
      if (standing !== depth - 1) machine.undo(marks[depth - 1] as Mark);
      if (!machine.step(byte)) {
        standing = depth - 1;
        at = ends[at] as number;
        continue;
      }
      standing = depth;
      const token = tokens[at] as number;
      if (token >= 0) this.#allow(token, allow);
      at += 1;
      if (at === ends[at - 1]) continue;
      this.#tellEnd(at - 1);
      this.#saveAt(depth);
      inContent[depth] = this.#isInContent(at - 1, inContent[depth - 1] === 1, allow) ? 1 : 0;
    }
  }

  #saveAt(depth: number): Mark {
    const mark = this.#machine.save(this.#marks[depth]);
    this.#marks[depth] = mark;
    return mark;
  }

  #allow(token: number, allow: (token: number) => void): void {
    allow(token);
    const twins = this.#trie.twins.get(token);
    if (twins) for (const twin of twins) allow(twin);
  }

  #tellEnd(node: number): void {
    if (this.#onEnd !== null && this.#machine.canEnd) this.#onEnd(node);
  }

  #hasQuoteBelow(node: number): boolean {
    const flags = (this.#content as ContentTables).flags[node] as number;
    return (flags & QUOTE_BELOW) !== 0;
  }

  #isInContent(node: number, before: boolean, allow: (token: number) => void): boolean {
    if (this.#content === null) return false;
    return before ? this.#machine.isInText : this.#enter(node, allow);
  }

  /** On the way into a string that allows any content: all that is content below is allowed. */
  #enter(node: number, allow: (token: number) => void): boolean {
    const room = this.#machine.freedom;
    if (room < 0) return false;
    const { tokens, counts } = (this.#content as ContentTables).under(node);
    for (let i = 0; i < tokens.length && (counts[i] as number) <= room; i++) {
      allow(tokens[i] as number);
    }
    return true;
  }
}
