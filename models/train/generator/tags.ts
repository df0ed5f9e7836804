/**
 * What each value of a text is asked for as, and what its words decide. Training lets the network say
 * it while it reads (a loss in the middle of the network, ../trainer/model.py), since a prompt has no
 * loss of its own and what a stretch of text is has to be known before an answer can point to it.
 */
import { answerText } from "./answer.ts";
import { capital } from "./names.ts";
import type { Sample } from "./sample.ts";
import type { Tokenizer } from "./tokenizer.ts";
import type { Value } from "./values.ts";

export interface Tag {
  /** Index into the tokens of the user's text; their number is the token that ends the turn. */
  readonly at: number;
  /** A token of the property's name, or `<|end|>` for a value that is not asked for. */
  readonly token: number;
  readonly isAsked: boolean;
}

interface Leaf {
  readonly value: unknown;
  /** Tokens of its name, an object's in front of it. */
  readonly name: readonly number[];
}

/**
 * Two tags for a value that stands once in the text: the name's first token where it begins, its last
 * one behind its end, where what follows it is known too ("12 bathrooms"). One for words that decide a
 * label, behind their end: the label, or the name's last token for yes and no.
 * @param tokens of the user's text.
 */
export function tagsOf(tokenizer: Tokenizer, sample: Sample, tokens: readonly number[]): Tag[] {
  const tokenAt = tokenFinder(tokenizer, sample.user, tokens);
  const behind = (start: number, text: string) =>
    Math.max(tokenAt(start + text.length), tokenAt(start + text.length - 1) + 1);
  const begins = new Map<number, Tag>();
  const ends = new Map<number, Tag>();
  const add = (tags: Map<number, Tag>, at: number, token: number | undefined, isAsked: boolean) =>
    tags.set(at, { at, token: token ?? 0, isAsked });
  for (const { start, text, name } of placedValues(tokenizer, sample)) {
    const tag = name ?? [tokenizer.control("<|end|>")];
    add(begins, tokenAt(start), tag[0], name !== null);
    add(ends, behind(start, text), tag.at(-1), name !== null);
  }
  for (const { text, name, label } of sample.decisive) {
    const start = onlyPlace(sample.user, text) ?? onlyPlace(sample.user, capital(text));
    if (start === null) continue;
    const token = label === null ? tokenizer.encode(name).at(-1) : tokenizer.encode(label)[0];
    add(ends, behind(start, text), token, true);
  }
  // Where one value follows the other at once, the beginning counts.
  return [...new Map([...ends, ...begins]).values()].sort((a, b) => a.at - b.at);
}

interface PlacedValue {
  /** Index into the user's text. */
  readonly start: number;
  readonly text: string;
  /** Tokens of the property that asks for it; null where none does. */
  readonly name: readonly number[] | null;
}

/** Values that stand once in the text and are asked for once, or not at all. */
function placedValues(tokenizer: Tokenizer, { user, answer, drawn }: Sample): PlacedValue[] {
  const leaves = leavesOf(tokenizer, answerText(answer));
  if (leaves.length === 0) return [];
  return oncePerText(drawn).flatMap((value) => {
    const start = onlyPlace(user, value.text);
    if (start === null) return [];
    const asked = leaves.filter((leaf) => isSame(value, leaf.value));
    const [leaf] = asked;
    if (leaf === undefined) return { start, text: value.text, name: null };
    // Two values or two properties that are alike: which is whose cannot be seen.
    const isAlone = drawn.filter((one) => isSame(one, leaf.value)).length === 1;
    if (asked.length > 1 || !isAlone) return [];
    return { start, text: value.text, name: leaf.name };
  });
}

const oncePerText = (values: readonly Value[]): Value[] => {
  const count = new Map<string, number>();
  for (const { text } of values) count.set(text, (count.get(text) ?? 0) + 1);
  return values.filter(({ text }) => count.get(text) === 1 && text !== "");
};

function isSame(value: Value, leaf: unknown): boolean {
  if (typeof leaf === "number") return value.number !== null && Number(value.number) === leaf;
  return value.string === leaf || value.isoDate === leaf;
}

/** Null where a text stands nowhere as words of its own, or more than once. */
function onlyPlace(text: string, part: string): number | null {
  if (part === "") return null;
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const around = [text[at - 1] ?? " ", text[at + part.length] ?? " "];
    if (!around.some((letter) => /[\p{L}\p{N}]/u.test(letter))) places.push(at);
    if (places.length > 1) return null;
  }
  return places[0] ?? null;
}

/** Of an index into the text the index of the token that holds it. */
function tokenFinder(
  tokenizer: Tokenizer,
  text: string,
  tokens: readonly number[],
): (at: number) => number {
  const places = tokens.flatMap((id, i) =>
    Array.from({ length: tokenizer.byteLength(id) }, () => i),
  );
  return (at) => places[Buffer.byteLength(text.slice(0, at))] ?? tokens.length;
}

/** Strings and numbers of an answer in JSON; of any other answer none. */
function leavesOf(tokenizer: Tokenizer, answer: string): Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (value: unknown, name: readonly number[]): void => {
    if (Array.isArray(value)) {
      for (const item of value) walk(item, name);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        const own = tokenizer.encode(key);
        // The columns of a list are told apart by their own names.
        if (Array.isArray(member)) walkItems(member, own);
        else walk(member, [...name, ...own]);
      }
    } else if (name.length > 0 && (typeof value === "string" || typeof value === "number")) {
      leaves.push({ value, name });
    }
  };
  const walkItems = (items: readonly unknown[], name: readonly number[]): void => {
    for (const item of items) walk(item, typeof item === "object" ? [] : name);
  };
  try {
    walk(JSON.parse(answer), []);
  } catch {
    return [];
  }
  return leaves;
}
