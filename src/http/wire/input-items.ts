/**
 * `input` of a response: a text, or items. Function calls and their outputs are items of their own
 * there; a chat has them in the turns of assistant and tool.
 */
import { badRequest } from "../../service/api-error.ts";
import type { ChatRequest } from "../../service/chat-request.ts";
import type { Field, ObjectField } from "./field.ts";

type Turn = ChatRequest["messages"][number];

const ROLES = ["system", "developer", "user", "assistant"] as const;
const MESSAGE: ReadonlySet<string> = new Set([
  ...["type", "role", "content"],
  // What clients send back with an earlier answer; none of it is part of the chat.
  ...["id", "status", "phase"],
]);
const CALL: ReadonlySet<string> = new Set([
  ...["type", "call_id", "name", "arguments"],
  ...["id", "status", "namespace", "caller", "parsed_arguments"],
]);
const OUTPUT: ReadonlySet<string> = new Set([
  ...["type", "call_id", "output"],
  ...["id", "status", "caller"],
]);
const TEXT_PARTS: readonly string[] = ["input_text", "output_text", "text"];
const PARTS_MAX = 10_000;

export function readInput(field: Field, itemsMax: number): Turn[] {
  if (typeof field.value === "string") return [{ role: "user", content: field.value }];
  const items = field.array(itemsMax);
  const turns: Turn[] = [];
  for (const item of items) readItem(item, turns);
  if (turns.length === 0) {
    throw badRequest("invalid_value", field.path, `${field.path} holds no message`);
  }
  return turns;
}

function readItem(field: Field, turns: Turn[]): void {
  const item = field.object();
  const type = item.optional("type", (it) => it.string()) ?? "message";
  if (type === "message") turns.push(readMessage(item));
  else if (type === "function_call") addCall(item, turns);
  else if (type === "function_call_output") turns.push(readOutput(item, turns));
  // What an earlier answer thought is no part of the next.
  else if (type !== "reasoning") {
    const known = "message, function_call, function_call_output and reasoning";
    const message = `${field.path} is of type ${JSON.stringify(type)}; there are ${known}`;
    throw badRequest("unsupported_value", `${field.path}.type`, message);
  }
}

function readMessage(item: ObjectField): Turn {
  item.allowOnly(MESSAGE);
  const role = item.field("role").oneOf(ROLES);
  const content = readText(item.field("content"));
  return { role: role === "developer" ? "system" : role, content };
}

/** Text, or parts that are text. */
function readText(field: Field): string {
  if (!Array.isArray(field.value)) return field.string();
  const texts = field.array(PARTS_MAX).map((part) => {
    const object = part.object();
    const type = object.field("type").string();
    if (TEXT_PARTS.includes(type)) return object.field("text").string();
    if (type === "refusal") return object.field("refusal").string();
    const message = `${part.path} is of type ${JSON.stringify(type)}; only text is supported`;
    throw badRequest("unsupported_value", `${part.path}.type`, message);
  });
  return texts.join("");
}

/** Calls that follow one another, or the assistant's words, are one turn. */
function addCall(item: ObjectField, turns: Turn[]): void {
  item.allowOnly(CALL);
  const call = {
    id: item.field("call_id").string(),
    name: item.field("name").string(),
    arguments: item.field("arguments").string(),
  };
  const last = turns.at(-1);
  if (last?.role !== "assistant") {
    turns.push({ role: "assistant", content: "", toolCalls: [call] });
    return;
  }
  turns[turns.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
}

function readOutput(item: ObjectField, turns: readonly Turn[]): Turn {
  item.allowOnly(OUTPUT);
  const idField = item.field("call_id");
  const toolCallId = idField.string();
  const content = readText(item.field("output"));
  const isKnown = turns.some(({ toolCalls }) => toolCalls?.some(({ id }) => id === toolCallId));
  if (isKnown) return { role: "tool", content, toolCallId };
  const message = `no function_call before this item has the call_id ${JSON.stringify(toolCallId)}`;
  throw badRequest("invalid_value", idField.path, message);
}
