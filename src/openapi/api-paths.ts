/** What tenants call: chats, processes, search, matters. */
import {
  anything,
  hash,
  inHeader,
  inPath,
  inQuery,
  listOf,
  object,
  oneOf,
  operation,
  orNull,
  type Paths,
  ref,
  text,
  whole,
} from "./parts.ts";

const listOfObjects = object({ object: { const: "list" }, data: listOf(anything) });
const maxResults = { type: "integer", minimum: 1, maximum: 10, default: 5 };
const limit = inQuery("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 });
const stream = inHeader("X-Svc-Stream", "live (default), or buffered: the seal is in the headers");
const matter = inPath("id");

const CHAT_PATHS: Paths = {
  "/v1/chat/completions": {
    post: operation({
      tag: "Chat",
      summary: "A chat completion, locked to a schema where one is given",
      access: "key",
      metered: true,
      parameters: [stream],
      body: ref("ChatCompletionRequest"),
      answer: ref("ChatCompletionResponse"),
      errors: [403, 404, 502],
    }),
  },
  "/v1/responses": {
    post: operation({
      tag: "Chat",
      summary: "A response: the newer form of a chat, without anything stored",
      access: "key",
      metered: true,
      parameters: [stream],
      body: object(
        { model: text, input: {}, instructions: text, text: anything, tools: listOf(anything) },
        ...["instructions", "text", "tools"],
      ),
      answer: object({ id: text, object: { const: "response" }, output: listOf(anything) }),
      errors: [403, 404, 502],
    }),
  },
  "/v1/embeddings": {
    post: operation({
      tag: "Embeddings",
      summary: "Unit vectors of texts",
      access: "key",
      metered: true,
      body: object(
        {
          model: { const: "svc-embed" },
          input: { anyOf: [text, listOf(text), listOf(whole), listOf(listOf(whole))] },
          encoding_format: { ...oneOf("float", "base64"), default: "float" },
          dimensions: whole,
        },
        ...["encoding_format", "dimensions"],
      ),
      answer: object({ object: { const: "list" }, data: listOf(anything), model: text }),
      errors: [403, 404, 502],
    }),
  },
  "/v1/chat-grounded": {
    post: operation({
      tag: "Search",
      summary: "An answer with its sources, under one receipt",
      access: "key",
      metered: true,
      body: object(
        {
          query: text,
          mode: { ...oneOf("auto", "always-search", "never-search"), default: "auto" },
          model: { type: "string", default: "svc-tier-b" },
          temperature: { type: "number", minimum: 0, maximum: 2, default: 0 },
          max_tokens: { type: "integer", minimum: 1, default: 500 },
          max_results: maxResults,
        },
        ...["mode", "model", "temperature", "max_tokens", "max_results"],
      ),
      answer: object({
        answer: text,
        citations: listOf(ref("Source")),
        search_used: { type: "boolean" },
        search_skip_reason: text,
        model: text,
        usage: object({ prompt_tokens: whole, completion_tokens: whole }),
        receipt: ref("Receipt"),
      }),
      errors: [403, 404, 502],
    }),
  },
  "/v1/search": {
    post: operation({
      tag: "Search",
      summary: "Search results with a receipt",
      access: "key",
      metered: true,
      body: object({ query: text, max_results: maxResults }, "max_results"),
      answer: object({
        query: text,
        provider: text,
        results: listOf(ref("Source")),
        receipt: ref("Receipt"),
      }),
      errors: [502],
    }),
  },
  "/v1/models": {
    get: operation({
      tag: "Chat",
      summary: "The tiers",
      access: "key",
      answer: object({ object: { const: "list" }, data: listOf(ref("Model")) }),
    }),
  },
  "/v1/models/{model}": {
    get: operation({
      tag: "Chat",
      summary: "One tier",
      access: "key",
      parameters: [inPath("model")],
      answer: ref("Model"),
      errors: [404],
    }),
  },
};

const PROCESS_PATHS: Paths = {
  "/v1/process": {
    get: operation({
      tag: "Processes",
      summary: "The processes, with the schema of each one's input",
      access: "public",
      answer: object({
        processes: listOf(
          object({ id: text, model_id: text, description: text, input_schema: anything }),
        ),
      }),
      errors: [429],
    }),
  },
  "/v1/process/{slug}": {
    post: operation({
      tag: "Processes",
      summary: "Runs a process: a pure function of its input",
      access: "key",
      metered: true,
      parameters: [
        inPath("slug"),
        inQuery("engine", text, "an older version of it, such as 1.0.0"),
      ],
      body: anything,
      answer: object({ receipt: ref("Receipt") }),
      errors: [404],
    }),
  },
  "/v1/compose": {
    post: operation({
      tag: "Processes",
      summary: "Runs a workflow of processes; their hashes form a chain",
      access: "key",
      metered: true,
      body: object({ steps: { type: "array", minItems: 1, items: anything } }),
      answer: object({
        object: { const: "composition" },
        steps: listOf(anything),
        chain_hash: hash,
        receipt: ref("Receipt"),
      }),
      errors: [404],
    }),
  },
};

const STATE_PATHS: Paths = {
  "/v1/state/matters": {
    post: operation({
      tag: "Matters",
      summary: "Writes one or many matter records; one row",
      access: "key",
      metered: true,
      parameters: [inHeader("If-Match", "the entity tag that the record must have, or *")],
      body: ref("Matter"),
      answer: object({ receipt: ref("Receipt") }),
      errors: [409, 412],
    }),
    get: operation({
      tag: "Matters",
      summary: "The app's records, filtered, in pages",
      access: "key",
      parameters: [
        ...["status", "practice_area", "person_id", "client", "party", "q", "fields"].map((name) =>
          inQuery(name, text),
        ),
        inQuery("updated_since", whole, "Unix milliseconds"),
        limit,
        inQuery("cursor", text, "next_cursor of the page before"),
      ],
      answer: object({
        object: { const: "list" },
        data: listOf(ref("Matter")),
        next_cursor: orNull(text),
        state_head: hash,
      }),
    }),
  },
  "/v1/state/matters/{id}": {
    get: operation({
      tag: "Matters",
      summary: "One record",
      access: "key",
      parameters: [
        matter,
        inHeader("If-None-Match", "an entity tag: an unchanged record is a 304"),
      ],
      answer: ref("Matter"),
      also: { "304": { description: "unchanged" } },
      errors: [404],
    }),
  },
  "/v1/state/matters/{id}/history": {
    get: operation({
      tag: "Matters",
      summary: "A record's versions",
      access: "key",
      parameters: [matter],
      answer: anything,
      errors: [404],
    }),
  },
  "/v1/state/matters/{id}/versions/{n}": {
    get: operation({
      tag: "Matters",
      summary: "A record as it was",
      access: "key",
      parameters: [matter, inPath("n", { type: "integer", minimum: 1 })],
      answer: anything,
      errors: [404],
    }),
  },
  "/v1/state/search": {
    get: operation({
      tag: "Matters",
      summary: "Records in which the words occur",
      access: "key",
      parameters: [{ ...inQuery("q", text), required: true }, limit],
      answer: listOfObjects,
    }),
  },
  "/v1/state/parties": {
    get: operation({
      tag: "Matters",
      summary: "The parties of all records",
      access: "key",
      parameters: [inQuery("q", text), limit],
      answer: listOfObjects,
    }),
  },
  "/v1/state/head": {
    get: operation({
      tag: "Matters",
      summary: "The hash over all records",
      access: "key",
      answer: object({
        object: { const: "state.head" },
        state_head: hash,
        matters: whole,
        versions: whole,
      }),
    }),
  },
};

export const API_PATHS: Paths = { ...CHAT_PATHS, ...PROCESS_PATHS, ...STATE_PATHS };
