/**
 * The tokens of a vocabulary as a prefix tree over their bytes, flattened in depth-first order: the
 * subtree of node i is i + 1 to `ends[i] - 1`. Node 0 is the root, the empty text.
 */
export class TokenTrie {
  /** Number of nodes. */
  readonly size: number;
  readonly bytes: Uint8Array;
  readonly depths: Uint8Array;
  readonly ends: Int32Array;
  /** The greatest depth at or below each node. */
  readonly reaches: Uint8Array;
  /** Token whose text ends at the node, or -1; others with the same text follow in `twins`. */
  readonly tokens: Int32Array;
  readonly twins: ReadonlyMap<number, readonly number[]>;
  /** Child of the root for each first byte, or -1. */
  readonly roots: Int32Array;
  /** Bytes of the longest token. */
  readonly depthMax: number;

  /**
   * @param texts by token id. An empty text is nowhere in a vocabulary's trie; where it is a text
   *   like others, the caller must look after it.
   */
  constructor(texts: readonly Uint8Array[]) {
    const order = [...texts.keys()]
      .filter((id) => (texts[id] as Uint8Array).length > 0)
      .filter((id) => (texts[id] as Uint8Array).length <= TOKEN_BYTES_MAX)
      .sort((a, b) => Buffer.compare(texts[a] as Uint8Array, texts[b] as Uint8Array) || a - b);
    const nodes = countNodes(order, texts);
    this.size = nodes;
    this.bytes = new Uint8Array(nodes);
    this.depths = new Uint8Array(nodes);
    this.ends = new Int32Array(nodes);
    this.tokens = new Int32Array(nodes).fill(-1);
    this.roots = new Int32Array(256).fill(-1);
    this.twins = this.#fill(order, texts);
    this.reaches = reachesOf(this);
    this.depthMax = this.reaches[0] as number;
  }

  /** The child of a node for a byte, or -1. */
  child(node: number, byte: number): number {
    if (node === 0) return this.roots[byte] as number;
    const end = this.ends[node] as number;
    for (let at = node + 1; at < end; at = this.ends[at] as number) {
      if (this.bytes[at] === byte) return at;
    }
    return -1;
  }

  /** The token that spells exactly these bytes, or -1. */
  find(text: Uint8Array): number {
    let node = this.roots[text[0] ?? -1] ?? -1;
    for (let at = 1; at < text.length && node >= 0; at++) {
      node = this.child(node, text[at] as number);
    }
    return node < 0 ? -1 : (this.tokens[node] as number);
  }

  /** Every token whose text ends at a node. */
  tokensAt(node: number): readonly number[] {
    const token = this.tokens[node] as number;
    if (token < 0) return NO_TOKENS;
    const twins = this.twins.get(token);
    return twins ? [token, ...twins] : [token];
  }

  #fill(order: readonly number[], texts: readonly Uint8Array[]): Map<number, number[]> {
    const twins = new Map<number, number[]>();
    // Nodes on the way to the current text, by depth.
    const path: number[] = [0];
    let next = 1;
    const close = (depth: number): void => {
      while (path.length > depth + 1) this.ends[path.pop() as number] = next;
    };
    let previous: Uint8Array = new Uint8Array(0);
    for (const id of order) {
      const text = texts[id] as Uint8Array;
      close(commonPrefix(previous, text));
      for (let depth = path.length; depth <= text.length; depth++) {
        const byte = text[depth - 1] as number;
        this.bytes[next] = byte;
        this.depths[next] = depth;
        if (depth === 1) this.roots[byte] = next;
        path.push(next);
        next += 1;
      }
      const node = path.at(-1) as number;
      const first = this.tokens[node] as number;
      if (first < 0) this.tokens[node] = id;
      else twins.set(first, [...(twins.get(first) ?? []), id]);
      previous = text;
    }
    close(0);
    this.ends[0] = next;
    return twins;
  }
}

function reachesOf({ depths, ends }: TokenTrie): Uint8Array {
  const reaches = depths.slice();
  for (let node = depths.length - 1; node >= 0; node--) {
    const end = ends[node] as number;
    for (let at = node + 1; at < end; at = ends[at] as number) {
      reaches[node] = Math.max(reaches[node] as number, reaches[at] as number);
    }
  }
  return reaches;
}

const NO_TOKENS: readonly number[] = [];

/** Depths fit a byte; longer tokens are runs of white space that no answer needs. */
const TOKEN_BYTES_MAX = 255;

function countNodes(order: readonly number[], texts: readonly Uint8Array[]): number {
  let count = 1;
  let previous: Uint8Array = new Uint8Array(0);
  for (const id of order) {
    const text = texts[id] as Uint8Array;
    count += text.length - commonPrefix(previous, text);
    previous = text;
  }
  return count;
}

function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length += 1;
  return length;
}
