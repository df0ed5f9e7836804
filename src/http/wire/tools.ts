/**
 * `tools` and `tool_choice`, in both of OpenAI's spellings: chat completions nest a function's
 * members under `function`, responses have them beside `type`.
 */
import { badRequest } from "../../service/api-error.ts";
import type { ToolChoice, ToolSpec } from "../../service/chat-request.ts";
import type { Field } from "./field.ts";

const TOOL: ReadonlySet<string> = new Set(["type", "function"]);
const FUNCTION: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict"]);
const FLAT_TOOL: ReadonlySet<string> = new Set(["type", ...FUNCTION]);
const FLAT_CHOICE: ReadonlySet<string> = new Set(["type", "name"]);
/** OpenAI's form; no character of it needs an escape in JSON. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export type ToolForm = "nested" | "flat";

export function readTools(field: Field, toolsMax: number, form: ToolForm): ToolSpec[] {
  if (field.isAbsent) return [];
  const names = new Set<string>();
  return field.array(toolsMax).map((item) => {
    const tool = item.object();
    tool.allowOnly(form === "nested" ? TOOL : FLAT_TOOL);
    tool.field("type").oneOf(["function"]);
    const target = form === "nested" ? tool.field("function").object() : tool;
    if (form === "nested") target.allowOnly(FUNCTION);
    const nameField = target.field("name");
    const name = nameField.string();
    if (!NAME.test(name)) throw nameField.wrongValue("1 to 64 letters, digits, _ or -");
    if (names.has(name)) {
      throw badRequest("invalid_value", nameField.path, `two tools are called ${name}`);
    }
    names.add(name);
    const parameters = target.field("parameters");
    return {
      name,
      description: target.optional("description", (text) => text.string()),
      // Without parameters the function takes none.
      parameters: parameters.isAbsent ? NO_PARAMETERS : parameters.object() && parameters.value,
      strict: target.optional("strict", (strict) => strict.boolean()) ?? false,
      param: parameters.path,
    };
  });
}

const NO_PARAMETERS = { type: "object", properties: {}, additionalProperties: false } as const;

export function readToolChoice(
  field: Field,
  tools: readonly ToolSpec[],
  form: ToolForm,
): ToolChoice {
  if (field.isAbsent) return { kind: tools.length === 0 ? "none" : "auto" };
  const choice = readChoice(field, form);
  if (choice.kind === "none" || choice.kind === "auto") {
    return tools.length === 0 ? { kind: "none" } : choice;
  }
  if (tools.length === 0) {
    throw badRequest("invalid_value", field.path, "tool_choice asks for a tool, tools has none");
  }
  if (choice.kind === "function" && !tools.some(({ name }) => name === choice.name)) {
    const path = `${field.path}${form === "nested" ? ".function" : ""}.name`;
    throw badRequest("invalid_value", path, `no tool is called ${JSON.stringify(choice.name)}`);
  }
  return choice;
}

function readChoice(field: Field, form: ToolForm): ToolChoice {
  if (typeof field.value === "string") {
    return { kind: field.oneOf(["none", "auto", "required"]) };
  }
  const choice = field.object();
  choice.allowOnly(form === "nested" ? TOOL : FLAT_CHOICE);
  choice.field("type").oneOf(["function"]);
  const target = form === "nested" ? choice.field("function").object() : choice;
  return { kind: "function", name: target.field("name").string() };
}
