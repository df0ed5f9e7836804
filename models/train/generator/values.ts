/**
 * Values of the kinds that fields have: how each is written in a text and what it is as JSON.
 * Half of the names are made up, so that the model learns to copy and not to recall.
 */
import { Codes, MONTHS, NUMBERS, ordinal, WEEKDAYS } from "./codes.ts";
import type { UnitData, WordLists } from "./data-files.ts";
import { Names, UPPER } from "./names.ts";
import type { Rng } from "./rng.ts";

export interface Value {
  /** As written in the text. */
  readonly text: string;
  /** As a JSON string holds it. */
  readonly string: string;
  /** The literal of a JSON number, where it is one. */
  readonly number: string | null;
  readonly isInteger: boolean;
  /** Of a date with a year: YYYY-MM-DD. */
  readonly isoDate: string | null;
}

/** Words of a text that decide a label or a yes or no. */
export interface Decisive {
  readonly text: string;
  /** Of the property that they decide. */
  readonly name: string;
  /** Null for yes and no. */
  readonly label: string | null;
}

/** What one document has in common. */
export interface DocumentStyle {
  readonly currency: Currency;
  /** How amounts are written: `$5.00`, `5.00 USD`, `USD 5.00`, `5.00 dollars` or `5.00`. */
  readonly money: "symbol" | "code-after" | "code-before" | "word" | "bare";
  /** `1.234,50`, `1'234.50` and `1 234,50` instead of `1,234.50`. */
  readonly separators: "english" | "continental" | "swiss" | "spaced";
  readonly year: number;
}

export interface Currency {
  readonly code: string;
  readonly symbol: string;
  readonly word: string;
}

const CURRENCIES: readonly (readonly [Currency, number])[] = [
  [{ code: "USD", symbol: "$", word: "dollars" }, 8],
  [{ code: "EUR", symbol: "€", word: "euros" }, 8],
  [{ code: "GBP", symbol: "£", word: "pounds" }, 5],
  [{ code: "CHF", symbol: "Fr. ", word: "francs" }, 2],
  [{ code: "SEK", symbol: "kr ", word: "kronor" }, 1],
  [{ code: "NOK", symbol: "kr ", word: "kroner" }, 1],
  [{ code: "CAD", symbol: "C$", word: "Canadian dollars" }, 1],
  [{ code: "AUD", symbol: "A$", word: "Australian dollars" }, 1],
  [{ code: "JPY", symbol: "¥", word: "yen" }, 1],
  [{ code: "INR", symbol: "₹", word: "rupees" }, 1],
];

export function drawStyle(rng: Rng): DocumentStyle {
  const currency = rng.weighted(CURRENCIES);
  const money = rng.weighted([
    ["symbol", 5],
    ["code-after", 2],
    ["code-before", 2],
    ["word", 1],
    ["bare", 2],
  ] as const);
  const separators = separatorsOf(currency.code, rng.next());
  return { currency, money, separators, year: rng.int(2016, 2029) };
}

/** @param draw from 0 to 1. */
function separatorsOf(code: string, draw: number): DocumentStyle["separators"] {
  const swiss = code === "CHF" ? 0.4 : 0;
  const continental = code === "EUR" ? 0.4 : 0.1;
  const spaced = code === "SEK" || code === "NOK" ? 0.4 : 0.1;
  if (draw < swiss) return "swiss";
  if (draw < swiss + continental) return "continental";
  return draw > 1 - spaced ? "spaced" : "english";
}

function written(text: string, string = text): Value {
  return { text, string, number: null, isInteger: false, isoDate: null };
}

export class Values {
  readonly #rng: Rng;
  readonly #names: Names;
  readonly #codes: Codes;
  #style: DocumentStyle;
  /** All that were drawn for the document at hand. */
  readonly drawn: Value[] = [];
  /** All that decides what is asked for in the document at hand. */
  readonly decisive: Decisive[] = [];

