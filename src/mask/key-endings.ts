/** Ways to end the key being read. */
import type { Member } from "../grammar/object-frame.ts";
import type { ObjectCell } from "./cell.ts";
import type { JsonMachine } from "./json-machine.ts";
import { isBetweenPoints, memberOfKey } from "./key-registers.ts";

export interface KeyEnding {
  /** The closing quote included. */
  readonly bytes: Uint8Array;
  readonly member: Member;
}

const QUOTE = 0x22;
/** Names looked at: where there are more, any of them will do. */
const NAMES_MAX = 64;
/** Steps of the search for an unnamed key that was not used yet. */
const SEARCH_STEPS_MAX = 4000;

/** At least one, since a byte of a key is only taken if some key goes on from there. */
export function* keyEndings(machine: JsonMachine): Generator<KeyEnding> {
  yield* named(machine);
  const unnamed = machine.count < 0 ? null : findUnnamed(machine);
  if (unnamed) yield unnamed;
}

function* named(machine: JsonMachine): Generator<KeyEnding> {
  if (machine.state < 0) return;
  const { frame } = machine.cell as ObjectCell;
  const { nameTexts } = frame.shape;
  const end = nameTexts.end(machine.state);
  let left = NAMES_MAX;
  for (let i = nameTexts.first(machine.state); i < end && left > 0; i++) {
    const member = frame.named(nameTexts.sources[i] as number);
    if (!member) continue;
    left -= 1;
    const rest = (nameTexts.texts[i] as Uint8Array).subarray(machine.keyLength);
    yield { bytes: Uint8Array.of(...rest, QUOTE), member };
  }
}

/** Breadth first over bytes, plain letters before others. */
function findUnnamed(machine: JsonMachine): KeyEnding | null {
  const short = endOf(machine);
  if (short) return short;
  const open: number[][] = [[]];
  let steps = 0;
  for (let at = 0; at < open.length; at++) {
    for (const byte of KEY_BYTES) {
      steps += 1;
      if (steps > SEARCH_STEPS_MAX) return null;
      const bytes = [...(open[at] as number[]), byte];
      const member = memberAfter(machine, bytes);
      if (member) return { bytes: Uint8Array.of(...bytes, QUOTE), member };
      if (member === null) open.push(bytes);
    }
  }
  return null;
}

/** The member of a key that ends after these bytes; null for none yet, false where none can. */
function memberAfter(machine: JsonMachine, bytes: readonly number[]): Member | null | false {
  const here = machine.save();
  const isAlive = bytes.every((byte) => machine.extendKey(byte));
  const isWhole = isAlive && machine.count >= 0 && isBetweenPoints(machine);
  const member = isWhole ? memberOfKey(machine) : null;
  machine.undo(here);
  return isAlive ? member : false;
}

/** What the automaton takes for the shortest ending, if the key is free. */
function endOf(machine: JsonMachine): KeyEnding | null {
  const { frame } = machine.cell as ObjectCell;
  const keys = frame.unnamedKeys;
  if (!keys) return null;
  const bytes = keys.end(machine.count, machine.points);
  const member = memberAfter(machine, [...bytes.subarray(0, -1)]);
  return member ? { bytes, member } : null;
}

const KEY_BYTES: readonly number[] = (() => {
  const letters = [..."abcdefghijklmnopqrstuvwxyz0123456789_"].map((c) => c.charCodeAt(0));
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  return [...letters, ...all.filter((byte) => !letters.includes(byte) && byte !== QUOTE)];
})();
