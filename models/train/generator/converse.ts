/** Samples without a schema: chat and tool calls. */
import { type AnswerValue, Label, NumberLiteral, type Piece, printAnswer } from "./answer.ts";
import type { GeneratorData, ToolData } from "./data-files.ts";
import { capital } from "./names.ts";
import { DECIMAL_KINDS, drawLabels, type Schema, WHOLE_KINDS } from "./properties.ts";
import type { Filled, Renderer, Scope } from "./render.ts";
import type { Rng } from "./rng.ts";

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
}

export interface Conversation {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly user: string;
  readonly answer: readonly Piece[];
}

/** Weight of words that are the model's own. */
const OWN = 1;

export function chat(renderer: Renderer, data: GeneratorData): Conversation {
  const { rng } = renderer;
  const [said, answered] = rng.pick(data.chat);
  const text = renderer.render(rng.pick(said), new Map());
  const user = rng.chance(0.3) ? text.toLowerCase() : text;
  const system = rng.chance(0.2) ? rng.pick(data.phrases.get("system") ?? []) : "";
  return { system, tools: [], user, answer: [[rng.pick(answered), OWN]] };
}

export function toolCall(renderer: Renderer, data: GeneratorData): Conversation {
  const { rng, values } = renderer;
  values.newDocument();
  const { tool, requests } = rng.pick(data.tools);
  const others = rng.sample(
    data.tools.filter((other) => other.tool !== tool),
    rng.weighted([
      [0, 2],
      [1, 4],
      [2, 3],
      [3, 1],
    ]),
  );
  if (rng.chance(0.14)) return noCall(renderer, data, [tool, ...others.map((other) => other.tool)]);
  const scope: Scope = new Map();
  const user = renderer.render(rng.pick(requests), scope);
  const own = define(rng, data, tool, scope);
  const definitions = others.map((other) => define(rng, data, other.tool, new Map()).definition);
  const call = new Map<string, AnswerValue>([
    ["name", new Label(own.definition.name)],
    ["arguments", own.value],
  ]);
  return {
    system: "",
    tools: rng.shuffle([own.definition, ...definitions]),
    user: rng.chance(0.5) ? capital(user) : user,
    answer: printAnswer(call),
  };
}

/** Small talk is answered in words, tools or not. */
function noCall(renderer: Renderer, data: GeneratorData, tools: readonly ToolData[]): Conversation {
  const definitions = tools.map((tool) => define(renderer.rng, data, tool, new Map()).definition);
  return { ...chat(renderer, data), system: "", tools: renderer.rng.shuffle(definitions) };
}

function define(
  rng: Rng,
  data: GeneratorData,
  tool: ToolData,
  scope: Scope,
): { readonly definition: ToolDefinition; readonly value: AnswerValue } {
  const properties: Record<string, Schema> = {};
  const value = new Map<string, AnswerValue>();
  for (const [names, slot] of tool.arguments) {
    const name = rng.pick(names);
    const argument = argumentOf(rng, data, slot, scope.get(slot));
    properties[name] = argument.schema;
    value.set(name, argument.value);
  }
  const required = Object.keys(properties);
  const parameters = { type: "object", properties, required, additionalProperties: false };
  const description = rng.chance(0.85) ? rng.pick(tool.descriptions) : "";
  return { definition: { name: rng.pick(tool.names), description, parameters }, value };
}

function argumentOf(
  rng: Rng,
  data: GeneratorData,
  slot: string,
  filled: Filled | undefined,
): { readonly schema: Schema; readonly value: AnswerValue } {
  const choice = data.choices.get(slot.split("@")[0] ?? "");
  if (choice !== undefined) {
    const label = filled?.kind === "choice" ? filled.label : (choice.labels[0]?.names[0] ?? "");
    if (label === "true" || label === "false")
      return { schema: { type: "boolean" }, value: label === "true" };
    const { names, own } = drawLabels(rng, choice, [label]);
    return { schema: { type: "string", enum: names }, value: new Label(own[0] ?? "") };
  }
  const kind = data.fields.get(slot.split("@")[0] ?? "")?.kind ?? "";
  const type = WHOLE_KINDS.has(kind) ? "integer" : "number";
  const isNumber = WHOLE_KINDS.has(kind) || DECIMAL_KINDS.has(kind);
  if (filled?.kind !== "value")
    return { schema: { type: isNumber ? type : "string" }, value: null };
  const { value } = filled;
  if (isNumber && value.number !== null)
    return { schema: { type }, value: new NumberLiteral(value.number) };
  return { schema: { type: "string" }, value: value.string };
}
