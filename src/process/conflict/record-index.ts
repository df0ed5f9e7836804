/**
 * Finds the record names that a query can match, without scoring all of them. The record's words
 * are kept once each; every word of the query is compared with every distinct word, cheapest tests
 * first. What shares no word with the query in any of these ways cannot score as a strong match:
 * `test/process/conflict-blocking.test.ts` compares with the exhaustive search.
 */
import { editDistance } from "./edit-distance.ts";
import {
  CONNECTORS,
  DIGIT_LETTERS,
  EXPANSIONS,
  NICKNAMES,
  NUMBER_WORDS,
  PHRASES,
  ROMAN_NUMBERS,
} from "./name-tables.ts";
import { initialsOf, type ParsedName, wordsOf } from "./parse-name.ts";
import { phoneticKey, soundOf } from "./phonetic.ts";
import { RawWords } from "./raw-words.ts";
import { editBudget, SOUND_LETTERS_MIN } from "./token-score.ts";

export interface IndexedName {
  readonly text: string;
}

interface Word {
  readonly text: string;
  /** One bit for each letter that occurs. */
  readonly letters: number;
  readonly names: number[];
}

export interface RecordIndex {
  readonly wordCount: number;
  /** Positions of the names that share something with the query, ascending. */
  candidates(query: ParsedName, text: string): readonly number[];
}

/** Words that occur in names of every kind are no reason to compare two of them. */
const isCommon = (word: string): boolean => CONNECTORS.has(word);

export function indexNames(names: readonly IndexedName[]): RecordIndex {
  const words = collectWords(names);
  const list = [...words.values()];
  const acronyms = new Map<string, readonly number[]>();
  const found = new Map<string, readonly Word[]>();
  const similar = (token: string): readonly Word[] => {
    const known = found.get(token) ?? similarWords(list, token);
    found.set(token, known);
    return known;
  };
  return {
    wordCount: words.size,
    candidates: (query, text) => {
      const result = new Set<number>();
      const add = (word: Word | undefined): void => {
        for (const name of word?.names ?? []) result.add(name);
      };
      for (const token of queryWords(query, text)) for (const word of similar(token)) add(word);
      add(words.get(initialsOf(query)));
      if (isAcronym(query)) {
        const known = acronyms.get(query.joined) ?? namesWithInitials(names, query.joined);
        acronyms.set(query.joined, known);
        for (const name of known) result.add(name);
      }
      return [...result].sort((a, b) => a - b);
    },
  };
}

function collectWords(names: readonly IndexedName[]): ReadonlyMap<string, Word> {
  const words = new Map<string, Word>();
  const raw = new RawWords();
  const byRaw: Word[] = [];
  let position = 0;
  let run: string[] = [];
  const add = (word: Word): void => {
    if (word.names.at(-1) !== position) word.names.push(position);
  };
  const wordOf = (spelling: string): Word => {
    const text = canonicalWord(spelling);
    const word = words.get(text) ?? { text, letters: lettersOf(text), names: [] };
    words.set(text, word);
    return word;
  };
  const addJoined = (spelling: string): void => add(wordOf(spelling));
  const addRun = (spelling: string): void => {
    if (spelling.length >= PART_LETTERS_MIN) {
      if (run.length > 0) run = [];
      return;
    }
    run.push(spelling);
    joinRun(run, addJoined);
  };
  const addRaw = (number: number): void => {
    const spelling = raw.texts[number] ?? "";
    const word = byRaw[number] ?? wordOf(spelling);
    byRaw[number] = word;
    add(word);
    addRun(spelling);
  };
  const addAll = (spellings: readonly string[]): void => {
    run = [];
    for (const spelling of spellings) {
      addJoined(spelling);
      addRun(spelling);
    }
  };
  for (const { text } of names) {
    run = [];
    if (!raw.read(text, addRaw)) addAll(wordsOf(text, " "));
    // "U.S.A." is one word to organisations and three to people.
    if (/\.[^ ,]/.test(text)) addAll(wordsOf(text, ""));
    if (/(?:^|\s)\S{1,2}\s*,/u.test(text)) addAll(inverted(text));
    position += 1;
  }
  return words;
}

/** "Li, We" is We Li. */
function inverted(text: string): string[] {
  const comma = text.indexOf(",");
  return [text.slice(comma + 1), text.slice(0, comma)].flatMap((part) => wordsOf(part, " "));
}

