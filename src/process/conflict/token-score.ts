/** How far two words of a name support each other: 0 to 1000, and by what. */
import { editDistance } from "./edit-distance.ts";
import { NICKNAMES } from "./name-tables.ts";
import type { NameForm, NameToken } from "./parse-name.ts";
import { phoneticKey, soundOf } from "./phonetic.ts";

export interface TokenScore {
  readonly score: number;
  /** `equal`, `umlaut`, `nickname`, `initial`, `edit:N`, `phonetic` or `prefix`. */
  readonly how: string;
}

export const TOKEN_SCORES = {
  equal: 1000,
  umlaut: 960,
  nickname: 900,
  initial: 800,
  phonetic: 820,
  prefix: 600,
} as const;

const NONE: TokenScore = { score: 0, how: "none" };

const EQUAL: TokenScore = { score: TOKEN_SCORES.equal, how: "equal" };

/** Symmetric. A score above 0 is what a hit needs at least one of. */
export function scoreTokens(a: NameToken, b: NameToken, form: NameForm): TokenScore {
  if (a.text === b.text) return EQUAL;
  if (a.kind === "number" || b.kind === "number") return NONE;
  if (a.text.length === 1 || b.text.length === 1) return scoreInitial(a.text, b.text, form);
  if (areUmlauts(a.text, b.text)) return { score: TOKEN_SCORES.umlaut, how: "umlaut" };
  if (form === "person" && isNickname(a.text, b.text))
    return { score: TOKEN_SCORES.nickname, how: "nickname" };
  return scoreSpelling(a.text, b.text, form);
}

export type WordScores = (a: NameToken, b: NameToken) => TokenScore;

/** `scoreTokens`, computed once for each pair of words: a firm's names share most of theirs. */
export function rememberedScores(form: NameForm): WordScores {
  const known = new Map<string, Map<string, TokenScore>>();
  return (a, b) => {
    const scores = known.get(a.text) ?? new Map<string, TokenScore>();
    if (scores.size === 0) known.set(a.text, scores);
    const score = scores.get(b.text) ?? scoreTokens(a, b, form);
    scores.set(b.text, score);
    return score;
  };
}

function scoreInitial(a: string, b: string, form: NameForm): TokenScore {
  const agrees = form === "person" && a.charAt(0) === b.charAt(0);
  return agrees ? { score: TOKEN_SCORES.initial, how: "initial" } : NONE;
}

function scoreSpelling(a: string, b: string, form: NameForm): TokenScore {
  const length = Math.max(a.length, b.length);
  const budget = editBudget(Math.min(a.length, b.length));
  const distance = budget === 0 ? 1 : editDistance(a, b, budget);
  if (distance <= budget)
    return {
      score: Math.floor((1000 * (length - distance)) / length),
      how: `edit:${distance}`,
    };
  if (soundAlike(a, b)) return { score: TOKEN_SCORES.phonetic, how: "phonetic" };
  const isPrefix = form === "organization" && (a.startsWith(b) || b.startsWith(a));
  return isPrefix && Math.min(a.length, b.length) >= PREFIX_LETTERS_MIN
    ? { score: TOKEN_SCORES.prefix, how: "prefix" }
    : NONE;
}

const PREFIX_LETTERS_MIN = 4;

/** Edits that the shorter of two words allows. */
export function editBudget(length: number): number {
  if (length <= 3) return 0;
  if (length <= 5) return 1;
  return length <= 11 ? 2 : 3;
}

export const SOUND_LETTERS_MIN = 4;
const SOUND_KEY_MIN = 3;

function soundAlike(a: string, b: string): boolean {
  if (a.length < SOUND_LETTERS_MIN || b.length < SOUND_LETTERS_MIN) return false;
  if (soundOf(a) !== soundOf(b)) return false;
  const key = phoneticKey(a);
  return key.length >= SOUND_KEY_MIN && key === phoneticKey(b);
}

function isNickname(a: string, b: string): boolean {
  const groups = NICKNAMES.get(a);
  return groups !== undefined && (NICKNAMES.get(b)?.some((id) => groups.includes(id)) ?? false);
}

/** The first letter is the same in every spelling. */
function areUmlauts(a: string, b: string): boolean {
  return a.charCodeAt(0) === b.charCodeAt(0) && withoutUmlauts(a) === withoutUmlauts(b);
}

/** ö is written o or oe. */
function withoutUmlauts(word: string): string {
  return word.replace(/([aou])e/g, "$1");
}
