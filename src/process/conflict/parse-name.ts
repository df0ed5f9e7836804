/** One name as the words that are compared: folded, titles and legal forms aside. */
import { compareText } from "../order.ts";
import { DESIGNATORS } from "./designators.ts";
import {
  CONNECTORS,
  CREDENTIALS,
  DIGIT_LETTERS,
  EXPANSIONS,
  HONORIFICS,
  NUMBER_WORDS,
  PARTICLES,
  PHRASES,
  ROMAN_NUMBERS,
  SUFFIXES,
} from "./name-tables.ts";
import { transliterate } from "./transliterate.ts";
import { foldWords } from "./unicode-fold.ts";

/** People's names are read differently from all others. */
export type NameForm = "person" | "organization";

export interface NameToken {
  readonly text: string;
  readonly kind: "word" | "surname" | "initial" | "particle" | "number";
  readonly weight: number;
}

export interface ParsedName {
  readonly form: NameForm;
  readonly tokens: readonly NameToken[];
  /** The tokens' texts with single spaces. */
  readonly key: string;
  /** The same without spaces. */
  readonly joined: string;
  /** Generational suffix of a person: jr, sr, 2, 3, … */
  readonly suffix: string;
  /** Classes of legal forms, in code-unit order. */
  readonly designators: readonly string[];
  /** Titles and credentials that were left out. */
  readonly dropped: readonly string[];
}

/** Support that each kind of token gives to a match. */
export const TOKEN_WEIGHTS = {
  word: 100,
  surname: 130,
  initial: 50,
  particle: 40,
  number: 130,
} as const;

/** @param family the surname, where the input names it. */
export function parseName(text: string, form: NameForm, family?: string): ParsedName {
  return form === "person" ? parsePerson(text, family) : parseOrganization(text);
}

function parsePerson(text: string, family: string | undefined): ParsedName {
  const dropped: string[] = [];
  const { words, surnameAt, suffix } = orderPerson(text, dropped);
  const given = family === undefined ? null : wordsOf(family, " ").at(-1);
  const named = given === null ? -1 : words.lastIndexOf(given ?? "");
  const surname = named === -1 ? surnameAt(words) : named;
  const tokens = words.map((word, index) => personToken(word, index === surname));
  return parsedName("person", tokens, { suffix, designators: [], dropped });
}

/** Puts "Last, First Middle, Jr." into the order of speech. */
function orderPerson(
  text: string,
  dropped: string[],
): {
  readonly words: readonly string[];
  readonly surnameAt: (words: readonly string[]) => number;
  readonly suffix: string;
} {
  const parts = text.split(",").map((part) => lettersForDigits(wordsOf(part, " ")));
  const [head = [], ...tails] = parts.filter((part) => part.length > 0);
  const endings: string[] = [];
  const rest = tails.filter((part) => {
    if (!isEnding(part)) return true;
    endings.push(...part);
    return false;
  });
  let suffix = "";
  for (const word of joinedCredentials(endings)) {
    if (SUFFIXES.has(word)) suffix = SUFFIXES.get(word) ?? "";
    else dropped.push(word);
  }
  const familyFirst = rest.length > 0;
  const before = familyFirst ? strip(head, dropped) : { words: [], suffix: "" };
  const main = strip(familyFirst ? rest.flat() : head, dropped);
  const words = [...main.words, ...before.words];
  return {
    words: words.length === 0 ? head : words,
    surnameAt: familyFirst ? () => words.length - 1 : lastFullWord,
    suffix: suffix || main.suffix || before.suffix,
  };
}

function isEnding(words: readonly string[]): boolean {
  return joinedCredentials(words).every((word) => SUFFIXES.has(word) || CREDENTIALS.has(word));
}

/** "Ph.D." was read as two words. */
function joinedCredentials(words: readonly string[]): string[] {
  const text = words.join(" ");
  const joined = text.replace(/\b(ph|m|j|d) (d|s)\b/g, "$1$2").replace(/\bd d s\b/g, "dds");
  return joined === "" ? [] : joined.split(" ");
}

/** Takes titles from the front and credentials and a generation from the end. */
function strip(
  words: readonly string[],
  dropped: string[],
): { readonly words: readonly string[]; readonly suffix: string } {
  let left = [...words];
  let suffix = "";
  const last = (): string => left.at(-1) ?? "";
  while (left.length > 1 && HONORIFICS.has(left[0] ?? "")) dropped.push(left.shift() ?? "");
  if (left.length > 2 && last() === "d" && left.at(-2) === "ph") {
    left = left.slice(0, -2);
    dropped.push("phd");
  }
  while (left.length > 2 && (CREDENTIALS.has(last()) || SUFFIXES.has(last()))) {
    const word = left.pop() ?? "";
    if (SUFFIXES.has(word)) suffix = SUFFIXES.get(word) ?? "";
    else dropped.push(word);
  }
  return { words: left, suffix };
}

function lastFullWord(words: readonly string[]): number {
  for (let index = words.length - 1; index > 0; index -= 1) {
    const word = words[index] ?? "";
    if (word.length > 1 && !PARTICLES.has(word)) return index;
  }
  return words.length - 1;
}

