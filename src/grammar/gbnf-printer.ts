/**
 * A compiled schema as GBNF: readable and portable, for llama.cpp and for people. A grammar text
 * has no key sets, counts or exclusion: where a schema needs those it allows more, and says so in
 * its first comment. Our own answers are never locked by it.
 */

import { FALSE, type JsonType, NULL, TRUE } from "../schema/json-type.ts";
import type { ArrayFrame } from "./array-frame.ts";
import type { ArrayPlan } from "./array-shape.ts";
import type { Compilation, CompileOptions } from "./compilation.ts";
import { FACTOR_MAX, GbnfRules, literal, repeat } from "./gbnf-rules.ts";
import { numberBody, stringBody } from "./gbnf-scalars.ts";
import type { ObjectFrame } from "./object-frame.ts";
import type { KeyClass, ObjectPlan, ObjectShape } from "./object-shape.ts";
import type { Place } from "./place.ts";

export interface Gbnf {
  readonly text: string;
  /** The same texts as the schema's, white space included. */
  readonly isExact: boolean;
}

export function printGbnf(root: Place, compilation: Compilation, options: CompileOptions): Gbnf {
  return new GbnfPrinter(compilation, options).print(root);
}

const CONSTANT_TEXTS: readonly (readonly [JsonType, string])[] = [
  [NULL, "null"],
  [TRUE, "true"],
  [FALSE, "false"],
];

class GbnfPrinter {
  readonly #compilation: Compilation;
  readonly #rules = new GbnfRules();
  readonly #names = new Map<Place, string>();
  readonly #open: [Place, string][] = [];
  readonly #isOpen: boolean;
  /** White space after `:` and `,` and inside of brackets. */
  readonly #ws: string;

  constructor(compilation: Compilation, options: CompileOptions) {
    this.#compilation = compilation;
    this.#isOpen = options.objects === "open";
    this.#ws = options.whitespace === "flexible" ? ` ${this.#rules.shared("ws")}` : "";
  }

  print(root: Place): Gbnf {
    this.#nameOf(root, "root");
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      const [place, name] = next;
      this.#rules.set(name, this.#body(place, name));
    }
    return { text: this.#rules.print(), isExact: this.#rules.isExact };
  }