/** The spelling that the word has once a name is parsed, as far as the word alone tells. */
function canonicalWord(word: string): string {
  const spelled = EXPANSIONS.get(word) ?? NUMBER_WORDS.get(word) ?? ROMAN_NUMBERS.get(word);
  if (spelled !== undefined) return spelled;
  const digits = /^0*([0-9]+)(?:st|nd|rd|th)?$/.exec(word)?.[1];
  if (digits !== undefined) return digits;
  if (!/[0-9]/.test(word)) return word;
  return word.replace(/[0-9]/g, (digit) => DIGIT_LETTERS.get(digit) ?? digit);
}

/** What the query is looked up by: its words as parsed and as written. */
function queryWords(query: ParsedName, text: string): ReadonlySet<string> {
  const words = new Set<string>();
  const texts = query.tokens.map((token) => token.text);
  for (const [index, word] of texts.entries()) {
    words.add(canonicalWord(word));
    joinRun(texts.slice(0, index + 1), (joined) => words.add(canonicalWord(joined)));
  }
  for (const word of wordsOf(text, "")) words.add(canonicalWord(word));
  for (const [long, short] of PHRASES) {
    if (words.has(short)) for (const word of long.split(" ")) words.add(word);
  }
  for (const word of words) {
    if (isCommon(word) || word.length < 2) words.delete(word);
  }
  // A name of letters and connecting words alone is still looked for.
  if (words.size === 0) for (const token of query.tokens) words.add(canonicalWord(token.text));
  return words;
}

/** The cheapest test that rules a pair out comes first. */
function similarWords(words: readonly Word[], token: string): Word[] {
  const letters = lettersOf(token);
  const nicknames = new Set(NICKNAMES.get(token));
  const key = token.length >= SOUND_LETTERS_MIN ? phoneticKey(token) : "";
  const sound = soundOf(token);
  return words.filter(
    (word) =>
      isPart(token, word.text) ||
      isEdited(token, letters, word) ||
      (nicknames.size > 0 &&
        (NICKNAMES.get(word.text)?.some((id) => nicknames.has(id)) ?? false)) ||
      (key !== "" && maySound(word, letters, sound) && phoneticKey(word.text) === key),
  );
}

const PART_LETTERS_MIN = 3;

/** Run-together names hold words of the other side, at an end or between short ones. */
function isPart(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < PART_LETTERS_MIN || long.length === short.length) return false;
  if (long.startsWith(short) || long.endsWith(short)) return true;
  const before = long.indexOf(short, 1);
  const after = long.length - before - short.length;
  return before !== -1 && Math.max(before, after) < PART_LETTERS_MIN;
}

/** Names of short words only, run together or not: "We Li", "WeLi". */
const SPAN_MAX = 4;

/** Calls `found` with the spans that end in the newest word of a run. */
function joinRun(run: readonly string[], found: (word: string) => void): void {
  for (let span = 2; span <= Math.min(SPAN_MAX, run.length); span += 1)
    found(run.slice(-span).join(""));
}

function isEdited(token: string, letters: number, word: Word): boolean {
  const budget = editBudget(Math.min(token.length, word.text.length));
  if (budget === 0 || Math.abs(token.length - word.text.length) > budget) return false;
  // One edit changes at most two letters of the set.
  if (bitCount(letters ^ word.letters) > 2 * budget) return false;
  return editDistance(token, word.text, budget) <= budget;
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1)
    letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function bitCount(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return (((left + (left >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** Letters by which spellings of one sound may differ. */
const SOUND_LETTERS_APART_MAX = 6;

function maySound(word: Word, letters: number, sound: string): boolean {
  return (
    soundOf(word.text) === sound && bitCount(word.letters ^ letters) <= SOUND_LETTERS_APART_MAX
  );
}

const ACRONYM_LETTERS_MIN = 3;
const ACRONYM_LETTERS_MAX = 8;

function isAcronym({ tokens, joined }: ParsedName): boolean {
  return (
    tokens.length === 1 &&
    joined.length >= ACRONYM_LETTERS_MIN &&
    joined.length <= ACRONYM_LETTERS_MAX
  );
}

/** Legal forms at the end, and "The" in front, are not in the acronym. */
function namesWithInitials(names: readonly IndexedName[], acronym: string): readonly number[] {
  const positions: number[] = [];
  for (const [position, { text }] of names.entries()) {
    const words = wordsOf(text, "").filter((word) => !CONNECTORS.has(word));
    const initials = words.map((word) => word.charAt(0)).join("");
    if (initials.startsWith(acronym)) positions.push(position);
  }
  return positions;
}
