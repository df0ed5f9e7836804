/** The messages of a chat. */
import { badRequest } from "../../service/api-error.ts";
import type { ChatRequest } from "../../service/chat-request.ts";
import type { Field, ObjectField } from "./field.ts";

type Turn = ChatRequest["messages"][number];

const ROLES = ["system", "developer", "user", "assistant", "tool"] as const;
const MEMBERS: ReadonlySet<string> = new Set([
  ...["role", "content", "name", "tool_calls", "tool_call_id"],
  // What clients send back with an earlier answer; none of it is part of the chat.
  ...["refusal", "annotations", "audio", "function_call", "reasoning_content"],
]);
const TEXT_MEMBERS: ReadonlySet<string> = new Set(["type", "text"]);
const PARTS_MAX = 10_000;
const CALLS_MAX = 128;

export function readMessages(field: Field, messagesMax: number): Turn[] {
  const fields = field.array(messagesMax);
  if (fields.length === 0) throw badRequest("invalid_value", field.path, "messages is empty");
  /** Ids of the calls so far. */
  const calls = new Set<string>();
  return fields.map((message) => readMessage(message.object(), calls));
}

function readMessage(message: ObjectField, calls: Set<string>): Turn {
  message.allowOnly(MEMBERS);
  const role = message.field("role").oneOf(ROLES);
  const name = message.optional("name", (field) => field.string());
  const toolCalls = readToolCalls(message.field("tool_calls"), role);
  for (const { id } of toolCalls) calls.add(id);
  const toolCallId = readToolCallId(message.field("tool_call_id"), role, calls);
  return {
    role: role === "developer" ? "system" : role,
    content: message.optional("content", readContent) ?? "",
    ...(name === null ? {} : { name }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(toolCallId === null ? {} : { toolCallId }),
  };
}

/** Text, or parts that are text. */
function readContent(field: Field): string {
  if (!Array.isArray(field.value)) return field.string();
  const texts = field.array(PARTS_MAX).map((part) => {
    const object = part.object();
    const type = object.field("type").string();
    if (type !== "text") {
      const message = `${part.path} is of type ${JSON.stringify(type)}; only text is supported`;
      throw badRequest("unsupported_value", `${part.path}.type`, message);
    }
    object.allowOnly(TEXT_MEMBERS);
    return object.field("text").string();
  });
  return texts.join("");
}

function readToolCalls(field: Field, role: string): NonNullable<Turn["toolCalls"]> {
  if (field.isAbsent) return [];
  if (role !== "assistant") {
    throw badRequest("invalid_value", field.path, `a message of role ${role} has no tool_calls`);
  }
  return field.array(CALLS_MAX).map((item) => {
    const call = item.object();
    call.optional("type", (type) => type.oneOf(["function"]));
    const target = call.field("function").object();
    return {
      id: call.field("id").string(),
      name: target.field("name").string(),
      arguments: target.field("arguments").string(),
    };
  });
}

function readToolCallId(field: Field, role: string, calls: ReadonlySet<string>): string | null {
  if (role !== "tool") {
    if (field.isAbsent) return null;
    const message = `only a message of role tool has a tool_call_id, not one of role ${role}`;
    throw badRequest("invalid_value", field.path, message);
  }
  const id = field.string();
  if (calls.has(id)) return id;
  const message = `no tool call before this message has the id ${JSON.stringify(id)}`;
  throw badRequest("invalid_value", field.path, message);
}
