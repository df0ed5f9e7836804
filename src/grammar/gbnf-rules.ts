/** Rules of a GBNF text under construction: names, literals, characters and what was left out. */

/** Rules in one text; what lies beyond is any JSON value. */
const RULES_MAX = 4000;

export class GbnfRules {
  readonly #rules = new Map<string, string>();
  /** What the text allows beyond the schema, each said once. */
  readonly #wider = new Set<string>();

  get isExact(): boolean {
    return this.#wider.size === 0;
  }

  get isFull(): boolean {
    return this.#rules.size >= RULES_MAX;
  }

  /** Notes that the text allows more than the schema. */
  widen(what: string): void {
    this.#wider.add(what);
  }

  set(name: string, body: string): string {
    this.#rules.set(name, body);
    return name;
  }

  /** A rule that many others use, made when the first one does. */
  shared(name: string): string {
    const body = SHARED[name];
    if (body !== undefined && !this.#rules.has(name)) {
      this.#rules.set(name, body);
      for (const [, other] of body.matchAll(
        /\b(value|object|array|pair|string|char|number|ws)\b/g,
      )) {
        this.shared(other as string);
      }
    }
    return name;
  }

  /** The rule `root` first; a comment before it where the text allows more than the schema. */
  print(): string {
    const names = [...this.#rules.keys()].sort((a, b) => order(a) - order(b));
    const rules = names.map((name) => `${name} ::= ${this.#rules.get(name) ?? ""}`);
    if (this.isExact) return `${rules.join("\n")}\n`;
    return `# allows more than the schema: ${[...this.#wider].join("; ")}\n${rules.join("\n")}\n`;
  }
}

function order(name: string): number {
  return name === "root" ? 0 : name in SHARED ? 2 : 1;
}

const SHARED: Readonly<Record<string, string>> = {
  value: 'object | array | string | number | "true" | "false" | "null"',
  object: '"{" (pair ("," pair)*)? "}"',
  pair: 'string ":" value',
  array: '"[" (value ("," value)*)? "]"',
  string: '"\\"" char* "\\""',
  // One spelling per character: an escape only where JSON demands one.
  char: '[^"\\\\\\x00-\\x1F] | "\\\\" (["\\\\bfnrt] | "u00" ("0" [0-7be-f] | "1" [0-9a-f]))',
  number: '"-"? ("0" | [1-9] [0-9]{0,39}) ("." [0-9]{1,40})? ([eE] [-+]? [0-9]{1,3})?',
  ws: '" "? | "\\n" [ \\t]{0,40}',
};

/** A text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = [...text].map((char) => {
    const code = char.codePointAt(0) as number;
    if (char === '"' || char === "\\") return `\\${char}`;
    if (char === "\n") return "\\n";
    return code < 0x20 || code === 0x7f ? `\\x${hex(code, 2)}` : char;
  });
  return `"${escaped.join("")}"`;
}

/** A range of code points inside of brackets. */
export function range(first: number, last: number): string {
  return first === last ? point(first) : `${point(first)}-${point(last)}`;
}

function point(code: number): string {
  if (isPlain(code)) return String.fromCharCode(code);
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

/**
 * Letters and digits: whatever else could mean something between brackets is written as a number.
 */
function isPlain(code: number): boolean {
  return /^[A-Za-z0-9]$/.test(String.fromCharCode(code));
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}

/** A repetition; llama.cpp takes no factor of 2,000 and above. */
export const FACTOR_MAX = 1999;

export function repeat(item: string, min: number, max: number): string {
  if (max === 0) return '""';
  if (min === 0 && max === Number.POSITIVE_INFINITY) return `${item}*`;
  if (min === 1 && max === Number.POSITIVE_INFINITY) return `${item}+`;
  if (min === 0 && max === 1) return `${item}?`;
  if (min === max) return min === 1 ? item : `${item}{${min}}`;
  return max === Number.POSITIVE_INFINITY ? `${item}{${min},}` : `${item}{${min},${max}}`;
}
