/** Names and words: half of them made up, so that the model learns to copy and not to recall. */
import type { WordLists } from "./data-files.ts";
import type { Rng } from "./rng.ts";

const VOWELS = "aeiou";
const CONSONANTS = "bcdfghjklmnprstvwz";
export const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
export const DIGITS = "0123456789";

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A property's name as people say it: `dueDate` and `due_date` are `due date`. */
export const inWords = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();

export class Names {
  readonly #rng: Rng;
  readonly #words: WordLists;

  constructor(rng: Rng, words: WordLists) {
    this.#rng = rng;
    this.#words = words;
  }

  word(list: string): string {
    const words = this.#words.get(list);
    if (words === undefined) throw new Error(`no such word list: ${list}`);
    return this.#rng.pick(words);
  }

  letters(count: number): string {
    return Array.from({ length: count }, () => this.#rng.pick([...UPPER])).join("");
  }

  digits(low: number, high: number): string {
    const rest = Array.from({ length: this.#rng.int(low, high) - 1 }, () =>
      this.#rng.pick([...DIGITS]),
    );
    return String(this.#rng.int(1, 9)) + rest.join("");
  }

  readonly padded = (n: number): string => String(n).padStart(2, "0");

  decimal(low: number, high: number, places: number): string {
    const rest = Array.from({ length: places }, () => this.#rng.pick([...DIGITS])).join("");
    return `${this.#rng.int(low, high)}.${rest}`;
  }

  /** As many digits as said, also with zeros in front. */
  figures(low: number, high: number): string {
    const count = this.#rng.int(low, high);
    return this.#rng.chance(0.3)
      ? String(this.#rng.int(0, Math.min(999, 10 ** count - 1))).padStart(count, "0")
      : this.digits(count, count);
  }

  /** Any word of English, so that each token is copied now and then. */
  #english(): string {
    return this.word("english");
  }

  /** The head of one word and the tail of another. */
  #blended(): string {
    const head = this.#english().slice(0, this.#rng.int(2, 6));
    return head + this.#english().slice(-this.#rng.int(2, 6));
  }

  #adjective(): string {
    return this.#rng.chance(0.3) ? this.#english() : this.word("adjectives");
  }

  /** A name that tells nothing of what it names: a rare one, any word of English, of two words, or of syllables. */
  invented(): string {
    const rng = this.#rng;
    const draw = rng.next();
    if (draw < 0.35) return this.word(rng.pick(["surnames", "places"]));
    if (draw < 0.43) return capital(this.#blended());
    if (draw < 0.5) return capital(this.#english());
    if (rng.chance(0.02)) {
      return capital(
        Array.from({ length: rng.int(3, 8) }, () =>
          rng.pick([..."abcdefghijklmnopqrstuvwxyz"]),
        ).join(""),
      );
    }
    const syllable = () => {
      const start = rng.chance(0.15)
        ? rng.pick(["th", "sh", "br", "st", "kr", "gr", "ch", "pl", ""])
        : rng.pick([...CONSONANTS]);
      const middle = rng.chance(0.12)
        ? rng.pick(["ai", "ei", "ou", "ie", "ö", "é", "ü", "å"])
        : rng.pick([...VOWELS]);
      return start + middle + (rng.chance(0.4) ? rng.pick([..."nrslmtkx"]) : "");
    };
    return capital(
      Array.from(
        {
          length: rng.weighted([
            [1, 1],
            [2, 4],
            [3, 3],
          ]),
        },
        syllable,
      ).join(""),
    );
  }

  /** A name of something: made up, or of common words. */
  brand(): string {
    if (this.#rng.chance(0.5)) return this.invented();
    if (this.#rng.chance(0.15)) {
      const joint = this.#rng.pick([" of ", " and ", " for ", " of the ", " in "]);
      return capital(this.word("anything")) + joint + capital(this.word("anything"));
    }
    const words = Array.from({ length: this.#rng.chance(0.75) ? 1 : 2 }, () =>
      capital(this.#thing()),
    );
    return words.join(" ");
  }

  #thing(): string {
    return this.#rng.chance(0.4) ? this.#english() : this.word("anything");
  }

  /** What a note or a description says. */
  phrase(): string {
    const rng = this.#rng;
    if (rng.chance(0.85)) {
      const said = this.word("said");
      return rng.chance(0.25) ? capital(said) : said;
    }
    const [one, other] = [this.#thing(), this.#thing()];
    const like = this.#adjective();
    const where = rng.pick(["in", "near", "behind", "under", "on", "at", "by", "above"]);
    const matter = rng.pick(
      "problem request review plan update list repair report check order work change".split(" "),
    );
    const text = rng.pick([
      () => `${like} ${one}`,
      () => `${one} ${other}`,
      () => `${one} and ${other}`,
      () => `${like} ${one} and ${other}`,
      () => `${one} of the ${other}`,
      () => `${one} for ${like} ${other}`,
      () => `${one} with ${other}`,
      () => `no ${one}`,
      () => `${one} ${where} the ${other}`,
      () => `the ${one} is ${like}`,
      () => `${one} ${matter} ${where} ${this.city()}`,
      () => `${this.word("task_verbs")} the ${one}`,
      () => `${like} ${one} ${matter}`,
      () => `${one} not ${like}`,
      () => `${one}, ${other} and ${this.word("anything")}`,
      () => `${this.word("anything")} ${one} ${where} ${rng.int(2, 90)} ${other}`,
    ])();
    return rng.chance(0.35) ? capital(text) : text.toLowerCase();
  }

  /** Of the names of people and places most are rare: which one it is has to be read, and what kind can be seen. */
  #name(common: string, rare: string): string {
    const draw = this.#rng.next();
    if (draw < 0.3) return this.word(common);
    return draw < 0.88 ? this.word(rare) : this.invented();
  }

  first(): string {
    return this.#name("first_names", "given_names");
  }

  last(): string {
    const rng = this.#rng;
    const name = this.#name("last_names", "surnames");
    if (rng.chance(0.04)) return rng.pick(["O'", "Mc", "van ", "de ", "D'", "von "]) + name;
    return name;
  }

  company(): string {
    const rng = this.#rng;
    const draw = rng.next();
    if (draw < 0.1) return `${this.last()} ${rng.pick(["&", "and"])} ${this.last()}`;
    if (draw < 0.2)
      return `${this.last()} ${rng.pick(["Law", "Bros", "and Sons", "Associates", "& Co"])}`;
    const words = rng.weighted([
      [1, 3],
      [2, 1],
    ]);
    const invented = Array.from({ length: words }, () => this.invented()).join(" ");
    const start = rng.chance(0.55) ? this.word("company_starts") : invented;
    const ends = rng.weighted([
      [0, 2],
      [1, 7],
      [2, 0.7],
    ]);
    const end = () => (rng.chance(0.12) ? capital(this.#english()) : this.word("company_ends"));
    const name = [start, ...Array.from({ length: ends }, end)].join(" ");
    if (draw < 0.24)
      return `${rng.pick(["Bank of", "Café", "Hotel", "Garage", "Cooperative", "Studio"])} ${start}`;
    return draw < 0.28 ? name.toUpperCase() : name;
  }

  city(): string {
    const rng = this.#rng;
    if (rng.chance(0.8)) return this.#name("cities", "places");
    const start = rng.chance(0.2) ? rng.pick(["Port ", "Saint ", "North ", "Lake ", "Bad "]) : "";
    return (
      start +
      this.invented() +
      (rng.chance(0.3) ? rng.pick(["ville", "ton", "burg", " City", "ford"]) : "")
    );
  }

  street(): string {
    const rng = this.#rng;
    const name = rng.chance(0.5) ? this.word("streets") : this.invented();
    const kind = this.word("street_kinds");
    const number = rng.int(1, rng.pick([40, 400, 9999]));
    const flat = rng.chance(0.12)
      ? rng.pick([`, Apt ${rng.int(1, 99)}`, `, Suite ${rng.int(100, 900)}`])
      : "";
    return rng.chance(0.82) ? `${number} ${name} ${kind}${flat}` : `${name} ${kind} ${number}`;
  }

  title(): string {
    const rng = this.#rng;
    return rng.pick([
      () => `${this.word("title_starts")} ${this.word("title_ends")}`,
      () => `The ${this.invented()} ${this.word("title_ends")}`,
      () => `${capital(this.word("adjectives"))} ${capital(this.word("nouns"))}`,
      () => `${this.word("title_starts")} of ${this.invented()}`,
    ])();
  }

  product(): string {
    const rng = this.#rng;
    const list = rng.weighted([
      ["nouns", 4],
      ["foods", 2],
      ["english", 2],
    ]);
    const [adjective, noun] = [this.#adjective(), this.word(list)];
    const many = /(s|sh|ch)$/.test(noun) ? noun : `${noun}s`;
    return rng.pick([
      () => `${adjective} ${noun}`,
      () => `${adjective} ${many}`,
      () => many,
      () => noun,
      () => `${this.invented()} ${noun}`,
      () =>
        `${this.invented()} ${this.#rng.pick(["X", "Pro", "Max", "Mini", "Plus", "S", "Nova"])} ${this.digits(1, 3)}`,
      () => `${noun} ${rng.int(1, 90)} ${rng.pick(["mm", "cm", "l", "kg", "W", "ml"])}`,
      () => `${adjective} ${this.#adjective()} ${noun}`,
      () => capital(`${adjective} ${noun}`),
      () => capital(noun),
    ])();
  }

  dish(): string {
    const rng = this.#rng;
    return rng.pick([
      () => `${this.word("dish_starts")} ${this.word("foods")}`,
      () => this.word("foods"),
      () => `${this.word("foods")} with ${this.word("foods")}`,
      () => `${this.invented().toLowerCase()} ${this.word("foods")}`,
    ])();
  }

  court(): string {
    const rng = this.#rng;
    const local = `${this.city()} ${rng.pick(["District", "County", "Superior", "Municipal", "High", "Regional"])} Court`;
    return rng.chance(0.5) ? this.word("courts") : local;
  }

  university(): string {
    const rng = this.#rng;
    const name = this.invented();
    const made = [
      `University of ${name}`,
      `${name} University`,
      `${name} College`,
      `${name} Institute of Technology`,
    ];
    return rng.chance(0.4) ? this.word("universities") : rng.pick(made);
  }

  medicine(): string {
    const ends = ["ol", "in", "ine", "ex", "pril", "mab", "ide", "zole"];
    return this.#rng.chance(0.4)
      ? this.word("medicines")
      : this.invented().toLowerCase() + this.#rng.pick(ends);
  }

  place(): string {
    const rng = this.#rng;
    return rng.pick([
      () => `${this.invented()} ${this.word("place_ends")}`,
      () => `${this.word("place_starts")} ${this.invented()}`,
      () => `St ${this.first()}'s`,
      () => `the ${this.word("place_ends").toLowerCase()}`,
    ])();
  }

  event(): string {
    return this.#rng.pick([
      () => `${this.invented()} ${this.word("event_ends")}`,
      () => `${capital(this.word("adjectives"))} ${this.word("event_ends")}`,
      () => `${this.city()} ${this.word("event_ends")}`,
    ])();
  }
}
