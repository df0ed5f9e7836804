/**
 * A key that spellings of one sound share: consonants by class, a leading vowel as A, other vowels
 * dropped, doubles once. Made for names that travelled between languages, so z counts as s, d as t.
 */

const CLASSES: Readonly<Record<string, string>> = {
  b: "P",
  c: "K",
  d: "T",
  f: "F",
  g: "K",
  j: "J",
  k: "K",
  l: "L",
  m: "M",
  n: "N",
  p: "P",
  q: "K",
  r: "R",
  s: "S",
  t: "T",
  v: "F",
  w: "F",
  x: "S",
  z: "S",
};

/** Spellings of one sound by several letters, longest first, as one letter each. */
const CLUSTERS: readonly (readonly [RegExp, string])[] = [
  [/shch|sch|tsch|tch/g, "j"],
  [/kh|gh|ck|ch(?=[rlt])/g, "k"],
  [/ph/g, "f"],
  [/sh|hs|ts|tz|cz/g, "s"],
  [/ch|zh|dj|dz|dzh/g, "j"],
  [/th|dh/g, "t"],
  [/ng(?=[^aeiouy]|$)/g, "n"],
  [/c(?=[eiy])/g, "s"],
];

/** @returns "" for words that are not in Latin letters. */
export function phoneticKey(word: string): string {
  if (!/^[a-z]+$/.test(word)) return "";
  let text = word;
  for (const [cluster, letter] of CLUSTERS) text = text.replace(cluster, letter);
  let key = /^[aeiouyh]/.test(text) ? "A" : "";
  for (const letter of text) {
    const sound = CLASSES[letter];
    if (sound !== undefined && !key.endsWith(sound)) key += sound;
  }
  return key;
}

const SOUND_GROUPS = ["aeiouyh", "bp", "cgkqx", "dt", "fvw", "sz", "j"] as const;

const GROUP_OF: ReadonlyMap<string, string> = new Map(
  SOUND_GROUPS.flatMap((group) => [...group].map((letter) => [letter, group])),
);

/** Words whose first letters are in different groups are not compared by sound. */
export function soundOf(word: string): string {
  const first = word.charAt(0);
  return GROUP_OF.get(first) ?? first;
}