  constructor(rng: Rng, words: WordLists) {
    this.#rng = rng;
    this.#names = new Names(rng, words);
    this.#codes = new Codes(rng, this.#names);
    this.#style = drawStyle(rng);
  }

  get style(): DocumentStyle {
    return this.#style;
  }

  newDocument(): void {
    this.#style = drawStyle(this.#rng);
    this.drawn.length = 0;
    this.decisive.length = 0;
  }

  /** A fresh value of a kind; `@list` draws from a word list. */
  draw(kind: string): Value {
    const value = this.#draw(kind);
    this.drawn.push(value);
    return value;
  }

  /** A value that was made elsewhere. */
  note(value: Value): void {
    this.drawn.push(value);
  }

  #draw(kind: string): Value {
    if (kind.startsWith("@")) {
      // Values out of a short list are recalled rather than read, were there no others.
      const isOther = this.#rng.chance(0.03);
      return written(isOther ? this.#names.phrase() : this.#names.word(kind.slice(1)));
    }
    const make = this.#makers[kind];
    if (make === undefined) throw new Error(`no such kind of value: ${kind}`);
    return make();
  }

  /** A number from `low` to `high`, and behind it what its unit is written as. */
  measure({ low, high, decimals }: Pick<UnitData, "low" | "high" | "decimals">, mark = ""): Value {
    const rng = this.#rng;
    // Small ones as often as large ones.
    const whole = rng.int(low, rng.chance(0.4) ? high : Math.min(high, Math.max(low * 10, 99)));
    const places = rng.chance(0.35) ? rng.int(0, decimals) : 0;
    const literal =
      Math.abs(whole) + (places === 0 ? "" : `.${this.#names.digits(places, places)}`);
    const [sign, minus] = whole < 0 ? [rng.pick(["-", "-", "−", "minus "]), "-"] : ["", ""];
    const text = `${sign}${this.#measureFigures(literal, mark)}${mark}`;
    const value = { ...this.#plain(minus + literal), text, string: text };
    this.drawn.push(value);
    return value;
  }

  #measureFigures(literal: string, mark: string): string {
    const rng = this.#rng;
    // As a meter shows it.
    if (/^\d{4}/.test(literal) && rng.chance(0.03)) return `0${literal}`;
    const word = NUMBERS[Number(literal)];
    if (word !== undefined && /^ [a-z]+$/.test(mark) && rng.chance(0.2)) return word;
    // A point before three digits could be a decimal one.
    const isAmbiguous = this.#style.separators === "continental" && !literal.includes(".");
    return isAmbiguous ? literal : this.#figures(literal);
  }

