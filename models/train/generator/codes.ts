/** Numbers of documents, addresses, times and the like: short texts with a form of their own. */
import { DIGITS, type Names, UPPER } from "./names.ts";
import type { Rng } from "./rng.ts";

export const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );
export const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const SMALL = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
  "sixteen seventeen eighteen nineteen"
).split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/** From zero to ninety-nine. */
export const NUMBERS = [
  ...SMALL,
  ...TENS.flatMap((ten) => [ten, ...SMALL.slice(1, 10).map((one) => `${ten}-${one}`)]),
];

export class Codes {
  readonly #rng: Rng;
  readonly #names: Names;

  constructor(rng: Rng, names: Names) {
    this.#rng = rng;
    this.#names = names;
  }

  postcode(): string {
    const rng = this.#rng;
    if (rng.chance(0.75)) return this.#names.digits(4, 5);
    return `${this.#names.letters(rng.int(1, 2))}${rng.int(1, 29)} ${rng.int(1, 9)}${this.#names.letters(2)}`;
  }

  /** `KD 55-1203`, `0091 5567 3382`, `AB7/004.2`: blocks of digits and letters. */
  #blocks(): string {
    const rng = this.#rng;
    const block = (first: boolean): string =>
      rng.weighted([
        [() => this.#names.figures(1, 5), 6],
        [() => this.#names.letters(rng.int(1, 4)), first ? 4 : 1],
        [() => this.#names.letters(1) + this.#names.figures(1, 4), 1.5],
        [() => this.#names.figures(1, 3) + this.#names.letters(1).toLowerCase(), 0.5],
      ] as const)();
    const joint = rng.weighted([
      ["-", 5],
      [" ", 3],
      ["/", 1.5],
      [".", 1],
    ] as const);
    const joints = () => (rng.chance(0.2) ? rng.pick(["-", " ", "/", "."]) : joint);
    const count = rng.weighted([
      [1, 4],
      [2, 4],
      [3, 1],
    ] as const);
    const rest = Array.from({ length: count }, () => joints() + block(false)).join("");
    const code = block(true) + rest;
    return /[0-9]/.test(code) ? code : `${code}${joint}${this.#names.figures(2, 5)}`;
  }

  iban(): string {
    const rng = this.#rng;
    const country = rng.pick(["DE", "FR", "GB", "ES", "NL", "CH", "AT", "BE", "IT", "DK"]);
    const code = country + this.#names.digits(14, 20);
    return rng.chance(0.4) ? (code.match(/.{1,4}/g) ?? []).join(" ") : code;
  }

  id(): string {
    const rng = this.#rng;
    if (rng.chance(0.4)) return this.#blocks();
    const prefix = rng.chance(0.5)
      ? this.#names.word("id_prefixes")
      : this.#names.letters(rng.int(1, 3));
    const mixed = () =>
      Array.from({ length: rng.int(5, 10) }, () => rng.pick([...(UPPER + DIGITS)])).join("");
    return rng.pick([
      () => `${prefix}-${this.#names.digits(2, 6)}`,
      () => `${prefix}-${this.#names.digits(2, 6)}`,
      () => `${prefix}${this.#names.digits(3, 7)}`,
      () => `${prefix}-${rng.int(2015, 2029)}-${this.#names.digits(2, 5)}`,
      () => this.#names.digits(3, 9),
      () => `${this.#names.digits(2, 5)}/${this.#names.digits(2, 4)}`,
      () => `${this.#names.digits(2, 4)}-${this.#names.digits(2, 5)}`,
      () => `${prefix} ${this.#names.digits(2, 4)}-${this.#names.digits(3, 4)}`,
      () => `${this.#names.digits(3, 5)}-${this.#names.letters(rng.int(1, 3))}`,
      () => `${prefix}-${this.#names.digits(2, 3)}-${this.#names.letters(rng.int(1, 2))}`,
      () => `0${this.#names.digits(3, 6)}`,
      mixed,
    ])();
  }

  caseNumber(): string {
    const rng = this.#rng;
    const year = rng.int(2012, 2029);
    return rng.pick([
      () => `${this.#names.digits(2, 2)}-cv-${this.#names.digits(4, 5)}`,
      () => `${rng.int(1, 9)}:${this.#names.digits(2, 2)}-cv-0${this.#names.digits(4, 4)}`,
      () => `CV-${year}-${this.#names.digits(3, 6)}`,
      () => `${year}-${rng.pick(["CV", "CR", "CA", "F", "L"])}-${this.#names.digits(3, 6)}`,
      () => `${this.#names.letters(2)}${this.#names.digits(5, 7)}`,
      () =>
        `${rng.int(1, 30)} ${rng.pick(["O", "C", "K", "Ca"])} ${this.#names.digits(2, 4)}/${year % 100}`,
    ])();
  }

  email(): string {
    const rng = this.#rng;
    const ascii = (word: string) => word.toLowerCase().replace(/[^a-z]/g, "") || "info";
    const [first, last] = [ascii(this.#names.first()), ascii(this.#names.last())];
    const local = rng.pick([
      `${first}.${last}`,
      first,
      `${first.charAt(0)}${last}`,
      `${first.charAt(0)}.${last}`,
      `${first}_${last}`,
      "info",
      "support",
      `${last}+${first}`,
    ]);
    const domain = rng.chance(0.4)
      ? rng.pick(["gmail", "yahoo", "outlook", "acme", "mail"])
      : ascii(this.#names.invented()) +
        (rng.chance(0.3) ? `-${ascii(this.#names.invented())}` : "");
    return `${local}@${domain}${rng.pick([".com", ".com", ".org", ".net", ".io", ".co.uk", ".de", ".fr", ".example"])}`;
  }

  phone(): string {
    const rng = this.#rng;
    return rng.pick([
      () => `${this.#names.digits(3, 3)}-${this.#names.digits(3, 3)}-${this.#names.digits(4, 4)}`,
      () => `(${this.#names.digits(3, 3)}) ${this.#names.digits(3, 3)}-${this.#names.digits(4, 4)}`,
      () => `+${rng.int(1, 49)} ${this.#names.digits(2, 4)} ${this.#names.digits(3, 6)}`,
      () => `${this.#names.digits(3, 3)}-0${this.#names.digits(3, 3)}`,
      () => `0${this.#names.digits(3, 4)} ${this.#names.digits(5, 6)}`,
      () => `0${this.#names.digits(2, 3)} ${this.#names.digits(3, 3)} ${this.#names.digits(4, 4)}`,
      () => `+${this.#names.digits(10, 12)}`,
      () =>
        [3, 3, 3].reduce((all, n) => `${all} ${this.#names.figures(n, n)}`, `0${rng.int(1, 99)}`),
      () =>
        `+${rng.int(1, 49)} ${rng.int(2, 99)} ${this.#names.figures(4, 4)} ${this.#names.figures(3, 4)}`,
    ])();
  }

  web(): string {
    const start = this.#rng.pick(["www.", "https://", ""]);
    return (
      start +
      this.#names
        .invented()
        .toLowerCase()
        .replace(/[^a-z]/g, "x") +
      this.#rng.pick([".com", ".org", ".io", ".net", ".fr"])
    );
  }

  time(): string {
    const rng = this.#rng;
    const minute = this.#names.padded(rng.pick([0, 0, 15, 30, 45, rng.int(0, 59)]));
    return rng.pick([
      () => `${rng.int(1, 12)}:${minute}${rng.pick([" AM", " PM", "am", "pm", " p.m."])}`,
      () => `${this.#names.padded(rng.int(0, 23))}:${minute}`,
      () => `${this.#names.padded(rng.int(6, 22))}:${minute}`,
      () => `${rng.int(1, 12)}${rng.pick(["am", "pm"])}`,
      () =>
        rng.pick([
          "noon",
          "midnight",
          `half past ${rng.pick(NUMBERS.slice(1, 12))}`,
          `${rng.pick(NUMBERS.slice(1, 12))} o'clock`,
        ]),
    ])();
  }

  vagueDay(): string {
    const rng = this.#rng;
    const day = rng.int(1, 31);
    return rng.pick([
      () => rng.pick(WEEKDAYS),
      () => `next ${rng.pick(WEEKDAYS)}`,
      () => rng.pick(["tomorrow", "today", "next week", "tonight", "the end of the month"]),
      () => `the ${day}${ordinal(day)}`,
      () => `${day} ${rng.pick(MONTHS)}`,
      () => `${rng.pick(MONTHS)} ${day}`,
      () => `${rng.pick(WEEKDAYS)} ${rng.pick(["morning", "afternoon", "evening"])}`,
      () => `${rng.pick(MONTHS)} ${rng.int(2024, 2029)}`,
    ])();
  }

  timestamp(year: number): string {
    const rng = this.#rng;
    const [mm, dd, hour] = [1, 1, 0].map((low) =>
      this.#names.padded(rng.int(low, low === 0 ? 23 : 12)),
    );
    const day = `${year}-${mm}-${dd}`;
    const time = `${hour}:${this.#names.padded(rng.int(0, 59))}:${this.#names.padded(rng.int(0, 59))}`;
    return rng.pick([`${day}T${time}Z`, `${day} ${time}`, `${day}T${time}+01:00`]);
  }

  dose(): string {
    const n = this.#rng.pick([5, 10, 20, 50, 100, 200, 250, 400, 500, this.#rng.int(1, 999)]);
    const amount = this.#rng.chance(0.15) ? this.#names.decimal(0, 9, 1) : String(n);
    return amount + this.#rng.pick([" mg", "mg", " ml", " µg", " g"]);
  }

  amount(): string {
    const unit = this.#rng.pick([" g", " kg", " ml", " l", " cups", " tbsp", " tsp", "g", ""]);
    return (
      (this.#rng.chance(0.2) ? this.#names.decimal(0, 4, 1) : String(this.#rng.int(1, 600))) + unit
    );
  }

  version(): string {
    const patch = this.#rng.chance(0.6) ? `.${this.#rng.int(0, 20)}` : "";
    return `${this.#rng.int(0, 25)}.${this.#rng.int(0, 20)}${patch}`;
  }

  errorCode(): string {
    return this.#rng.pick([
      () => `E${this.#names.digits(2, 4)}`,
      () => this.#names.digits(3, 3),
      () => `ERR_${this.#names.letters(this.#rng.int(3, 7))}`,
      () => `0x${this.#names.digits(4, 4)}`,
      () => `${this.#names.letters(this.#rng.int(1, 3))}-${this.#names.digits(2, 4)}`,
    ])();
  }

  plate(): string {
    const rng = this.#rng;
    const mark = rng.pick(["-", " ", ""]);
    return (
      this.#names.letters(rng.int(1, 3)) +
      mark +
      this.#names.digits(2, 4) +
      (rng.chance(0.4) ? mark + this.#names.letters(2) : "")
    );
  }

  room(): string {
    const rng = this.#rng;
    return rng.pick([
      () => `${rng.int(1, 9)}${rng.pick([...UPPER])}`,
      () => `${rng.pick([...UPPER])}${rng.int(1, 40)}`,
      () => String(rng.int(1, 499)),
      () => this.#names.invented(),
      () => `Room ${rng.int(1, 499)}`,
    ])();
  }
}

export function ordinal(day: number): string {
  if (day % 100 >= 10 && day % 100 <= 20) return "th";
  return ["th", "st", "nd", "rd"][day % 10] ?? "th";
}
