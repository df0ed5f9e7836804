/** The values that are words, by the index that a machine keeps while it reads one. */
import { FALSE, type JsonType, NULL, TRUE } from "../schema/json-type.ts";

export const CONSTANTS: readonly { readonly type: JsonType; readonly text: string }[] = [
  { type: NULL, text: "null" },
  { type: TRUE, text: "true" },
  { type: FALSE, text: "false" },
];
