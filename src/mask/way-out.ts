/**
 * The shortest known way to end a text from where a machine stands: bytes that it accepts, after
 * which the value is whole. A real continuation, not an estimate: the budget lock holds on to it.
 */
import { assert } from "../bytes/assert.ts";
import type { Compilation } from "../grammar/compilation.ts";
import type { SchemaGrammar } from "../grammar/compile.ts";
import { printNumber } from "../grammar/number-text.ts";
import type { NumberView } from "../grammar/number-view.ts";
import type { Place } from "../grammar/place.ts";
import { endApart, type Rivals, textApart } from "../grammar/rival-strings.ts";
import type { StringReader } from "../grammar/string-reader.ts";
import type { StringList } from "../grammar/string-view.ts";
import { type ArrayCell, type ObjectCell, RootCell } from "./cell.ts";
import { CONSTANTS } from "./constants.ts";
import { JsonMachine } from "./json-machine.ts";
import { keyEndings } from "./key-endings.ts";
import {
  ARRAY_FIRST,
  ARRAY_NEXT,
  COLON,
  CONSTANT,
  KEY,
  NUMBER,
  NUMBER_LIST,
  OBJECT_FIRST,
  OBJECT_KEY,
  OBJECT_NEXT,
  STRING,
  STRING_LIST,
  VALUE,
} from "./registers.ts";
import { respell } from "./respell.ts";
import { rivalsOf } from "./string-registers.ts";

/** Longer ways out are of no use to any answer. */
const BYTES_MAX = 2 ** 20;
const BRACKET = 0x5d;
const BRACE = 0x7d;

export class WaysOut {
  readonly #grammar: SchemaGrammar;
  /** A shortest value for each place that was asked about; null where it is too long. */
  readonly #values = new Map<Place, Uint8Array | null>();

  constructor(grammar: SchemaGrammar) {
    this.#grammar = grammar;
  }

  /** @returns null where that takes more bytes than any budget would allow. */
  from(machine: JsonMachine): Uint8Array | null {
    const here = machine.save();
    const start = machine.length;
    while (!machine.canEnd) {
      const bytes = machine.length - start > BYTES_MAX ? null : this.#next(machine);
      if (bytes === null) {
        machine.undo(here);
        return null;
      }
      this.#write(machine, bytes);
    }
    const bytes = machine.textFrom(start, machine.length).slice();
    machine.undo(here);
    return bytes;
  }

