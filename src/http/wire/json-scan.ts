/** Whether bytes are one JSON value (RFC 8259), where they stop being one, and how much it is. */

export interface ScanLimits {
  readonly depthMax: number;
  /** Values, names and punctuation count one each. */
  readonly tokensMax: number;
}

export interface ScanFault {
  readonly kind: "syntax" | "limit";
  readonly message: string;
  /** Byte offset. */
  readonly at: number;
}

/** Thrown inside a scan only. */
class Fault extends Error {
  readonly fault: ScanFault;
  constructor(fault: ScanFault) {
    super(fault.message);
    this.fault = fault;
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

export class JsonScan {
  readonly #bytes: Uint8Array;
  readonly #limits: ScanLimits;
  /** 1 for each open object, 0 for each open array. */
  readonly #stack: Uint8Array;
  #depth = 0;
  #at = 0;
  #tokens = 0;
  /** Members of all objects. */
  members = 0;
  /** Told of every name: its place and its end, quotes included. */
  #onName: (start: number, end: number, depth: number) => void = () => {};
  #onObject: (depth: number) => void = () => {};

  constructor(bytes: Uint8Array, limits: ScanLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#stack = new Uint8Array(limits.depthMax + 1);
  }

  /** @returns null for a JSON value within the limits. */
  run(): ScanFault | null {
    try {
      this.#document();
      return null;
    } catch (error) {
      if (error instanceof Fault) return error.fault;
      throw error;
    }
  }

  /** Of bytes that `run` passed: the first name that its object has already. */
  findDoubledKey(): { readonly key: string; readonly at: number } | null {
    const seen: Set<string>[] = [];
    let found: { readonly key: string; readonly at: number } | null = null;
    this.#onObject = (depth) => {
      seen[depth] = new Set();
    };
    this.#onName = (start, end, depth) => {
      const key = String(JSON.parse(Buffer.from(this.#bytes.subarray(start, end)).toString()));
      if (seen[depth]?.has(key) && found === null) found = { key, at: start };
      seen[depth]?.add(key);
    };
    this.run();
    return found;
  }

  #document(): void {
    this.#space();
    this.#value();
    for (;;) {
      this.#space();
      if (this.#depth === 0) break;
      this.#afterValue();
    }
    if (this.#at < this.#bytes.length) this.#refuse("expected the end");
  }

  /** A value, or the start of one: what it contains comes in later turns of the loop. */
  #value(): void {
    this.#count();
    const byte = this.#bytes[this.#at];
    if (byte === QUOTE) this.#string();
    else if (byte === OPEN_OBJECT) this.#open(1);
    else if (byte === OPEN_LIST) this.#open(0);
    else if (byte === 0x2d || isDigit(byte)) this.#number();
    else if (byte === 0x74) this.#word("true");
    else if (byte === 0x66) this.#word("false");
    else if (byte === 0x6e) this.#word("null");
    else this.#refuse("expected a value");
  }

  #open(kind: 0 | 1): void {
    if (this.#depth === this.#limits.depthMax) {
      this.#exceed(`the body is nested deeper than ${this.#limits.depthMax} levels`);
    }
    this.#at += 1;
    this.#depth += 1;
    this.#stack[this.#depth] = kind;
    if (kind === 1) this.#onObject(this.#depth);
    this.#space();
    const close = kind === 1 ? CLOSE_OBJECT : CLOSE_LIST;
    if (this.#bytes[this.#at] === close) this.#close();
    else if (kind === 1) this.#member();
    else this.#value();
  }

  #close(): void {
    this.#count();
    this.#at += 1;
    this.#depth -= 1;
  }

  /** Behind a value inside a container: a comma and the next one, or the end. */
  #afterValue(): void {
    const isObject = this.#stack[this.#depth] === 1;
    const byte = this.#bytes[this.#at];
    if (byte === (isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
      this.#close();
    } else if (byte === COMMA) {
      this.#count();
      this.#at += 1;
      this.#space();
      if (isObject) this.#member();
      else this.#value();
    } else {
      this.#refuse(isObject ? 'expected "," or "}"' : 'expected "," or "]"');
    }
  }

  #member(): void {
    this.members += 1;
    this.#count();
    const start = this.#at;
    if (this.#bytes[start] !== QUOTE) this.#refuse("expected a name in double quotes");
    this.#string();
    this.#onName(start, this.#at, this.#depth);
    this.#space();
    if (this.#bytes[this.#at] !== COLON) this.#refuse('expected ":"');
    this.#count();
    this.#at += 1;
    this.#space();
    this.#value();
  }

  #string(): void {
    const bytes = this.#bytes;
    for (let at = this.#at + 1; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return;
      }
      if (byte === BACKSLASH) at = this.#escape(at);
      else if (byte < 0x20) {
        this.#at = at;
        this.#refuse("a control character in a string must be written as an escape");
      }
    }
    this.#at = bytes.length;
    this.#refuse("a string has no end");
  }

  /** @returns where the escape's last byte is. */
  #escape(at: number): number {
    const letter = this.#bytes[at + 1];
    if (letter !== 0x75) {
      if (letter !== undefined && ESCAPES.has(letter)) return at + 1;
      this.#at = at;
      this.#refuse("no such escape");
    }
    const unit = this.#unit(at);
    if (unit < 0xd800 || unit > 0xdfff) return at + 5;
    const isPair = unit < 0xdc00 && this.#bytes[at + 6] === BACKSLASH;
    if (isPair && this.#bytes[at + 7] === 0x75) {
      const low = this.#unit(at + 6);
      if (low >= 0xdc00 && low <= 0xdfff) return at + 11;
    }
    this.#at = at;
    return this.#refuse("an escape is half of a surrogate pair");
  }

