/** Sets of token ids as bits: bit (t & 31) of word t >> 5. */

/** Signed words inside: unsigned ones of 2^31 and more would leave the integer range. */
export type TokenWords = Int32Array;

export function tokenWords(size: number): TokenWords {
  return new Int32Array((size + 31) >> 5);
}

export function addToken(words: TokenWords, token: number): void {
  words[token >> 5] = (words[token >> 5] as number) | (1 << (token & 31));
}

export function addTokens(words: TokenWords, tokens: Int32Array): void {
  for (let i = 0; i < tokens.length; i++) addToken(words, tokens[i] as number);
}

export function removeToken(words: TokenWords, token: number): void {
  words[token >> 5] = (words[token >> 5] as number) & ~(1 << (token & 31));
}

export function hasToken(words: TokenWords, token: number): boolean {
  return (((words[token >> 5] as number) >> (token & 31)) & 1) === 1;
}

/**
 * Writes the tokens of a set to a list, in ascending order.
 * @returns how many; more than the list has room for where that many or more are left out.
 */
export function listTokens(words: TokenWords, into: Uint32Array): number {
  let count = 0;
  for (let word = 0; word < words.length; word++) {
    let rest = words[word] as number;
    for (; rest !== 0; rest &= rest - 1) {
      if (count === into.length) return count + 1;
      into[count] = word * 32 + 31 - Math.clz32(rest & -rest);
      count += 1;
    }
  }
  return count;
}

export function addAll(words: TokenWords, others: TokenWords): void {
  for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) | (others[i] as number);
}