  #nameOf(place: Place, name = `v${this.#names.size}`): string {
    const known = this.#names.get(place);
    if (known !== undefined) return known;
    if (this.#rules.isFull) {
      this.#rules.widen("values beyond the limit on rules");
      return this.#rules.shared("value");
    }
    this.#names.set(place, name);
    this.#open.push([place, name]);
    return name;
  }

  #body(place: Place, name: string): string {
    const { strings, numbers, array, object } = this.#compilation.views(place);
    const bodies = CONSTANT_TEXTS.filter(
      ([type]) => this.#compilation.constant(place, type) !== null,
    ).map(([, text]) => literal(text));
    if (strings) bodies.push(stringBody(strings, this.#rules, name));
    if (numbers) bodies.push(numberBody(numbers, this.#rules, name));
    if (array?.completion) bodies.push(...this.#arrays(array, name));
    if (object?.completion) bodies.push(...this.#objects(object, name));
    return [...new Set(bodies)].join(" | ");
  }

  #arrays({ shape }: ArrayFrame, name: string): string[] {
    if (!shape.isGuided || shape.needsValues) {
      this.#rules.widen("contains, uniqueItems and arrays told apart by several schemas");
    }
    return shape.plans.map((plan, i) => {
      const prefix: string[] = [];
      while (prefix.length < shape.prefixEnd) {
        const item = this.#item(shape, plan, prefix.length);
        if (item === null) break;
        prefix.push(item);
      }
      const rest =
        prefix.length === shape.prefixEnd ? this.#item(shape, plan, prefix.length) : null;
      const items = this.#items(prefix, rest, plan, `${name}-a${i}`);
      return this.#brackets("[", items, "]", plan.minItems === 0);
    });
  }

  #item(shape: ArrayFrame["shape"], plan: ArrayPlan, position: number): string | null {
    const base = shape.base(plan, position);
    const place = base && this.#compilation.place([base], []);
    return place && Number.isFinite(this.#compilation.cost(place)) ? this.#nameOf(place) : null;
  }

  /** Items by position, each optional once enough of them have come. */
  #items(prefix: readonly string[], rest: string | null, plan: ArrayPlan, name: string): string {
    const { minItems, maxItems } = plan;
    const comma = this.#comma;
    const restBody = (at: number): string => {
      if (rest === null || maxItems <= at) return at === 0 ? "" : '""';
      const min = Math.max(0, minItems - at);
      const max = maxItems - at;
      if (min > FACTOR_MAX || (max > FACTOR_MAX && Number.isFinite(max))) {
        this.#rules.widen(`more than ${FACTOR_MAX} items`);
      }
      const least = Math.min(min, FACTOR_MAX);
      const most = max > FACTOR_MAX ? Number.POSITIVE_INFINITY : max;
      if (at > 0) return repeat(`(${comma} ${rest})`, least, most);
      const more = repeat(`(${comma} ${rest})`, Math.max(0, least - 1), most - 1);
      return least > 0 ? `${rest} ${more}` : `(${rest} ${more})?`;
    };
    let body = restBody(prefix.length);
    for (let at = Math.min(prefix.length, maxItems) - 1; at >= 0; at--) {
      const own = `${at > 0 ? `${comma} ` : ""}${prefix[at] ?? ""}`;
      const tail = this.#rules.set(`${name}-${at + 1}`, body);
      body = at < minItems ? `${own} ${tail}` : `(${own} ${tail})?`;
    }
    return body;
  }

  #objects({ shape }: ObjectFrame, name: string): string[] {
    if (!shape.isGuided) this.#rules.widen("objects told apart by several schemas");
    return shape.plans.map((plan, i) => {
      const own = `${name}-o${i}`;
      if (plan.hasDependents) this.#rules.widen("keys that other keys demand");
      const isBounded = plan.minProperties > plan.required.length;
      if (isBounded || Number.isFinite(plan.maxProperties)) this.#rules.widen("numbers of keys");
      const pairs = [...shape.names.keys()].map((rank) => this.#pair(shape, plan, rank, own));
      const rest = this.#restPair(shape, plan, own);
      const members = this.#isOpen
        ? this.#anyOrder(pairs, rest)
        : this.#inOrder(pairs, rest, plan, own);
      return this.#brackets("{", members, "}", plan.required.length === 0);
    });
  }

  get #comma(): string {
    return this.#ws === "" ? '","' : `ws "," ws`;
  }

  #brackets(opening: string, body: string, closing: string, mayBeEmpty: boolean): string {
    if (body === "") return `"${opening}"${this.#ws} "${closing}"`;
    if (mayBeEmpty && this.#ws !== "") this.#rules.widen("white space in empty brackets");
    return `"${opening}"${this.#ws} ${body}${this.#ws} "${closing}"`;
  }

  #pair(shape: ObjectShape, plan: ObjectPlan, rank: number, own: string): string | null {
    const keyClass = shape.nameClass(rank);
    const value = this.#valueOf(shape, plan, keyClass);
    if (value === null) return null;
    const key = literal(`${JSON.stringify(shape.names[rank])}:`);
    return this.#rules.set(`${own}-k${rank}`, `${key}${this.#ws} ${value}`);
  }

  #valueOf(shape: ObjectShape, plan: ObjectPlan, keyClass: KeyClass): string | null {
    const base = shape.base(plan, keyClass);
    const place = base && this.#compilation.place([base], []);
    return place && Number.isFinite(this.#compilation.cost(place)) ? this.#nameOf(place) : null;
  }

  /** Any key that no schema names, with whatever its colour allows. */
  #restPair(shape: ObjectShape, plan: ObjectPlan, own: string): string | null {
    const values = new Set<string>();
    for (const colour of shape.keys.colours.keys()) {
      const value = this.#valueOf(shape, plan, shape.restClass(colour));
      if (value !== null) values.add(value);
    }
    if (values.size === 0) return null;
    this.#rules.widen("keys that repeat, and which patterns keys match");
    const key = this.#rules.shared("string");
    return this.#rules.set(`${own}-rest`, `${key} ":"${this.#ws} (${[...values].join(" | ")})`);
  }

  #anyOrder(pairs: readonly (string | null)[], rest: string | null): string {
    const all = [...pairs, rest].filter((pair) => pair !== null);
    if (all.length === 0) return "";
    this.#rules.widen("which keys must come, and keys that repeat");
    const pair = `(${all.join(" | ")})`;
    return `(${pair} (${this.#comma} ${pair})*)?`;
  }

  /** The names in order: `first-i` before any was written, `more-i` behind one. */
  #inOrder(
    pairs: readonly (string | null)[],
    rest: string | null,
    plan: ObjectPlan,
    own: string,
  ): string {
    const comma = this.#comma;
    let more = rest === null ? "" : `(${comma} ${rest})*`;
    let first = rest === null ? "" : `(${rest} (${comma} ${rest})*)?`;
    for (let rank = pairs.length - 1; rank >= 0; rank--) {
      const pair = pairs[rank] ?? null;
      if (pair === null) continue;
      const tail = more === "" ? "" : ` ${this.#rules.set(`${own}-m${rank}`, more)}`;
      if (plan.required.includes(rank)) {
        first = `${pair}${tail}`;
        more = `${comma} ${pair}${tail}`;
      } else {
        const without = first === "" ? '""' : this.#rules.set(`${own}-f${rank}`, first);
        first = `${pair}${tail} | ${without}`;
        more = `(${comma} ${pair})?${tail}`;
      }
    }
    return first === "" ? "" : this.#rules.set(`${own}-f`, first);
  }
}
