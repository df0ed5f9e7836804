/**
 * The body of `POST /v1/responses`, from JSON to the same request that a chat is. Nothing is stored
 * here, so everything that continues an earlier response is refused.
 */
import { ApiError } from "../../service/api-error.ts";
import { type ChatRequest, modelNamed } from "../../service/chat-request.ts";
import type { Limits } from "../../service/limits.ts";
import { wordRefusal } from "../../service/refusals.ts";
import type { ResponsesEcho } from "../../service/responses-form.ts";
import { bodyObject, type ObjectField } from "./field.ts";
import { readInput } from "./input-items.ts";
import { readResponseFormat } from "./response-format.ts";
import { readToolChoice, readTools } from "./tools.ts";

/** Members that take effect; `seed` is an extension, as chat completions have it. */
const USED = [
  ...["model", "input", "instructions", "text", "tools", "tool_choice", "temperature", "top_p"],
  ...["max_output_tokens", "stream", "stream_options", "include", "top_logprobs", "metadata"],
  "seed",
];

/** Members that change nothing in the answer: taken, and named in `svc.ignored`. */
const HARMLESS = [
  ...["user", "service_tier", "safety_identifier", "reasoning", "max_tool_calls"],
  ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"],
  ...["parallel_tool_calls", "store", "background", "truncation"],
];

const NOT_STORED = "answers are not stored here; send the earlier items in input";

/** Members that would change the answer, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  previous_response_id: NOT_STORED,
  conversation: NOT_STORED,
  prompt: "send the text itself, in instructions and input",
  context_management: "shorten input where it grows too long",
  moderation: "this server moderates nothing",
};

const KNOWN: ReadonlySet<string> = new Set([...USED, ...HARMLESS]);
const TEXT: ReadonlySet<string> = new Set(["format", "verbosity"]);
const STREAM_OPTIONS: ReadonlySet<string> = new Set(["include_obfuscation"]);
const INCLUDES_MAX = 16;
const LOGPROBS = "message.output_text.logprobs";

export interface ResponsesRequest {
  readonly request: ChatRequest;
  /** What the answer repeats of the request. */
  readonly echo: ResponsesEcho;
}

/** @throws ApiError with the path of the member at fault. */
export function readResponsesRequest(body: unknown, limits: Limits): ResponsesRequest {
  const object = bodyObject(body);
  refuseUnsupported(object);
  object.allowOnly(KNOWN);
  const request = readRequest(object, limits);
  const given = (name: string): unknown => object.field(name).value;
  const text = object.optional("text", (field) => field.object());
  return {
    request,
    echo: {
      instructions: object.optional("instructions", (field) => field.string()),
      max_output_tokens: request.maxTokens,
      metadata: object.optional("metadata", (field) => field.object() && field.value) ?? {},
      temperature: request.temperature,
      top_p: request.topP,
      text: { format: text?.field("format").value ?? { type: "text" } },
      tools: request.tools.map(toolBody),
      tool_choice: given("tool_choice") ?? (request.tools.length === 0 ? "none" : "auto"),
    },
  };
}

function readRequest(object: ObjectField, limits: Limits): ChatRequest {
  const stream = object.optional("stream", (field) => field.boolean()) ?? false;
  object.optional("stream_options", (field) => field.object().allowOnly(STREAM_OPTIONS));
  const tools = readTools(object.field("tools"), limits.toolsMax, "flat");
  const text = object.optional("text", (field) => field.object());
  text?.allowOnly(TEXT);
  const format = text?.optional("format", (it) => readResponseFormat(it, limits.schemaBytesMax));
  const max = Number.MAX_SAFE_INTEGER;
  const instructions = object.optional("instructions", (field) => field.string());
  const input = readInput(object.field("input"), limits.messagesMax);
  return {
    model: modelNamed(object.field("model").string()),
    messages: instructions === null ? input : [{ role: "system", content: instructions }, ...input],
    temperature: object.optional("temperature", (field) => field.number(0, 2)) ?? 0,
    topP: object.optional("top_p", (field) => field.number(0, 1)) ?? 1,
    maxTokens: object.optional("max_output_tokens", (field) => field.integer(1, max)),
    n: 1,
    seed: object.optional("seed", (field) => field.integer(-max, max)),
    stop: [],
    presencePenalty: 0,
    frequencyPenalty: 0,
    logitBias: new Map(),
    topLogprobs: readTopLogprobs(object, limits.topLogprobsMax),
    format: format ?? { kind: "text" },
    schemaInPrompt: true,
    tools,
    toolChoice: readToolChoice(object.field("tool_choice"), tools, "flat"),
    stream,
    includeUsage: true,
    traced: false,
    stored: false,
    ignored: ignoredIn(object, text),
  };
}

function refuseUnsupported(object: ObjectField): void {
  for (const [name, hint] of Object.entries(UNSUPPORTED)) {
    const field = object.field(name);
    if (!field.isAbsent) throw field.unsupported(hint);
  }
  const [store, background] = [object.field("store"), object.field("background")];
  if (store.value === true) throw store.unsupported("answers are not stored here; send false");
  if (background.value === true) throw background.unsupported("answers are not stored here");
  const truncation = object.optional("truncation", (field) => field.oneOf(["auto", "disabled"]));
  if (truncation === "auto") {
    throw object.field("truncation").unsupported("nothing of input is left out silently");
  }
}

/** Probabilities are asked for by name; a number of alternatives alone asks for them too. */
function readTopLogprobs(object: ObjectField, topMax: number): number | null {
  const top = object.optional("top_logprobs", (field) => field.integer(0, topMax));
  return top ?? (includesOf(object).includes(LOGPROBS) ? 0 : null);
}

function includesOf(object: ObjectField): string[] {
  return object.optional("include", (it) => it.array(INCLUDES_MAX))?.map((it) => it.string()) ?? [];
}

/** `store: false` and the like describe what happens anyway. */
function ignoredIn(object: ObjectField, text: ObjectField | null): string[] {
  const names = HARMLESS.filter((name) => {
    const field = object.field(name);
    return !field.isAbsent && field.value !== false && name !== "truncation";
  });
  if (text !== null && !text.field("verbosity").isAbsent) names.push("text.verbosity");
  if (includesOf(object).some((name) => name !== LOGPROBS)) names.push("include");
  return names;
}

function toolBody({ name, description, parameters, strict }: ChatRequest["tools"][number]): object {
  return { type: "function", name, description, parameters, strict };
}

/** What chat completions call otherwise. */
const WORDS: Readonly<Record<string, string>> = {
  messages: "input",
  max_tokens: "max_output_tokens",
  response_format: "text.format",
};

/** @returns a refusal of what was read, with the names that its caller knows. */
export function inResponsesWords(error: unknown): unknown {
  const refusal = wordRefusal(error);
  const param = refusal?.param ?? "";
  const own = Object.hasOwn(WORDS, param) ? WORDS[param] : undefined;
  if (refusal === null || own === undefined) return error;
  const { status, type, code, headers } = refusal;
  const message = refusal.message.replaceAll(param, own);
  return new ApiError(message, { status, type, code, headers, param: own, cause: error });
}
