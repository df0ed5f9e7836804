/** The one spelling of a row in an export: its hash, its MAC, its canonical bytes. */

const HASH = "[0-9a-f]{64}";
const WHOLE = "(?:0|[1-9][0-9]{0,15})";
const ID = "[A-Za-z0-9._-]{1,64}";
const NAME = '(?:null|"[A-Za-z0-9._:@/+-]{1,128}")';
const HASH_OR_NULL = `(?:null|"${HASH}")`;

/** The members of a row in order, each with the pattern of its value. */
const MEMBERS = [
  ["app_id", `"([a-z0-9][a-z0-9._-]{0,62})"`],
  ["completion_tokens", WHOLE],
  ["deterministic", "(true|false)"],
  ["engine", `(${NAME})`],
  ["in_hash", `"(${HASH})"`],
  ["key_id", `"${ID}"`],
  ["mac_epoch", `(${WHOLE})`],
  ["method", `"([A-Z]{1,16})"`],
  ["model", NAME],
  ["ms", WHOLE],
  ["nonce", `"[0-9a-f]{32}"`],
  ["out_hash", `"(${HASH})"`],
  ["output_hash", `(${HASH_OR_NULL})`],
  ["path", `"(/[A-Za-z0-9/._~:@%+-]{0,255})"`],
  ["prev_hash", `"(${HASH})"`],
  ["prompt_tokens", WHOLE],
  ["request_id", `"(${ID})"`],
  ["rev", '"[A-Za-z0-9._+-]{1,64}"'],
  ["seq", `(${WHOLE})`],
  ["status", "[1-5][0-9]{2}"],
  ["t", '"svc\\.row"'],
  ["tenant_id", `"(t_[0-7][0-9A-HJKMNP-TV-Z]{25})"`],
  ["ts", `(${WHOLE})`],
  ["v", "1"],
] as const;

/**
 * What of a row the checks look at: the texts of the pattern's groups, by number, because named
 * groups cost four times as much (4.9 against 1.0 µs a row, measured).
 */
export class RowText {
  /** The texts, from 1 on. */
  readonly parts: readonly string[];

  constructor(parts: readonly string[]) {
    this.parts = parts;
  }

  get hash(): string {
    return this.parts[1] ?? "";
  }
  get mac(): string {
    return this.parts[2] ?? "";
  }
  get app(): string {
    return this.parts[3] ?? "";
  }
  get deterministic(): string {
    return this.parts[4] ?? "";
  }
  /** With its quotation marks, or `null`. */
  get engine(): string {
    return this.parts[5] ?? "";
  }
  get input(): string {
    return this.parts[6] ?? "";
  }
  get epoch(): string {
    return this.parts[7] ?? "";
  }
  get method(): string {
    return this.parts[8] ?? "";
  }
  get body(): string {
    return this.parts[9] ?? "";
  }
  /** With its quotation marks, or `null`. */
  get output(): string {
    return this.parts[10] ?? "";
  }
  get path(): string {
    return this.parts[11] ?? "";
  }
  get prev(): string {
    return this.parts[12] ?? "";
  }
  get request(): string {
    return this.parts[13] ?? "";
  }
  get seq(): string {
    return this.parts[14] ?? "";
  }
  get tenant(): string {
    return this.parts[15] ?? "";
  }
  get ts(): string {
    return this.parts[16] ?? "";
  }
}

/** Where the row begins in its line: after two hashes and two spaces. */
export const ROW_OFFSET = 64 + 1 + 64 + 1;

/** Takes rows out of a text, one line at a time. */
export class RowReader {
  /** Where the next line begins. */
  offset = 0;
  readonly #text: string;
  readonly #pattern: RegExp;

  constructor(text: string) {
    this.#text = text;
    const members = MEMBERS.map(([name, value]) => `"${name}":${value}`).join(",");
    this.#pattern = new RegExp(`(${HASH}) (${HASH}) \\{${members}\\}\n`, "y");
  }

  get isAtEnd(): boolean {
    return this.offset === this.#text.length;
  }

  /** The line that begins here, with its newline if it has one. */
  lineAt(offset: number): string {
    const end = this.#text.indexOf("\n", offset);
    return this.#text.slice(offset, end === -1 ? this.#text.length : end + 1);
  }

  /** @returns null when the next line is not exactly a row; the offset then stays. */
  next(): RowText | null {
    this.#pattern.lastIndex = this.offset;
    const parts = this.#pattern.exec(this.#text);
    if (parts === null) return null;
    this.offset = this.#pattern.lastIndex;
    return new RowText(parts);
  }
}

/**
 * The first member of a line that does not have its form, for the report; "form" when each has.
 * @param line one line without its newline.
 */
export function firstBadMember(line: string): string {
  const last = MEMBERS.length - 1;
  const pieces: readonly (readonly [string, string])[] = [
    ["row_hash", `${HASH} `],
    ["row_mac", `${HASH} \\{`],
    ...MEMBERS.map(([name, value], index) => {
      const end = index === last ? "\\}$" : ",";
      return [name, `"${name}":${value}${end}`] as const;
    }),
  ];
  let pattern = "^";
  for (const [name, piece] of pieces) {
    pattern += piece;
    if (!new RegExp(pattern).test(line)) return name;
  }
  return "form";
}
