/**
 * A chat's answer in the form of `POST /v1/responses`: a list of items, and for a stream one event
 * per step of each item.
 */
import { assert } from "../bytes/assert.ts";
import type { TokenLogprob } from "../runtime/request.ts";
import type { ApiError } from "./api-error.ts";
import type { Choice, ChoiceEnd, ChoiceEvent } from "./chat-choice.ts";
import type { ChatForm } from "./chat-form.ts";
import { type ChatFacts, callId, createdSeconds, svcBody, tokenBody } from "./chat-response.ts";
import type { Chunk, StreamHead } from "./chat-stream.ts";

/** Of the request, in the names of its wire. */
export interface ResponsesEcho {
  readonly instructions: string | null;
  readonly max_output_tokens: number | null;
  readonly metadata: unknown;
  readonly temperature: number;
  readonly top_p: number;
  readonly text: { readonly format: unknown };
  readonly tools: readonly object[];
  readonly tool_choice: unknown;
}

/** A form is for one answer: it numbers the events of its stream. */
export function responsesForm(echo: ResponsesEcho): ChatForm {
  let sequence = 0;
  const numbered = (type: string, members: object): Chunk => {
    const chunk = { type, sequence_number: sequence, ...members };
    sequence += 1;
    return chunk;
  };
  return {
    body(facts, [choice]) {
      assert(choice !== undefined, "a response has one answer");
      return wholeBody(echo, facts, choice, itemsOf(choice));
    },
    async *pieces(head, [events], factsOf) {
      assert(events !== undefined, "a response has one answer");
      const begun = beginning(echo, head);
      for (const type of ["response.created", "response.in_progress"]) {
        const chunk = numbered(type, { response: begun });
        yield { kind: "chunk", chunk, hasToken: false };
      }
      const writer = new ItemWriter(head, numbered);
      let end: ChoiceEnd | null = null;
      for await (const event of events) {
        if (event.kind === "end") end = event;
        else for (const chunk of writer.push(event)) yield { kind: "chunk", chunk, hasToken: true };
      }
      assert(end !== null, "an answer says how it ended");
      const facts = factsOf([end]);
      const chunks = writer.finish(end);
      const response = wholeBody(echo, facts, end, writer.items);
      const type = isCut(end) ? "response.incomplete" : "response.completed";
      yield { kind: "end", chunks: [...chunks, numbered(type, { response })], facts };
    },
    errorChunk: ({ code, message, param }: ApiError) => numbered("error", { code, message, param }),
  };
}

const isCut = ({ finishReason }: ChoiceEnd): boolean => finishReason === "length";

/** A response before its first token. */
function beginning(
  echo: ResponsesEcho,
  head: Pick<StreamHead, "requestId" | "createdMs" | "model">,
): Readonly<Record<string, unknown>> {
  return {
    id: `resp_${head.requestId.replace(/^req_/, "")}`,
    object: "response",
    created_at: createdSeconds(head),
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    model: head.model,
    output: [],
    parallel_tool_calls: false,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: false,
    truncation: "disabled",
    usage: null,
    user: null,
    ...echo,
  };
}

function wholeBody(
  echo: ResponsesEcho,
  facts: ChatFacts,
  end: ChoiceEnd,
  items: readonly Item[],
): object {
  const { promptTokens, completionTokens, cachedTokens } = facts.usage;
  return {
    ...beginning(echo, facts),
    status: isCut(end) ? "incomplete" : "completed",
    incomplete_details: isCut(end) ? { reason: "max_output_tokens" } : null,
    output: items.map((item) => itemBody(facts.requestId, item, statusOf(end))),
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: completionTokens,
      // Those of a reasoning model are among the output tokens, and not counted apart.
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
    },
    system_fingerprint: facts.fingerprint,
    svc: svcBody(facts),
  };
}

interface Item {
  readonly kind: "reasoning" | "message" | "call";
  /** What was thought or said, or a call's arguments; grows while it is written. */
  text: string;
  /** Of the function that is called. */
  readonly name: string;
  readonly logprobs: TokenLogprob[];
}

type Status = "in_progress" | "completed" | "incomplete";

const statusOf = (end: ChoiceEnd): Status => (isCut(end) ? "incomplete" : "completed");

function itemsOf(choice: Choice): Item[] {
  const plain = { name: "", logprobs: [] };
  const items: Item[] = [];
  if (choice.reasoning !== "") items.push({ ...plain, kind: "reasoning", text: choice.reasoning });
  if (choice.call !== null) {
    items.push({ ...plain, kind: "call", name: choice.call.name, text: choice.call.arguments });
  } else if (choice.content !== "" || items.length === 0) {
    const logprobs = [...(choice.logprobs ?? [])];
    items.push({ ...plain, kind: "message", text: choice.content, logprobs });
  }
  return items;
}

