/** Other values of the shape that somebody wrote: the same text asks for something else each time. */
import type { MarkKind } from "./case-data.ts";
import { MONTHS, NUMBERS, ordinal, WEEKDAYS } from "./codes.ts";
import { capital } from "./names.ts";
import type { Rng } from "./rng.ts";
import type { Value, Values } from "./values.ts";

export interface Written {
  readonly kind: MarkKind;
  readonly words: string;
  /** What a JSON number is where the words do not show it. */
  readonly number: string | null;
}

const plain = (text: string, string = text): Value => ({
  text,
  string,
  number: null,
  isInteger: false,
  isoDate: null,
});

/** The value as it is written. */
export function asWritten({ kind, words, number }: Written): Value {
  if (kind === "money" || kind === "number") return numberValue(words, number ?? literalOf(words));
  if (kind === "date") return dateValue(words);
  return plain(words);
}

/** Another one that looks like it. */
export function resampled(rng: Rng, values: Values, written: Written): Value {
  const { kind, words } = written;
  switch (kind) {
    case "person":
      return plain(otherPerson(values, words));
    case "company":
      return plain(inCaseOf(words, values.draw("company").text));
    case "place":
      return plain(
        words
          .split(", ")
          .map((part) => inCaseOf(part, values.draw("city").text))
          .join(", "),
      );
    case "address":
      return plain(rng.chance(0.5) ? values.draw("street").text : otherDigits(rng, words));
    case "date":
      return otherDate(rng, values, words);
    case "time":
      return plain(otherTime(rng, words));
    case "money":
    case "number":
      return otherNumber(rng, written);
    case "code":
      return plain(otherCode(rng, words));
    case "email":
      return values.draw("email");
    case "phone":
      return plain(rng.chance(0.4) ? values.draw("phone").text : otherDigits(rng, words));
    case "web":
      return rng.chance(0.5) ? values.draw("web") : plain(words);
    case "words":
      return plain(words);
  }
}

const isUpper = (text: string): boolean => /\p{Lu}{2}/u.test(text) && text === text.toUpperCase();
const inCaseOf = (model: string, text: string): string => {
  if (isUpper(model)) return text.toUpperCase();
  return model === model.toLowerCase() && /\p{L}/u.test(model) ? text.toLowerCase() : text;
};

const TITLES =
  /^(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Mlle|Sr|Sra|Signora|Sig|Sir|Lady|Judge|Justice|Master|Mister|Madame|Monsieur|Señor|Señora|Hon|Rev|Capt|Sgt|Nurse|Officer|Inspector|Constable|Fr|Hr|Dhr|Mevr)\.? )+/i;

function otherPerson(values: Values, words: string): string {
  const title = TITLES.exec(words)?.[0] ?? "";
  const rest = words.slice(title.length);
  const [first, last] = [values.draw("first").text, values.draw("last").text];
  const parts = rest.split(" ");
  // `Lee, Kim` and `K. Lee` stay what they are.
  if (/^[^ ]+, [^ ]+$/.test(rest)) return inCaseOf(rest, `${last}, ${first}`);
  const isInitial = /^\p{Lu}\.?$/u.test(parts[0] ?? "");
  const given = isInitial ? `${first.charAt(0)}${parts[0]?.endsWith(".") ? "." : ""}` : first;
  const name = parts.length === 1 ? (title === "" ? first : last) : `${given} ${last}`;
  return title + inCaseOf(rest, name);
}

const digit = (rng: Rng): string => String(rng.int(0, 9));
/** Each digit another one; the first of a run is 0 only where it was. */
const otherDigits = (rng: Rng, text: string): string =>
  text.replace(/\d+/g, (run) =>
    [...run]
      .map((old, i) => (i === 0 ? (old === "0" ? "0" : String(rng.int(1, 9))) : digit(rng)))
      .join(""),
  );

