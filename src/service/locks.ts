/**
 * From what a request asks for to the grammar that its answer is locked to. Compiled grammars are
 * kept, each tenant's apart: how long a request takes must not tell what others have sent.
 */
import { assert } from "../bytes/assert.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { compileSchema, type SchemaGrammar } from "../grammar/compile.ts";
import { compileGbnf } from "../grammar/gbnf-compile.ts";
import { GbnfError } from "../grammar/gbnf-error.ts";
import type { Grammar } from "../grammar/grammar.ts";
import { Languages } from "../grammar/languages.ts";
import { compileToolCall } from "../grammar/tool-call.ts";
import { SchemaError } from "../schema/schema-error.ts";
import { type ApiError, badRequest } from "./api-error.ts";
import type { ChatRequest, ResponseFormat, ToolSpec } from "./chat-request.ts";
import { schemaRefusal } from "./refusals.ts";

/** What an answer is locked to, and what the caller is told about that. */
export interface Lock {
  /** Null leaves the answer free. */
  readonly grammar: Grammar | null;
  /** For the prompt; null where a schema has no part in the answer. */
  readonly schema: unknown;
  /** The schema that was asked for is enforced, whole. */
  readonly enforced: boolean;
  /** JSON Pointers of keywords that constrain nothing. */
  readonly annotations: readonly string[];
  /** JSON Pointers of what could not be enforced; only without `strict`. */
  readonly unenforced: readonly string[];
}

const FREE: Lock = {
  grammar: null,
  schema: null,
  enforced: false,
  annotations: [],
  unenforced: [],
};

export class Locks {
  readonly #grammars: Recent<Grammar>;
  /** By tenant. */
  readonly #languages = new Recent<Languages>(TENANTS_MAX, () => true);

  /** @param keptMax grammars kept at once. */
  constructor(keptMax: number) {
    this.#grammars = new Recent(keptMax, (grammar) => !isOvergrown(grammar));
  }

  /** Grammars that were at hand, and that had to be compiled or refused. */
  get counts(): { readonly hits: number; readonly misses: number } {
    const { hits, misses } = this.#grammars;
    return { hits, misses };
  }

  /**
   * @throws ApiError for a strict schema, or strict tool, that cannot be enforced, with its JSON
   *   Pointer.
   */
  of(tenantId: string, { format, tools, toolChoice }: ChatRequest): Lock {
    if (toolChoice.kind === "none") return this.#ofFormat(tenantId, format);
    if (toolChoice.kind === "auto") {
      if (format.kind !== "text") throw twoLocks();
      return this.#ofTools(tenantId, tools, true);
    }
    const offered =
      toolChoice.kind === "required" ? tools : tools.filter(({ name }) => name === toolChoice.name);
    return this.#ofTools(tenantId, offered, false);
  }