const ITEM_IDS = { reasoning: "rs", message: "msg", call: "fc" } as const;

function itemId(requestId: string, kind: Item["kind"]): string {
  return `${ITEM_IDS[kind]}_${requestId.replace(/^req_/, "")}`;
}

/** @param status a new item has nothing in it. */
function itemBody(requestId: string, item: Item, status: Status): object {
  const id = itemId(requestId, item.kind);
  const isNew = status === "in_progress";
  const parts = isNew ? [] : [partBody(item)];
  if (item.kind === "reasoning") {
    return { id, type: "reasoning", status, summary: [], content: parts };
  }
  if (item.kind === "message") {
    return { id, type: "message", status, role: "assistant", content: parts };
  }
  const text = isNew ? "" : item.text;
  const call_id = callId(requestId, 0);
  return { id, type: "function_call", status, call_id, name: item.name, arguments: text };
}

function partBody({ kind, text, logprobs }: Item): object {
  if (kind === "reasoning") return { type: "reasoning_text", text };
  return { type: "output_text", text, annotations: [], logprobs: logprobs.map(tokenBody) };
}

type Numbered = (type: string, members: object) => Chunk;

/** Turns what an answer consists of into items, each announced, written and finished. */
class ItemWriter {
  readonly #head: StreamHead;
  readonly #numbered: Numbered;
  readonly items: Item[] = [];

  constructor(head: StreamHead, numbered: Numbered) {
    this.#head = head;
    this.#numbered = numbered;
  }

  *push(event: Exclude<ChoiceEvent, { kind: "end" }>): Generator<Chunk, void> {
    const kind = KINDS[event.kind];
    if (this.items.at(-1)?.kind !== kind) {
      yield* this.#close("completed");
      yield* this.#open(kind, event.kind === "call" ? event.name : "");
    }
    if (event.kind === "call") return;
    const item = this.items.at(-1);
    assert(item !== undefined, "an item is open");
    const tokens = event.kind === "content" ? event.logprobs : [];
    item.text += event.text;
    item.logprobs.push(...tokens);
    const probabilities = kind === "message" ? { logprobs: tokens.map(tokenBody) } : {};
    const delta = { ...this.#place(kind), delta: event.text, ...probabilities };
    yield this.#numbered(`${EVENTS[kind]}.delta`, delta);
  }

  /** The events that end the last item. */
  finish(end: ChoiceEnd): Chunk[] {
    const opened = this.items.length === 0 ? [...this.#open("message", "")] : [];
    return [...opened, ...this.#close(statusOf(end))];
  }

  *#open(kind: Item["kind"], name: string): Generator<Chunk, void> {
    const item: Item = { kind, name, text: "", logprobs: [] };
    this.items.push(item);
    yield this.#numbered("response.output_item.added", {
      output_index: this.items.length - 1,
      item: itemBody(this.#head.requestId, item, "in_progress"),
    });
    if (kind === "call") return;
    const part = partBody(item);
    yield this.#numbered("response.content_part.added", { ...this.#place(kind), part });
  }

  *#close(status: Status): Generator<Chunk, void> {
    const item = this.items.at(-1);
    if (item === undefined) return;
    const { kind, text, name } = item;
    const place = this.#place(kind);
    if (kind === "call") {
      yield this.#numbered(`${EVENTS.call}.done`, { ...place, name, arguments: text });
    } else {
      const logprobs = kind === "message" ? { logprobs: item.logprobs.map(tokenBody) } : {};
      yield this.#numbered(`${EVENTS[kind]}.done`, { ...place, text, ...logprobs });
      const part = partBody(item);
      yield this.#numbered("response.content_part.done", { ...place, part });
    }
    yield this.#numbered("response.output_item.done", {
      output_index: this.items.length - 1,
      item: itemBody(this.#head.requestId, item, status),
    });
  }

  /** Where the open item stands. */
  #place(kind: Item["kind"]): object {
    const item_id = itemId(this.#head.requestId, kind);
    const output_index = this.items.length - 1;
    return kind === "call"
      ? { item_id, output_index }
      : { item_id, output_index, content_index: 0 };
  }
}

const KINDS = {
  content: "message",
  reasoning: "reasoning",
  call: "call",
  arguments: "call",
} as const satisfies Record<string, Item["kind"]>;

const EVENTS = {
  message: "response.output_text",
  reasoning: "response.reasoning_text",
  call: "response.function_call_arguments",
} as const satisfies Record<Item["kind"], string>;
