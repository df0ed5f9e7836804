/**
 * Writes a value that is right at one place at another place that allows it too. Closed objects
 * write their names in an order, and where several schemas meet, that order is not each one's own.
 */
import { assert } from "../bytes/assert.ts";
import type { ObjectCell } from "./cell.ts";
import type { JsonMachine } from "./json-machine.ts";

/** @param text JSON without white space. */
export function respell(machine: JsonMachine, text: string): void {
  if (text.startsWith("{")) respellObject(machine, text);
  else if (text.startsWith("[")) respellArray(machine, text);
  else write(machine, text);
}

function respellObject(machine: JsonMachine, text: string): void {
  write(machine, "{");
  const { rankOf } = (machine.cell as ObjectCell).frame.shape;
  const rank = ([key]: readonly string[]): number =>
    rankOf.get(JSON.parse(key as string) as string) ?? rankOf.size;
  const members = partsOf(text).map((member) => keyAndValue(member));
  for (const [index, [key, value]] of members.sort((a, b) => rank(a) - rank(b)).entries()) {
    write(machine, `${index > 0 ? "," : ""}${key}:`);
    respell(machine, value);
  }
  write(machine, "}");
}

function respellArray(machine: JsonMachine, text: string): void {
  write(machine, "[");
  for (const [index, item] of partsOf(text).entries()) {
    if (index > 0) write(machine, ",");
    respell(machine, item);
  }
  write(machine, "]");
}

function write(machine: JsonMachine, text: string): void {
  for (const byte of Buffer.from(text)) {
    assert(machine.step(byte), "a value of a place is one in whatever order its names come");
  }
}

/** The members of an object or the items of an array, as they are written. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let start = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') {
      at = endOfString(text, at) - 1;
      continue;
    }
    const isEnd = depth === 1 && (char === "," || char === "]" || char === "}");
    if (isEnd && at > start) parts.push(text.slice(start, at));
    if (isEnd) start = at + 1;
    if (char === "{" || char === "[") depth += 1;
    if (char === "}" || char === "]") depth -= 1;
  }
  return parts;
}

function keyAndValue(member: string): [string, string] {
  const end = endOfString(member, 0);
  return [member.slice(0, end), member.slice(end + 1)];
}

/** Behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charAt(at) !== '"') at += text.charAt(at) === "\\" ? 2 : 1;
  return at + 1;
}