  /** A value was found at a place of its own, where names may come in another order. */
  #write(machine: JsonMachine, bytes: Uint8Array): void {
    const here = machine.save();
    for (const byte of bytes) {
      if (machine.step(byte)) continue;
      machine.undo(here);
      writeInOrder(machine, Buffer.from(bytes).toString());
      return;
    }
  }

  /** The next bytes of the way out: to the end of what is being read, or one member or item. */
  #next(machine: JsonMachine): Uint8Array | null {
    const { phase, state, count, view } = machine;
    switch (phase) {
      case STRING:
        return endApart(view as StringReader, state, count, rivalsOf(machine));
      case STRING_LIST:
        return ascii(`${shortestOf(view as StringList, state, rivalsOf(machine))}"`);
      case CONSTANT:
        return ascii((CONSTANTS[state]?.text ?? "").slice(count));
      case NUMBER:
      case NUMBER_LIST:
        return endNumber(machine, view as NumberView);
      case VALUE:
        return this.#value(this.#placeDue(machine));
      case COLON:
        return ascii(":");
      case KEY:
        return this.#key(machine);
      case OBJECT_KEY:
        return ascii('"');
      case OBJECT_FIRST:
      case OBJECT_NEXT:
        return this.#member(machine);
      case ARRAY_FIRST:
      case ARRAY_NEXT:
        return this.#item(machine);
      default:
        return null;
    }
  }

  /** A shortest value of a place: what its cost was measured on. */
  #value(place: Place): Uint8Array | null {
    const known = this.#values.get(place);
    if (known !== undefined) return known;
    const { compilation } = this.#grammar;
    let value: Uint8Array | null = null;
    if (compilation.cost(place) <= BYTES_MAX) {
      const machine = new JsonMachine(this.#grammar, new RootCell(place));
      const opening = openingOf(place, compilation);
      for (const byte of opening) {
        assert(machine.step(byte), "a shortest value begins like a value of the grammar");
      }
      const rest = this.from(machine);
      value = rest && Buffer.concat([opening, rest]);
    }
    this.#values.set(place, value);
    return value;
  }

  #placeDue({ cell, place }: JsonMachine): Place {
    return cell.kind === "array" ? this.#itemPlace(cell, place) : place;
  }

  /** Where the next item stands that is none of those the array has. */
  #itemPlace({ frame, used }: ArrayCell, place = frame.item as Place): Place {
    if (used === null) return place;
    const { compilation } = this.#grammar;
    const apart = compilation.noneOf(used.values);
    return compilation.place(
      place.wants.map((want) => [...want, ...apart]),
      [],
    );
  }

  #member(machine: JsonMachine): Uint8Array | null {
    const { frame } = machine.cell as ObjectCell;
    const { completion } = frame;
    if (completion === null) return null;
    const [first] = completion.members;
    const comma = machine.phase === OBJECT_NEXT ? "," : "";
    // An item that its array has already goes on with one more key.
    if (!first) return ascii(takes(machine, BRACE) ? "}" : `${comma}"`);
    const value = this.#value(first.place);
    const key = Buffer.from(`${comma}${JSON.stringify(first.key)}:`);
    return value && Buffer.concat([key, value]);
  }

  #item(machine: JsonMachine): Uint8Array | null {
    const { frame } = machine.cell as ArrayCell;
    const { completion } = frame;
    if (completion === null) return null;
    const [first] = completion.items;
    if (!first && takes(machine, BRACKET)) return ascii("]");
    const value = this.#value(this.#itemPlace(machine.cell as ArrayCell, first));
    return value && Buffer.concat([ascii(machine.phase === ARRAY_NEXT ? "," : ""), value]);
  }

  /** The ending of the key being read after which the object ends soonest. */
  #key(machine: JsonMachine): Uint8Array | null {
    const { compilation } = this.#grammar;
    let best: Uint8Array | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const { bytes, member } of keyEndings(machine)) {
      // Where only the value can tell how the object ends, some value lets it: the last choice.
      const after = member.next.completion?.bytes ?? BYTES_MAX;
      const size = bytes.length + compilation.cost(member.place) + after;
      if (size >= least) continue;
      best = bytes;
      least = size;
    }
    return best;
  }
}

/** A scalar that is a shortest value of the place, or the bracket that begins one. */
function openingOf(place: Place, compilation: Compilation): Uint8Array {
  const { strings, numbers, array, object } = compilation.views(place);
  const openings: { readonly bytes: Uint8Array; readonly size: number }[] = [];
  const offer = (bytes: Uint8Array, size = bytes.length): void => {
    openings.push({ bytes, size });
  };
  const constant = compilation.constantText(place);
  if (constant !== null) offer(ascii(constant));
  if (numbers) offer(ascii(printNumber(numbers, 0)));
  if (strings?.kind === "list") offer(ascii(`"${shortestOf(strings, 0, NO_RIVALS)}"`));
  if (strings?.kind === "text") offer(Buffer.concat([ascii('"'), strings.reader.end(0, 0)]));
  if (array?.completion) offer(ascii("["), 1 + array.completion.bytes);
  if (object?.completion) offer(ascii("{"), 1 + object.completion.bytes);
  return openings.reduce((best, other) => (other.size < best.size ? other : best)).bytes;
}

function shortestOf(list: StringList, state: number, rivals: Rivals): string {
  const text = list.texts.texts[textApart(list, state, rivals)] as Uint8Array;
  return Buffer.from(text.subarray(list.texts.depth(state))).toString("latin1");
}

const NO_RIVALS: Rivals = { texts: [], lo: 0, hi: 0, depth: 0 };

function takes(machine: JsonMachine, byte: number): boolean {
  const here = machine.save();
  const may = machine.step(byte);
  machine.undo(here);
  return may;
}

/** A member, or an item, or a value, with the comma before it. */
function writeInOrder(machine: JsonMachine, text: string): void {
  const [prefix = ""] = /^,?(?:"(?:[^"\\]|\\.)*":)?/.exec(text) ?? [];
  for (const byte of Buffer.from(prefix)) {
    assert(machine.step(byte), "the way out of a text is a text of the grammar");
  }
  respell(machine, text.slice(prefix.length));
}

/** A number may have ended already: only what follows it shows that. */
function endNumber(machine: JsonMachine, view: NumberView): Uint8Array | null {
  const rest = printNumber(view, machine.state);
  if (rest !== "") return ascii(rest);
  machine.finishScalar(machine.numberVerdict());
  return NOTHING;
}

const NOTHING = new Uint8Array(0);

function ascii(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
