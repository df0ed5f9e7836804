/** Tells the model about the schema that its answer is locked to, in the form it reads best. */
import type { ChatTurn } from "./chat.ts";
import type { SchemaPrompt } from "./manifest.ts";
import { printSketch } from "./sketch.ts";

/** The turns with the schema in the system's text; without one, a system turn is put in front. */
export function placeSchema(
  turns: readonly ChatTurn[],
  schema: unknown,
  form: SchemaPrompt,
): readonly ChatTurn[] {
  if (form === "none") return turns;
  const [first, ...rest] = turns;
  const system = first?.role === "system" ? first.content : "";
  const others = first?.role === "system" ? rest : turns;
  return [{ role: "system", content: systemText(system, schema, form) }, ...others];
}

function systemText(system: string, schema: unknown, form: "sketch" | "json"): string {
  // svc-tiny was trained on the sketch alone, at the start of the system's text.
  if (form === "sketch") return [printSketch(schema), system].filter((text) => text).join("\n");
  const task = "Answer with one JSON value that matches this JSON Schema:";
  const text = `${task}\n${JSON.stringify(schema)}`;
  return [system, text].filter((part) => part !== "").join("\n\n");
}