function otherCode(rng: Rng, text: string): string {
  const letters = text.replace(/\p{Lu}+/gu, (run) => {
    const isKept = run.length > 3 ? rng.chance(0.7) : rng.chance(0.5);
    return isKept ? run : [...run].map(() => rng.pick([..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"])).join("");
  });
  return otherDigits(rng, letters);
}

const CORE = /\d(?:[\d.,'’ \u00a0\u202f]*\d)?/;
const SCALES: readonly (readonly [RegExp, number])[] = [
  [/^\s?(?:k|thousand|tsd\.?)(?![a-z])/i, 3],
  [/^\s?(?:m|mn|mio\.?|million|millions)(?![a-z])/i, 6],
  [/^\s?(?:bn|billion|billions)(?![a-z])/i, 9],
];

interface Figures {
  /** What stands before and behind the figures. */
  readonly before: string;
  readonly behind: string;
  readonly whole: string;
  readonly decimals: string;
  /** Between groups of three digits; empty without. */
  readonly mark: string;
  readonly point: string;
  readonly zeros: number;
}

function figuresOf(words: string): Figures | null {
  const match = CORE.exec(words);
  if (match === null) return null;
  const core = match[0];
  const [before, behind] = [words.slice(0, match.index), words.slice(match.index + core.length)];
  const zeros = SCALES.find(([pattern]) => pattern.test(behind))?.[1] ?? 0;
  const marks = core.replace(/\d/g, "");
  const last = marks.at(-1) ?? "";
  const tail = core.slice(core.lastIndexOf(last) + 1);
  // The last mark is a decimal one unless three digits follow and it stands alone or is repeated.
  const isDecimal =
    (last === "." || last === ",") &&
    (tail.length !== 3 || zeros > 0 || core.startsWith("0")) &&
    !marks.slice(0, -1).includes(last);
  const point = isDecimal ? last : "";
  const wholePart = isDecimal ? core.slice(0, core.lastIndexOf(last)) : core;
  return {
    ...{ before, behind, point, zeros },
    whole: wholePart.replace(/\D/g, ""),
    decimals: isDecimal ? tail : "",
    mark: wholePart.replace(/\d/g, "").charAt(0),
  };
}

const isNegative = ({ before }: Figures): boolean =>
  /(?:^|[^\p{L}\d])[-−–]\s?[^\p{L}\d\s]{0,3}\s?$/u.test(before) ||
  /minus $/i.test(before) ||
  /^[-−–]\s?[^\d]*$/u.test(before);

function literalFrom(figures: Figures): string {
  const { whole, decimals, zeros } = figures;
  const sign = isNegative(figures) ? "-" : "";
  const shifted = decimals.padEnd(zeros, "0");
  const all = whole + shifted.slice(0, zeros);
  const rest = shifted.slice(zeros);
  const head = all.replace(/^0+(?=\d)/, "");
  return `${sign}${head}${rest === "" ? "" : `.${rest}`}`;
}

export function literalOf(words: string): string {
  const figures = figuresOf(words);
  if (figures === null) throw new Error(`no figures in ${words}`);
  return literalFrom(figures);
}

const numberValue = (text: string, number: string): Value => ({
  ...plain(text),
  number,
  isInteger: !number.includes("."),
});

function otherNumberWord(rng: Rng, words: string, number: string): Value {
  const known = NUMBERS.indexOf(words.toLowerCase());
  if (known < 0) return numberValue(words, number);
  const other = rng.int(known > 1 ? 2 : 1, known > 12 ? 60 : 12);
  const word = NUMBERS[other] ?? words;
  return numberValue(/^\p{Lu}/u.test(words) ? capital(word) : word, String(other));
}

function otherNumber(rng: Rng, { words, number }: Written): Value {
  if (number !== null) return otherNumberWord(rng, words, number);
  const figures = figuresOf(words);
  if (figures === null) throw new Error(`no figures in ${words}`);
  const { before, behind, whole, mark, point, decimals } = figures;
  // Now and then one digit more or less.
  const change = rng.weighted([
    [0, whole.length > 2 ? 6 : 12],
    [1, 1],
    [-1, 1],
  ] as const);
  const length = Math.max(1, whole.length + change);
  const first = String(rng.int(1, 9));
  const isRound = /^[1-9]0+$/.test(whole) && rng.chance(0.6);
  const rest = Array.from({ length: length - 1 }, () => (isRound ? "0" : digit(rng))).join("");
  const drawn = whole.startsWith("0") ? whole : first + rest;
  const cents =
    /^0+$/.test(decimals) && rng.chance(0.6)
      ? decimals
      : [...decimals].map(() => digit(rng)).join("");
  const grouped =
    mark !== "" || (point === "," && drawn.length > 4)
      ? drawn.replace(/\B(?=(\d{3})+$)/g, mark || ".")
      : drawn;
  const text = `${before}${grouped}${cents === "" ? "" : point + cents}${behind}`;
  return numberValue(text, literalFrom({ ...figures, whole: drawn, decimals: cents }));
}

const MONTH = new RegExp(
  `(?<![a-z])(${MONTHS.map((name) => `${name}|${name.slice(0, 3)}`).join("|")}|Sept)(?![a-z])`,
  "i",
);
const WEEKDAY = new RegExp(
  `\\b(${WEEKDAYS.map((name) => `${name}|${name.slice(0, 3)}`).join("|")})\\b`,
  "i",
);

interface DateParts {
  /** Where its day, month and year stand. */
  readonly day: readonly [number, number];
  readonly month: readonly [number, number];
  readonly year: readonly [number, number] | null;
  readonly isNamed: boolean;
  readonly iso: string | null;
}

/** Null where it is no date with a day and a month, or where it cannot be told which is which. */
export function readDate(words: string): DateParts | null {
  const named = MONTH.exec(words);
  if (named !== null) return readNamed(words, named.index, named[0]);
  const match = /(?<!\d)(\d{1,4})([./-])\s?(\d{1,2})(?:\2\s?(\d{2,4}))?(?!\d)/.exec(words);
  if (match === null) return null;
  const [all, one = "", mark = "", two = "", three] = match;
  const place = (text: string, from: number): [number, number] => {
    const at = words.indexOf(text, from);
    return [at, at + text.length];
  };
  const first = place(one, match.index);
  const second = place(two, first[1]);
  const third = three === undefined ? null : place(three, second[1]);
  if (one.length === 4) {
    if (third === null || three?.length === 4) return null;
    return finish(words, { day: third, month: second, year: first, isNamed: false });
  }
  if (three?.length === 3 || all === "") return null;
  const [a, b] = [Number(one), Number(two)];
  // 3/4/2025 is April or March, with dots the day comes first.
  const dayFirst = mark === "." || a > 12 || (mark === "-" && b <= 12);
  if (mark === "/" && a <= 12 && b <= 12) return null;
  if (dayFirst ? b > 12 : b > 31) return null;
  return finish(words, {
    day: dayFirst ? first : second,
    month: dayFirst ? second : first,
    year: third,
    isNamed: false,
  });
}

function readNamed(words: string, at: number, name: string): DateParts | null {
  const month: [number, number] = [at, at + name.length];
  const numbers = [...words.matchAll(/\d+/g)].map((one): [number, number] => [
    one.index,
    one.index + one[0].length,
  ]);
  const size = ([from, to]: readonly [number, number]) => to - from;
  const day = numbers.find((one) => size(one) <= 2 && Number(words.slice(...one)) <= 31);
  const rest = numbers.filter((one) => one !== day);
  const year =
    rest.find((one) => size(one) === 4) ??
    rest.find((one) => size(one) === 2 && one[0] > at) ??
    null;
  if (day === undefined || rest.length > 1) return null;
  return finish(words, { day, month, year, isNamed: true });
}

function finish(words: string, parts: Omit<DateParts, "iso">): DateParts | null {
  const { day, month, year, isNamed } = parts;
  const name = words.slice(...month);
  const number = isNamed ? monthNumber(name) : Number(name);
  const date = Number(words.slice(...day));
  if (number < 1 || number > 12 || date < 1 || date > 31) return null;
  const said = year === null ? "" : words.slice(...year);
  const full = said.length === 2 ? `20${said}` : said;
  const pad = (n: number) => String(n).padStart(2, "0");
  return { ...parts, iso: full === "" ? null : `${full}-${pad(number)}-${pad(date)}` };
}

const monthNumber = (name: string): number =>
  MONTHS.findIndex((full) => full.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase()) + 1;

function otherDate(rng: Rng, values: Values, words: string): Value {
  const parts = readDate(words);
  if (parts === null) {
    const text = words.replace(WEEKDAY, (name) =>
      inCaseOf(name, rng.pick(WEEKDAYS).slice(0, name.length > 3 ? undefined : 3)),
    );
    return plain(text);
  }
  if (parts.iso !== null && rng.chance(0.35)) return values.draw("date");
  const day = rng.int(parts.isNamed ? 1 : 13, 28);
  const month = rng.int(1, 12);
  const oldDay = words.slice(...parts.day);
  const oldMonth = words.slice(...parts.month);
  // `07` and `7.`, and of figures alone `14` too, say whether there are always two digits.
  const isPadded = (old: string) => old.startsWith("0") || (old.length === 2 && !parts.isNamed);
  const like = (n: number, old: string) => String(n).padStart(isPadded(old) ? 2 : 1, "0");
  const name = MONTHS[month - 1] ?? "";
  const newMonth = parts.isNamed
    ? inCaseOf(
        oldMonth,
        oldMonth.length > 4 || /^(May|June|July)$/i.test(oldMonth) ? name : name.slice(0, 3),
      )
    : like(month, oldMonth);
  const pieces: [readonly [number, number], string][] = [
    [parts.day, like(day, oldDay)],
    [parts.month, newMonth],
  ];
  if (parts.year !== null) {
    const year = String(rng.int(2019, 2028));
    pieces.push([parts.year, year.slice(words.slice(...parts.year).length === 2 ? 2 : 0)]);
  }
  let text = words;
  for (const [[from, to], piece] of pieces.sort(([a], [b]) => b[0] - a[0])) {
    text = text.slice(0, from) + piece + text.slice(to);
  }
  text = text.replace(
    /(\d{1,2})(?:st|nd|rd|th)\b/,
    (_, number: string) => number + ordinal(Number(number)),
  );
  text = text.replace(WEEKDAY, (old) =>
    rng.pick(WEEKDAYS).slice(0, old.length > 3 ? undefined : 3),
  );
  return dateValue(text);
}

const dateValue = (text: string): Value => ({
  ...plain(text, text.replace(/^the /, "")),
  isoDate: readDate(text)?.iso ?? null,
});

function otherTime(rng: Rng, words: string): string {
  const isHalf = /[ap]\.?m/i.test(words);
  return words.replace(
    /(\d{1,2})([:.h]?)(\d{2})?(?!\d)/,
    (_, hour: string, mark: string, minute?: string) => {
      const other = rng.int(isHalf ? 1 : 0, isHalf ? 12 : 23);
      const padded =
        hour.length === 2 ? String(other).padStart(2, "0") : String(isHalf ? other : rng.int(1, 9));
      return minute === undefined
        ? padded + mark
        : padded + mark + String(rng.int(0, 11) * 5).padStart(2, "0");
    },
  );
}
