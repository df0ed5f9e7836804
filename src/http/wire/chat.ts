/** The body of `POST /v1/chat/completions`, from JSON to a request with every default filled in. */
import { badRequest } from "../../service/api-error.ts";
import {
  type ChatRequest,
  modelNamed,
  type ResponseFormat,
  type ToolChoice,
} from "../../service/chat-request.ts";
import type { Limits } from "../../service/limits.ts";
import { bodyObject, type Field, type ObjectField } from "./field.ts";
import { readMessages } from "./messages.ts";
import { readResponseFormat } from "./response-format.ts";
import { readToolChoice, readTools } from "./tools.ts";

/** Members that take effect. */
const USED = [
  ...["model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "n"],
  ...["seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs"],
  ...["top_logprobs", "response_format", "tools", "tool_choice", "stream", "stream_options"],
  ...["grammar", "svc", "store"],
];

/** Members that change nothing in the answer: taken, and named in `svc.ignored`. */
const HARMLESS = [
  ...["user", "metadata", "service_tier", "safety_identifier", "verbosity", "reasoning_effort"],
  ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"],
  ...["parallel_tool_calls", "modalities"],
];

/** Members that would change the answer, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  audio: "this server answers with text alone",
  prediction: "leave it out; the answer is the same without it",
  web_search_options: "use POST /v1/chat-grounded",
  functions: "use tools",
  function_call: "use tool_choice",
  moderation: "this server moderates nothing",
};

const KNOWN: ReadonlySet<string> = new Set([...USED, ...HARMLESS]);

/** @throws ApiError with the path of the member at fault. */
export function readChatRequest(body: unknown, limits: Limits): ChatRequest {
  const object = bodyObject(body);
  refuseUnsupported(object);
  object.allowOnly(KNOWN);
  const stream = object.optional("stream", (field) => field.boolean()) ?? false;
  const tools = readTools(object.field("tools"), limits.toolsMax, "nested");
  const toolChoice = readToolChoice(object.field("tool_choice"), tools, "nested");
  const svc = readExtension(object.field("svc"));
  const max = Number.MAX_SAFE_INTEGER;
  return {
    model: modelNamed(object.field("model").string()),
    messages: readMessages(object.field("messages"), limits.messagesMax),
    temperature: object.optional("temperature", (field) => field.number(0, 2)) ?? 0,
    topP: object.optional("top_p", (field) => field.number(0, 1)) ?? 1,
    maxTokens: readMaxTokens(object),
    n: object.optional("n", (field) => field.integer(1, limits.choicesMax)) ?? 1,
    seed: object.optional("seed", (field) => field.integer(-max, max)),
    stop: object.optional("stop", (field) => readStop(field, limits.stopsMax)) ?? [],
    presencePenalty: object.optional("presence_penalty", (field) => field.number(-2, 2)) ?? 0,
    frequencyPenalty: object.optional("frequency_penalty", (field) => field.number(-2, 2)) ?? 0,
    logitBias: object.optional("logit_bias", readLogitBias) ?? new Map(),
    topLogprobs: readTopLogprobs(object, limits.topLogprobsMax),
    format: readFormat(object, toolChoice, limits.schemaBytesMax),
    schemaInPrompt: svc.schemaInPrompt,
    tools,
    toolChoice,
    stream,
    includeUsage: readStreamOptions(object.field("stream_options"), stream),
    traced: svc.traced,
    stored: readStored(object.field("store"), stream),
    ignored: HARMLESS.filter((name) => !object.field(name).isAbsent && hasNoEffect(object, name)),
  };
}

/** `response_format`, or `grammar` as llama-server has it: GBNF that the answer is locked to. */
function readFormat(
  object: ObjectField,
  toolChoice: ToolChoice,
  schemaBytesMax: number,
): ResponseFormat {
  const format = readResponseFormat(object.field("response_format"), schemaBytesMax);
  const text = object.optional("grammar", (field) => field.string());
  if (text === null) return format;
  if (format.kind !== "text") {
    const message = "grammar and response_format would lock one answer twice; send one";
    throw badRequest("invalid_value", "grammar", message);
  }
  if (toolChoice.kind !== "none") {
    const message =
      'an answer locked to a grammar cannot be a tool call: send tool_choice "none" or no tools';
    throw badRequest("invalid_value", "grammar", message);
  }
  return { kind: "gbnf", text };
}

function refuseUnsupported(object: ObjectField): void {
  for (const [name, hint] of Object.entries(UNSUPPORTED)) {
    const field = object.field(name);
    if (!field.isAbsent) throw field.unsupported(hint);
  }
  const modalities = object.optional("modalities", (field) => field.array(8)) ?? [];
  for (const item of modalities) {
    if (item.string() !== "text") throw item.unsupported("this server answers with text alone");
  }
}

/** `parallel_tool_calls: false` and the like describe what happens anyway. */
function hasNoEffect(object: ObjectField, name: string): boolean {
  const { value } = object.field(name);
  return value !== false && name !== "modalities";
}

function readMaxTokens(object: ObjectField): number | null {
  const read = (name: string): number | null =>
    object.optional(name, (field) => field.integer(1, Number.MAX_SAFE_INTEGER));
  const [older, newer] = [read("max_tokens"), read("max_completion_tokens")];
  if (older !== null && newer !== null && older !== newer) {
    const message = "max_tokens and max_completion_tokens mean the same and differ; send one";
    throw badRequest("invalid_value", "max_completion_tokens", message);
  }
  return newer ?? older;
}

function readStop(field: Field, stopsMax: number): string[] {
  const fields = Array.isArray(field.value) ? field.array(stopsMax) : [field];
  return fields.map((item) => {
    const text = item.string();
    if (text === "") throw item.wrongValue("a text of at least one character");
    return text;
  });
}

function readLogitBias(field: Field): Map<number, number> {
  const biases = new Map<number, number>();
  for (const [name, bias] of field.object().entries()) {
    if (!/^(0|[1-9][0-9]{0,8})$/.test(name)) {
      const message = `${bias.path}: the names in logit_bias are token ids`;
      throw badRequest("invalid_value", bias.path, message);
    }
    biases.set(Number(name), bias.number(-100, 100));
  }
  return biases;
}

function readTopLogprobs(object: ObjectField, topMax: number): number | null {
  const isOn = object.optional("logprobs", (field) => field.boolean()) ?? false;
  const top = object.optional("top_logprobs", (field) => field.integer(0, topMax));
  if (top !== null && !isOn) {
    throw badRequest("invalid_value", "top_logprobs", "top_logprobs needs logprobs: true");
  }
  return isOn ? (top ?? 0) : null;
}

const STREAM_OPTIONS: ReadonlySet<string> = new Set(["include_usage", "include_obfuscation"]);

function readStreamOptions(field: Field, stream: boolean): boolean {
  if (field.isAbsent) return false;
  if (!stream) {
    throw badRequest("invalid_value", field.path, "stream_options needs stream: true");
  }
  const options = field.object();
  options.allowOnly(STREAM_OPTIONS);
  options.optional("include_obfuscation", (option) => option.boolean());
  return options.optional("include_usage", (option) => option.boolean()) ?? false;
}

function readStored(field: Field, stream: boolean): boolean {
  const isStored = !field.isAbsent && field.boolean();
  if (!isStored || !stream) return isStored;
  throw badRequest("invalid_value", field.path, "a stream is not kept: send store without stream");
}

const EXTENSION: ReadonlySet<string> = new Set(["tokens", "schema_in_prompt"]);

/** `svc: { tokens: true }`: what it asks for comes in a live stream alone (`chat-routes.ts`). */
function readExtension(field: Field): {
  readonly traced: boolean;
  readonly schemaInPrompt: boolean;
} {
  if (field.isAbsent) return { traced: false, schemaInPrompt: true };
  const extension = field.object();
  extension.allowOnly(EXTENSION);
  const read = (name: string): boolean | null =>
    extension.optional(name, (option) => option.boolean());
  return { traced: read("tokens") ?? false, schemaInPrompt: read("schema_in_prompt") ?? true };
}
