/** Which bytes can come next at all, by what the machine stands before: a start for trie walks. */

import type { NumberList } from "../grammar/number-view.ts";
import type { StringList } from "../grammar/string-view.ts";
import type { ObjectCell } from "./cell.ts";
import type { JsonMachine } from "./json-machine.ts";
import {
  ARRAY_FIRST,
  ARRAY_NEXT,
  COLON,
  CONSTANT,
  END,
  KEY,
  NUMBER,
  NUMBER_LIST,
  OBJECT_FIRST,
  OBJECT_KEY,
  OBJECT_NEXT,
  STRING_LIST,
  VALUE,
} from "./registers.ts";

const BLANKS = " \n\t";
const AFTER_VALUE = `,}]${BLANKS}`;

const BY_PHASE: ReadonlyMap<number, Uint8Array> = new Map(
  [
    [VALUE, `"{[-0123456789tfn${BLANKS}`] as const,
    [ARRAY_FIRST, `]"{[-0123456789tfn${BLANKS}`] as const,
    [OBJECT_FIRST, `"}${BLANKS}`] as const,
    [OBJECT_KEY, `"${BLANKS}`] as const,
    [COLON, ":"] as const,
    [OBJECT_NEXT, `,}${BLANKS}`] as const,
    [ARRAY_NEXT, `,]${BLANKS}`] as const,
    [NUMBER, `0123456789.-+eE${AFTER_VALUE}`] as const,
    [CONSTANT, "ulrase"] as const,
    [END, ""] as const,
  ].map(([phase, text]) => [phase, Buffer.from(text)]),
);

const QUOTE = Uint8Array.of(0x22);
const CLOSING = Buffer.from(AFTER_VALUE);

/** Bytes among which the next one is; null where any byte may be. */
export function firstBytes(machine: JsonMachine): Uint8Array | null {
  const fixed = BY_PHASE.get(machine.phase);
  if (fixed) return fixed;
  if (machine.phase === STRING_LIST) {
    const { texts } = machine.view as StringList;
    return Buffer.concat([texts.nextBytes(machine.state), QUOTE]);
  }
  if (machine.phase === NUMBER_LIST) {
    const { texts } = machine.view as NumberList;
    return Buffer.concat([texts.nextBytes(machine.state), CLOSING]);
  }
  if (machine.phase === KEY && machine.count < 0) {
    const { nameTexts } = (machine.cell as ObjectCell).frame.shape;
    return Buffer.concat([nameTexts.nextBytes(machine.state), QUOTE]);
  }
  return null;
}