  readonly #makers: Readonly<Record<string, () => Value>> = {
    person: () => this.#person(),
    name: () => this.#person(true),
    first: () => written(this.#names.first()),
    last: () => written(this.#names.last()),
    company: () => written(this.#names.company()),
    city: () => written(this.#names.city()),
    country: () => written(this.#names.word("countries")),
    state: () => written(this.#names.word("states")),
    zip: () => written(this.#codes.postcode()),
    street: () => written(this.#names.street()),
    id: () => written(this.#codes.id()),
    case: () => written(this.#codes.caseNumber()),
    word: () => written(this.#names.brand()),
    phrase: () => written(this.#names.phrase()),
    title: () => written(this.#names.title()),
    product: () => written(this.#names.product()),
    court: () => written(this.#names.court()),
    motion: () => written(this.#names.word("motions")),
    role: () => written(this.#names.word("roles")),
    uni: () => written(this.#names.university()),
    deg: () => written(this.#names.word("degrees")),
    skill: () => written(this.#names.word("skills")),
    carrier: () => written(this.#names.word("carriers")),
    color: () => written(this.#names.word("colors")),
    med: () => written(this.#names.medicine()),
    dish: () => written(this.#names.dish()),
    email: () => written(this.#codes.email()),
    phone: () => written(this.#codes.phone()),
    web: () => written(this.#codes.web()),
    time: () => written(this.#codes.time()),
    date: () => this.#date(),
    day: () => written(this.#codes.vagueDay()),
    money: () => this.#money(false),
    signed: () => this.#money(true),
    price: () => this.#price(),
    qty: () => this.#count(1, this.#rng.pick([9, 12, 60, 500, 3000]), 0.3),
    small: () => this.#count(1, 12, 0.45),
    years: () => this.#count(1, 30, 0.3),
    age: () => this.#count(18, 95, 0),
    year: () => this.#plain(String(this.#rng.int(1950, 2029))),
    months: () => this.#count(1, 36, 0.3),
    points: () => this.#count(0, 100, 0),
    large: () => this.#grouped(this.#rng.int(1000, 400000)),
    rating: () =>
      this.#plain(this.#rng.pick([String(this.#rng.int(1, 10)), this.#names.decimal(1, 4, 1)])),
    decimal: () =>
      this.#plain(this.#names.decimal(0, this.#rng.pick([9, 99, 400]), this.#rng.int(1, 3))),
    temp: () => this.#temperature(),
    pct: () => {
      const number = this.#rng.chance(0.6)
        ? String(this.#rng.int(1, 99))
        : this.#names.decimal(0, 40, this.#rng.int(1, 2));
      return this.#measured(number, ["%", "%", " %", " percent", " per cent"]);
    },
    area: () =>
      this.#measured(String(this.#rng.int(18, 900)), [
        " m2",
        " m²",
        " sqm",
        " sq ft",
        " square metres",
      ]),
    dose: () => written(this.#codes.dose()),
    amount: () => written(this.#codes.amount()),
    duration: () =>
      written(
        `${this.#rng.int(1, 90)} ${this.#rng.pick(["minutes", "min", "hours", "h", "days", "weeks"])}`,
      ),
    clock: () => written(`${this.#rng.int(0, 59)}:${this.#names.padded(this.#rng.int(0, 59))}`),
    ver: () => written(this.#codes.version()),
    ecode: () => written(this.#codes.errorCode()),
    flight: () =>
      written(`${this.#names.letters(2)}${this.#rng.pick(["", " "])}${this.#names.digits(2, 4)}`),
    seat: () => written(`${this.#rng.int(1, 40)}${this.#rng.pick([..."ABCDEF"])}`),
    plate: () => written(this.#codes.plate()),
    iban: () => written(this.#codes.iban()),
    account: () => written(`${this.#names.digits(3, 5)}-${this.#names.digits(1, 4)}`),
    isin: () => written(`${this.#names.letters(2)}${this.#names.digits(10, 10)}`),
    room: () => written(this.#codes.room()),
    host: () =>
      written(
        `${this.#rng.pick(["web", "db", "node", "app", "srv", "cache"])}-${this.#names.invented().toLowerCase().slice(0, 4)}-${this.#names.padded(this.#rng.int(1, 40))}`,
      ),
    ip: () => written([1, 2, 3, 4].map(() => this.#rng.int(1, 254)).join(".")),
    path: () =>
      written(
        `/${this.#rng.pick(["api", "users", "orders", "items", "files", "v1", "auth"])}/${this.#rng.pick([this.#names.digits(1, 5), this.#names.invented().toLowerCase()])}`,
      ),
    timestamp: () => written(this.#codes.timestamp(this.#style.year)),
    grade: () =>
      written(this.#rng.pick(["A", "A-", "B+", "B", "C", "1.3", "2.0", "78 %", "D", "pass"])),
    surname: () => written(this.#names.last()),
    team: () => written(`${this.#names.city()} ${this.#names.word("team_ends")}`),
    task: () => written(`${this.#names.word("task_verbs")} ${this.#names.word("task_objects")}`),
    place: () => written(this.#names.place()),
    event: () => written(this.#names.event()),
  };

  /** A person as a text may call it; a title in front is not part of the name. */
  #person(bare = false): Value {
    const rng = this.#rng;
    const [first, last] = [this.#names.first(), this.#names.last()];
    const draw = rng.next();
    if (draw < 0.05) return written(`${first} ${rng.pick([...UPPER])}. ${last}`);
    if (draw < 0.09) return written(`${first} ${last}-${this.#names.last()}`);
    if (draw < 0.12) return written(`${first.charAt(0)}. ${last}`);
    const name = `${first} ${last}`;
    if (!bare && draw < 0.22) {
      const titles = ["Mr", "Ms", "Mrs", "Mr.", "Ms.", "Mrs.", "Dr", "Dr.", "Prof.", "Hon."];
      return written(`${rng.pick(titles)} ${name}`, name);
    }
    return written(name);
  }

  #date(): Value {
    const rng = this.#rng;
    const year = this.#style.year + (rng.chance(0.1) ? 1 : 0);
    const month = rng.int(1, 12);
    // The last days as often as all days of a month before.
    const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
    // One digit in the text and two in the answer: the hardest days (measured), so more of them.
    const day = rng.weighted([
      [rng.int(28, last), 1],
      [rng.int(1, 9), 3],
      [rng.int(1, last), 4],
    ]);
    const name = MONTHS[month - 1] ?? "";
    const [dd, mm, short] = [this.#names.padded(day), this.#names.padded(month), name.slice(0, 3)];
    const week = rng.chance(0.06)
      ? `${rng.pick(WEEKDAYS).slice(0, rng.pick([3, 9]))}${rng.pick([" ", ", "])}`
      : "";
    const text = rng.pick([
      () => `${year}-${mm}-${dd}`,
      () => `${year}-${mm}-${dd}`,
      () => `${week}${name} ${day}, ${year}`,
      () => `${week}${day} ${name} ${year}`,
      () => `${week}${day} ${name} ${year}`,
      () => `${week}${short} ${day}, ${year}`,
      () => `${week}${dd} ${short} ${year}`,
      () => `${name} ${day}${ordinal(day)}, ${year}`,
      () => `${day}${ordinal(day)} ${name} ${year}`,
      () => `${dd}.${mm}.${year}`,
      () => `${dd}${short.toUpperCase()}${year}`,
      () => `${year}/${mm}/${dd}`,
      () => `${dd}-${short}-${year}`,
      () => `${day}.${month}.${year}`,
      () => `${short} ${day} ${year}`,
      () => `the ${day}${ordinal(day)} of ${name} ${year}`,
      () => `${short}. ${day}, ${year}`,
      () => `${name} ${day} ${year}`,
      () => `${week}${name} ${day}${ordinal(day)} ${year}`,
      () => `${week}${short} ${day}${ordinal(day)}, ${year}`,
      () => `${week}${day} ${short} ${year}`,
      () => `${day}${ordinal(day)} of ${name}, ${year}`,
      () => `${dd}.${mm}.${String(year).slice(2)}`,
      // Which number is the day can be known from the 13th on.
      () => (day > 12 ? `${dd}/${mm}/${year}` : `${year}-${mm}-${dd}`),
      () => (day > 12 ? `${mm}/${dd}/${year}` : `${week}${day} ${short} ${year}`),
    ])();
    return { ...written(text, text.replace(/^the /, "")), isoDate: `${year}-${mm}-${dd}` };
  }

  #plain(literal: string): Value {
    const isInteger = !literal.includes(".");
    return { text: literal, string: literal, number: literal, isInteger, isoDate: null };
  }

  /** A number with its unit behind it. */
  #measured(literal: string, units: readonly string[]): Value {
    const text = literal + this.#rng.pick(units);
    return { ...this.#plain(literal), text, string: text };
  }

  /** A count, small ones often as words. */
  #count(low: number, high: number, words: number): Value {
    const n = this.#rng.int(low, high);
    const word = NUMBERS[n];
    if (n >= 1000) return this.#grouped(n);
    if (word !== undefined && this.#rng.chance(words))
      return { ...this.#plain(String(n)), text: word, string: word };
    return this.#plain(String(n));
  }

  #grouped(n: number): Value {
    const literal = String(n);
    const text = this.#rng.chance(0.8) ? this.#group(literal) : literal;
    return { text, string: text, number: literal, isInteger: true, isoDate: null };
  }

  #group(whole: string): string {
    const mark = { english: ",", continental: ".", swiss: "'", spaced: " " }[
      this.#style.separators
    ];
    return whole.replace(/\B(?=(\d{3})+$)/g, mark);
  }

  #temperature(): Value {
    const n = this.#rng.int(-25, 42);
    const literal = this.#rng.chance(0.7) ? String(n) : `${n}.${this.#rng.int(1, 9)}`;
    const value = this.#plain(literal);
    if (n >= 0) return this.#rng.chance(0.15) ? { ...value, text: `+${literal}` } : value;
    const minus = this.#rng.weighted([
      ["-", 5],
      ["minus ", 3],
      ["−", 1],
    ]);
    return { ...value, text: minus + literal.slice(1) };
  }

  #price(): Value {
    const rng = this.#rng;
    return this.#amountOf(
      rng.chance(0.8) ? this.#names.decimal(0, rng.pick([9, 30, 99]), 2) : String(rng.int(1, 99)),
      "",
    );
  }

  #money(signed: boolean): Value {
    const rng = this.#rng;
    const cents = this.#names.padded(rng.int(0, 99));
    const literal = rng.pick([
      () => `${rng.int(1, 99)}.${cents}`,
      () => `${rng.int(100, 999)}.${cents}`,
      () => `${rng.int(1000, 99999)}.${cents}`,
      () => String(rng.pick([rng.int(1, 200), rng.int(1, 60) * 50, rng.int(1, 999) * 1000])),
      () => `${rng.int(10, 999)}.${rng.pick(["00", "50"])}`,
    ])();
    if (!signed && rng.chance(0.02)) return this.#millions();
    return this.#amountOf(literal, signed ? rng.pick(["-", "+", "", "-", "−"]) : "");
  }

  /** `$4.2 million` */
  #millions(): Value {
    const rng = this.#rng;
    const { currency, money } = this.#style;
    const tenths = rng.int(1, rng.pick([99, 9999]));
    const figures = tenths % 10 === 0 ? String(tenths / 10) : (tenths / 10).toFixed(1);
    const [word, zeros] = rng.pick([
      [" million", 5],
      [" million", 5],
      ["m", 5],
      [" thousand", 2],
      ["k", 2],
    ] as const);
    const before = money === "symbol" ? currency.symbol : "";
    const after = money === "word" || word.length > 1 ? ` ${currency.word}` : ` ${currency.code}`;
    const text = before + figures + word + (before === "" ? after : "");
    const number = `${tenths}${"0".repeat(zeros)}`;
    return { text, string: text, number, isInteger: true, isoDate: null };
  }

  #amountOf(literal: string, sign: string): Value {
    const { currency, money } = this.#style;
    const figures = this.#figures(literal);
    const text = {
      symbol: `${sign}${currency.symbol}${figures}`,
      "code-after": `${sign}${figures} ${currency.code}`,
      "code-before": `${currency.code} ${sign}${figures}`,
      word: `${sign}${figures} ${currency.word}`,
      bare: `${sign}${figures}`,
    }[money];
    const number = sign === "-" || sign === "−" ? `-${literal}` : literal;
    return { ...this.#plain(number), text, string: text };
  }

  /** With the style's marks. */
  #figures(literal: string): string {
    const { separators } = this.#style;
    const [whole = "", decimals] = literal.split(".");
    const point = separators === "continental" || separators === "spaced" ? "," : ".";
    const grouped = whole.length > 4 || this.#rng.chance(0.8) ? this.#group(whole) : whole;
    return decimals === undefined ? grouped : `${grouped}${point}${decimals}`;
  }
}
