/**
 * The items that an array of unique items has so far: immutable. Strings have one spelling each, so
 * they are compared as they are read, byte by byte; objects and arrays once they are whole.
 */
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";

const QUOTE = 0x22;
const OBJECT_START = 0x7b;
const ARRAY_START = 0x5b;

export class UsedValues {
  /** All of them, in order. */
  readonly values: readonly JsonValue[];
  /** The strings as JSON writes them between the quotes, ascending by bytes. */
  readonly strings: readonly Uint8Array[];
  /** Of `null`, `true` and `false` those that were used. */
  readonly constants: readonly string[];
  /** Objects and arrays, canonically. */
  readonly containers: ReadonlySet<string>;

  private constructor(
    values: readonly JsonValue[],
    strings: readonly Uint8Array[],
    constants: readonly string[],
    containers: ReadonlySet<string>,
  ) {
    this.values = values;
    this.strings = strings;
    this.constants = constants;
    this.containers = containers;
  }

  static readonly NONE = new UsedValues([], [], [], new Set());

  /** @param text a string, a constant, an object or an array that is none of these. */
  with(text: Uint8Array): UsedValues {
    const json = Buffer.from(text).toString();
    const value = JSON.parse(json) as JsonValue;
    const values = [...this.values, value];
    const { strings, constants, containers } = this;
    if (text[0] === QUOTE) {
      const own = text.slice(1, -1);
      const at = strings.findIndex((other) => Buffer.compare(other, own) > 0);
      const sorted = strings.toSpliced(at < 0 ? strings.length : at, 0, own);
      return new UsedValues(values, sorted, constants, containers);
    }
    if (text[0] !== OBJECT_START && text[0] !== ARRAY_START) {
      return new UsedValues(values, strings, [...constants, json], containers);
    }
    const all = new Set(containers).add(canonicalJson(value));
    return new UsedValues(values, strings, constants, all);
  }

  /** @param text an object or array. */
  hasContainer(text: Uint8Array): boolean {
    if (this.containers.size === 0) return false;
    return this.containers.has(canonicalJson(JSON.parse(Buffer.from(text).toString())));
  }
}
