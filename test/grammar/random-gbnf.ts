/** Random GBNF texts over a small alphabet, and random texts to try on them. */

export interface RandomGbnfOptions {
  /** Repetitions of what may be empty: correct, but they send some engines around in circles. */
  readonly emptyRepetitions: boolean;
}

const ATOMS = ['"a"', '"b"', '"ab"', '"é"', "[ab]", "[^a]", "[a-cé]", '"日c"', ".", '""'];
const CHARS = [..."aabbccé日x"];
const RULES = ["root", "one", "two", "three"];

export function randomGbnf(draw: () => number, options: RandomGbnfOptions): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  const atom = (): string => pick(ATOMS);
  /** Rules refer to later ones, and now and then to any: that is recursion. */
  let rule = 0;
  const reference = (): string => {
    const later = RULES.slice(rule + 1);
    return later.length === 0 || draw() < 0.15 ? pick(RULES.slice(1)) : pick(later);
  };
  const part = (depth: number): string => {
    const kind = draw();
    if (depth > 2 || kind < 0.4) return atom();
    if (kind < 0.6) return rule === RULES.length - 1 && draw() < 0.7 ? atom() : reference();
    if (kind < 0.75) return `(${choice(depth + 1)})`;
    const body = options.emptyRepetitions ? `(${choice(depth + 1)})` : pick(ATOMS.slice(0, -1));
    return body + pick(["*", "+", "?", "{2}", "{1,}", "{0,3}", "{2,4}"]);
  };
  const sequence = (depth: number): string =>
    Array.from({ length: 1 + Math.floor(draw() * 3) }, () => part(depth)).join(" ");
  const choice = (depth: number): string =>
    Array.from({ length: 1 + Math.floor(draw() * 2.5) }, () => sequence(depth)).join(" | ");
  return RULES.map((name, i) => {
    rule = i;
    return `${name} ::= ${choice(0)}\n`;
  }).join("");
}

export function randomText(draw: () => number): string {
  const length = Math.floor(draw() * 7);
  return Array.from({ length }, () => CHARS[Math.floor(draw() * CHARS.length)]).join("");
}

/** One character left out, doubled or replaced. */
export function mutation(text: string, draw: () => number): string {
  const chars = [...text];
  const at = Math.floor(draw() * chars.length);
  const char = chars[at] ?? "";
  const other = CHARS[Math.floor(draw() * CHARS.length)] as string;
  const middle = draw() < 0.3 ? "" : draw() < 0.5 ? char + char : other;
  return chars.slice(0, at).join("") + middle + chars.slice(at + 1).join("");
}
