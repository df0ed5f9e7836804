/** The shortest way to end a number. */
import { NUMBER_COLUMN } from "../automaton/number-columns.ts";
import type { NumberView } from "./number-view.ts";

const NUMBER_BYTES = Buffer.from("0123456789-.eE+");

/** @returns what the shortest number from a state still needs; empty where it may end there. */
export function printNumber(view: NumberView, state: number): string {
  if (view.kind === "list") return printListed(view.texts, state);
  const { automaton } = view;
  let text = "";
  for (let at = state; automaton.rest(at) > 0; ) {
    const left = automaton.rest(at);
    const byte = NUMBER_BYTES.find((candidate) => {
      const next = automaton.step(at, NUMBER_COLUMN[candidate] as number);
      return next >= 0 && automaton.rest(next) < left;
    });
    if (byte === undefined) return text;
    at = automaton.step(at, NUMBER_COLUMN[byte] as number);
    text += String.fromCharCode(byte);
  }
  return text;
}

function printListed(
  texts: { readonly texts: readonly Uint8Array[]; first(state: number): number } & {
    end(state: number): number;
    rest(state: number): number;
  },
  state: number,
): string {
  const rest = texts.rest(state);
  const range = texts.texts.slice(texts.first(state), texts.end(state));
  const best = range.reduce((a, b) => (b.length < a.length ? b : a));
  return Buffer.from(best.subarray(best.length - rest)).toString();
}
