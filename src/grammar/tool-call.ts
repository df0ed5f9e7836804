/**
 * Tools → grammar: the answer is one call, `{"name":"NAME","arguments":{…}}`, with the arguments
 * locked to that tool's parameters; or, where the model may choose, text that does not begin with
 * `{`.
 */
import { sha256Hex } from "../crypto/hash.ts";
import { dialectOf, idKeywords } from "../schema/dialect.ts";
import { PLANS_MAX } from "../schema/limits.ts";
import { SchemaError } from "../schema/schema-error.ts";
import { compileSchema, type SchemaGrammar } from "./compile.ts";
import { Languages } from "./languages.ts";

export interface ToolSpec {
  readonly name: string;
  /** JSON Schema of the arguments; undefined for a tool that takes none. */
  readonly parameters: unknown;
  /** Whether parameters that cannot be enforced refuse the request. */
  readonly strict: boolean;
}

export class ToolCallGrammar {
  readonly kind = "tool-call";
  readonly id: string;
  readonly allowText: boolean;
  /** The calls alone. */
  readonly calls: SchemaGrammar;
  readonly annotations: readonly string[];
  /** JSON Pointers below `/tools` of parameters that any JSON object satisfies instead. */
  readonly unenforced: readonly string[];

  constructor(calls: SchemaGrammar, allowText: boolean, unenforced: readonly string[]) {
    this.id = sha256Hex(`tool-call,${allowText}\n${calls.id}`);
    this.calls = calls;
    this.allowText = allowText;
    this.annotations = calls.annotations.map(toolPointer);
    this.unenforced = unenforced;
  }
}

/**
 * @param tools at least one, names distinct.
 * @param languages as in `compileSchema`.
 * @throws SchemaError with a pointer from the document that has `tools`, as `/tools/0/function/…`.
 */
export function compileToolCall(
  tools: readonly ToolSpec[],
  options: { readonly allowText: boolean },
  languages = new Languages(),
): ToolCallGrammar {
  const unenforced: string[] = [];
  const branches = tools.map((tool, index) => {
    const refused = tool.strict ? null : refusalOf(tool.parameters, languages);
    if (refused !== null) unenforced.push(refusedPointer(index, refused));
    const parameters = refused === null ? resource(tool.parameters, index) : { type: "object" };
    return {
      type: "object",
      properties: { name: { const: tool.name }, arguments: objectsOnly(parameters) },
      required: ["name", "arguments"],
      additionalProperties: false,
    };
  });
  if (branches.length > PLANS_MAX) {
    throw new SchemaError(`at most ${PLANS_MAX} tools can be offered at once`, {
      code: "too_complex",
      pointer: "/tools",
      keyword: "",
    });
  }
  try {
    const calls = compileSchema({ anyOf: branches }, {}, languages);
    return new ToolCallGrammar(calls, options.allowText, unenforced);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { code, keyword, message } = error;
    throw new SchemaError(message, {
      code,
      keyword,
      pointer: toolPointer(error.pointer),
      cause: error,
    });
  }
}

/** Arguments are always an object, whatever the schema says. */
function objectsOnly(parameters: unknown): unknown {
  return { type: "object", allOf: [parameters] };
}

function refusalOf(parameters: unknown, languages: Languages): SchemaError | null {
  if (parameters === undefined) return null;
  try {
    compileSchema({ type: "object", allOf: [parameters] }, {}, languages);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
}

/** The parameters as a document of their own, so that `#/…` points into them. */
function resource(parameters: unknown, index: number): unknown {
  if (parameters === undefined) return { properties: {}, additionalProperties: false };
  if (typeof parameters !== "object" || parameters === null || Array.isArray(parameters)) {
    return parameters;
  }
  const dialect = dialectOf("$schema" in parameters ? parameters.$schema : undefined);
  const [keyword = "$id"] = idKeywords(dialect);
  return keyword in parameters ? parameters : { [keyword]: `urn:svc:tool:${index}`, ...parameters };
}

function parametersPointer(index: number | string): string {
  return `/tools/${index}/function/parameters`;
}

function refusedPointer(index: number, { pointer }: SchemaError): string {
  return `${parametersPointer(index)}${pointer.replace(/^\/allOf\/0/, "")}`;
}

function toolPointer(pointer: string): string {
  const match = /^\/anyOf\/(\d+)(?:\/properties\/arguments(?:\/allOf\/0)?)?(.*)$/s.exec(pointer);
  return match ? `${parametersPointer(match[1] as string)}${match[2]}` : "/tools";
}