  #ofFormat(tenantId: string, format: ResponseFormat): Lock {
    if (format.kind === "text") return FREE;
    if (format.kind === "gbnf") return this.#ofGbnf(tenantId, format.text);
    if (format.kind === "json_object") return this.#anyObject(null, []);
    const { schema, strict, param } = format;
    try {
      const grammar = this.#schema(tenantId, schema, "closed");
      const { annotations } = grammar;
      return { grammar, schema, enforced: true, annotations, unenforced: [] };
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      if (strict || !isLimitOfOurs(error)) throw schemaRefusal(error, param);
      return this.#anyObject(schema, [error.pointer]);
    }
  }

  #ofGbnf(tenantId: string, text: string): Lock {
    try {
      const grammar = this.#keep(`${tenantId} gbnf\n${text}`, () => compileGbnf(text));
      return { grammar, schema: null, enforced: true, annotations: [], unenforced: [] };
    } catch (error) {
      if (!(error instanceof GbnfError)) throw error;
      throw badRequest("invalid_value", "grammar", error.message);
    }
  }

  #ofTools(tenantId: string, tools: readonly ToolSpec[], allowText: boolean): Lock {
    const texts = JSON.stringify([tools, allowText]);
    try {
      const grammar = this.#keep(`${tenantId} tools\n${texts}`, () =>
        compileToolCall(tools, { allowText }, this.#languagesOf(tenantId)),
      );
      assert(grammar.kind === "tool-call", "a grammar is kept under what it was made from");
      const renumber = (pointer: string): string => pointerInRequest(pointer, tools);
      const annotations = grammar.annotations.map(renumber);
      const unenforced = grammar.unenforced.map(renumber);
      return { grammar, schema: null, enforced: unenforced.length === 0, annotations, unenforced };
    } catch (error) {
      if (error instanceof SchemaError) throw toolRefusal(error, tools);
      throw error;
    }
  }

  #anyObject(schema: unknown, unenforced: readonly string[]): Lock {
    const grammar = this.#schema("", { type: "object" }, "open");
    return { grammar, schema, enforced: false, annotations: [], unenforced };
  }

  #schema(tenantId: string, schema: unknown, objects: "closed" | "open"): SchemaGrammar {
    const source = `${tenantId} ${objects}\n${JSON.stringify(schema)}`;
    const grammar = this.#keep(source, () =>
      compileSchema(schema, { objects }, this.#languagesOf(tenantId)),
    );
    assert(grammar.kind === "schema", "a grammar is kept under what it was made from");
    return grammar;
  }

  /** @param source as text: the order of properties counts, so it is not canonical. */
  #keep(source: string, compile: () => Grammar): Grammar {
    return this.#grammars.of(sha256Hex(source), compile);
  }

  /** What a tenant's schemas have in common with each other. */
  #languagesOf(tenantId: string): Languages {
    return this.#languages.of(tenantId, () => new Languages());
  }
}

/** Tenants whose languages are kept at once. */
const TENANTS_MAX = 32;

function isOvergrown(grammar: Grammar): boolean {
  if (grammar.kind === "cfg") return false;
  return (grammar.kind === "schema" ? grammar : grammar.calls).isOvergrown;
}

/** So many values, those not asked for longest going first. */
class Recent<V> {
  readonly #max: number;
  /** Else it is made again. */
  readonly #isFit: (value: V) => boolean;
  readonly #kept = new Map<string, V>();
  hits = 0;
  misses = 0;

  constructor(max: number, isFit: (value: V) => boolean) {
    this.#max = max;
    this.#isFit = isFit;
  }

  of(key: string, make: () => V): V {
    const kept = this.#kept.get(key);
    const known = kept !== undefined && this.#isFit(kept) ? kept : undefined;
    if (known === undefined) this.misses += 1;
    else this.hits += 1;
    const value = known ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#max && oldest !== undefined) this.#kept.delete(oldest);
    return value;
  }
}

function twoLocks(): ApiError {
  const message =
    'an answer cannot be a tool call or else follow response_format: send tool_choice "none" ' +
    'for an answer in this format, "required" for a call, or leave response_format out';
  return badRequest("unsupported_value", "response_format", message);
}

/** In pointers and errors, `/tools/0` is the first of the tools that were compiled. */
const TOOL_POINTER = /^\/tools\/(\d+)\/function\/parameters(.*)$/s;

/** The same place in the request's own list; a named tool is compiled alone. */
function pointerInRequest(pointer: string, tools: readonly ToolSpec[]): string {
  const [, index, rest] = TOOL_POINTER.exec(pointer) ?? [];
  const param = tools[Number(index)]?.param;
  if (param === undefined) return pointer;
  return `/${param.replace("[", "/").replace("]", "").replaceAll(".", "/")}${rest ?? ""}`;
}

function toolRefusal(error: SchemaError, tools: readonly ToolSpec[]): ApiError {
  const [, index, rest] = TOOL_POINTER.exec(error.pointer) ?? [];
  const tool = tools[Number(index)];
  return schemaRefusal(error, tool?.param ?? "tools", rest ?? "");
}

/** A schema that the standard itself refuses is refused whatever `strict` says. */
function isLimitOfOurs({ code }: SchemaError): boolean {
  return code === "unsupported_keyword" || code === "too_complex";
}