  /** The UTF-16 unit of `\uXXXX`. */
  #unit(at: number): number {
    const digits = String.fromCharCode(...this.#bytes.subarray(at + 2, at + 6));
    if (/^[0-9A-Fa-f]{4}$/.test(digits)) return Number.parseInt(digits, 16);
    this.#at = at;
    return this.#refuse("no such escape");
  }

  #number(): void {
    const start = this.#at;
    if (this.#bytes[this.#at] === 0x2d) this.#at += 1;
    if (this.#bytes[this.#at] === 0x30) this.#at += 1;
    else this.#digits();
    if (this.#bytes[this.#at] === 0x2e) {
      this.#at += 1;
      this.#digits();
    }
    const exponent = this.#bytes[this.#at];
    if (exponent === 0x65 || exponent === 0x45) {
      this.#at += 1;
      const sign = this.#bytes[this.#at];
      if (sign === 0x2b || sign === 0x2d) this.#at += 1;
      this.#digits();
    }
    if (this.#at - start > 400) this.#exceed("a number has more than 400 characters");
  }

  #digits(): void {
    if (!isDigit(this.#bytes[this.#at])) this.#refuse("expected a digit");
    while (isDigit(this.#bytes[this.#at])) this.#at += 1;
  }

  #word(word: string): void {
    for (let index = 0; index < word.length; index++) {
      if (this.#bytes[this.#at + index] !== word.charCodeAt(index))
        this.#refuse("expected a value");
    }
    this.#at += word.length;
  }

  #space(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at += 1;
    }
  }

  #count(): void {
    this.#tokens += 1;
    if (this.#tokens > this.#limits.tokensMax) {
      this.#exceed(`the body has more than ${this.#limits.tokensMax} JSON tokens`);
    }
  }

  #refuse(message: string): never {
    const found = foundAt(this.#bytes, this.#at);
    throw new Fault({ kind: "syntax", message: `${message}, found ${found}`, at: this.#at });
  }

  #exceed(message: string): never {
    throw new Fault({ kind: "limit", message, at: this.#at });
  }
}

const ESCAPES = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function foundAt(bytes: Uint8Array, at: number): string {
  if (at >= bytes.length) return "the end";
  // A few characters tell more than one: NaN, undefined, 'single quotes'.
  const text = new TextDecoder().decode(bytes.subarray(at, at + 12));
  const word = /^[A-Za-z_$]+/.exec(text)?.[0] ?? [...text][0] ?? "";
  return JSON.stringify(word);
}