function personToken(word: string, isSurname: boolean): NameToken {
  const kind = isSurname ? "surname" : kindOfPersonWord(word);
  return { text: word, kind, weight: TOKEN_WEIGHTS[kind] };
}

function kindOfPersonWord(word: string): "particle" | "initial" | "word" {
  if (PARTICLES.has(word)) return "particle";
  return /^[a-z]$/.test(word) ? "initial" : "word";
}

/** "Ig0r Sech1n": digits among letters are letters. */
function lettersForDigits(words: readonly string[]): readonly string[] {
  if (!words.some((word) => /[0-9]/.test(word))) return words;
  return words.map((word) =>
    /[0-9]/.test(word) && /[a-z]/.test(word) && !SUFFIXES.has(word)
      ? word.replace(/[0-9]/g, (digit) => DIGIT_LETTERS.get(digit) ?? digit)
      : word,
  );
}

function parseOrganization(text: string): ParsedName {
  const all = wordsOf(text, "");
  const start = all.length > 1 && all[0] === "the" ? 1 : 0;
  const designators = new Set<string>();
  const words = withoutDesignators(phrases(all.slice(start)), designators);
  const tokens = numbers(words).map(organizationToken);
  return parsedName("organization", tokens, {
    suffix: "",
    designators: [...designators].sort(compareText),
    dropped: start === 1 ? ["the"] : [],
  });
}

/** Legal forms come away wherever they stand, as long as a name remains. */
function withoutDesignators(words: readonly string[], found: Set<string>): readonly string[] {
  const left: string[] = [];
  const forms: string[] = [];
  for (let index = 0; index < words.length; ) {
    const match = designatorAt(words, index);
    if (match === null) {
      left.push(words[index] ?? "");
      index += 1;
    } else {
      forms.push(match.form);
      index += match.words.length;
    }
  }
  if (left.every((word) => CONNECTORS.has(word))) return words;
  for (const form of forms) found.add(form);
  while (left.length > 1 && left.at(-1) === "and") left.pop();
  return left;
}

function designatorAt(words: readonly string[], index: number) {
  const entries = DESIGNATORS.get(words[index] ?? "");
  if (!entries) return null;
  const fits = entries.find((entry) =>
    entry.words.every((word, offset) => words[index + offset] === word),
  );
  // A form of one or two letters in front is more often the name itself ("AS Roma", "AB Volvo").
  if (!fits || (index === 0 && fits.words.join("").length <= 2 && words.length < 3)) return null;
  return fits;
}

function phrases(words: readonly string[]): string[] {
  let text = ` ${words.map((word) => EXPANSIONS.get(word) ?? word).join(" ")} `;
  for (const [long, short] of PHRASES) {
    if (text.includes(long)) text = text.replaceAll(` ${long} `, ` ${short} `);
  }
  return text.trim().split(" ");
}

/** Spelled, ordinal and Roman numbers as digits. */
function numbers(words: readonly string[]): string[] {
  const result: string[] = [];
  for (const [index, word] of words.entries()) {
    const number = numberOf(word, index);
    const last = result.at(-1) ?? "";
    if (number !== null && /^[2-9]0$/.test(last) && /^[1-9]$/.test(number))
      result[result.length - 1] = String(Number(last) + Number(number));
    else result.push(number ?? word);
  }
  return result;
}

function numberOf(word: string, index: number): string | null {
  const spelled = NUMBER_WORDS.get(word) ?? (index > 0 ? ROMAN_NUMBERS.get(word) : undefined);
  if (spelled !== undefined) return spelled;
  const digits = /^([0-9]{1,15})(?:st|nd|rd|th)?$/.exec(word)?.[1];
  return digits === undefined ? null : digits.replace(/^0+(?=[0-9])/, "");
}

function organizationToken(word: string): NameToken {
  const kind = kindOfOrganizationWord(word);
  return { text: word, kind, weight: TOKEN_WEIGHTS[kind] };
}

function kindOfOrganizationWord(word: string): "number" | "particle" | "initial" | "word" {
  if (/^[0-9]+$/.test(word)) return "number";
  if (/^[a-z]$/.test(word)) return "initial";
  return CONNECTORS.has(word) ? "particle" : "word";
}

function parsedName(
  form: NameForm,
  tokens: readonly NameToken[],
  rest: Pick<ParsedName, "suffix" | "designators" | "dropped">,
): ParsedName {
  const texts = tokens.map(({ text }) => text);
  return { form, tokens, key: texts.join(" "), joined: texts.join(""), ...rest };
}

/** The words in code-unit order. */
export function sortedKey({ tokens }: ParsedName): string {
  return tokens
    .map(({ text }) => text)
    .sort(compareText)
    .join(" ");
}

/** First letters; what an acronym is compared with. */
export function initialsOf({ tokens }: ParsedName): string {
  return tokens
    .filter(({ kind }) => kind !== "particle")
    .map(({ text }) => text.charAt(0))
    .join("");
}

export function wordsOf(text: string, fullStop: "" | " "): string[] {
  const words = transliterate(foldWords(text, fullStop));
  return words === "" ? [] : words.split(" ");
}
