/**
 * OpenAI's own description of its answers, as an oracle: a folder beside the project holds it on
 * machines that develop it; elsewhere its checks are skipped, loudly.
 */
import { existsSync, readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";

const PATH = new URL("../../../shared/openai/chat-schemas.json", import.meta.url).pathname;

export type SchemaName =
  | "CreateChatCompletionResponse"
  | "CreateChatCompletionStreamResponse"
  | "CreateEmbeddingResponse"
  | "ErrorResponse";

/** Null where the description is not there. */
export class OpenAiSchemas {
  static open(): OpenAiSchemas | null {
    if (existsSync(PATH)) return new OpenAiSchemas(readFileSync(PATH, "utf8"));
    process.stderr.write("OpenAI's schemas are not here: answers are NOT checked against them\n");
    return null;
  }

  readonly #ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

  private constructor(text: string) {
    this.#ajv.addSchema(withNulls(JSON.parse(text)) as object, "openai");
  }

  /** @returns what is wrong with the value; empty where it is as described. */
  problems(name: SchemaName, value: unknown): string[] {
    const validate: ValidateFunction = this.#ajv.compile({
      $ref: `openai#/components/schemas/${name}`,
    });
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

/** OpenAPI 3.0 says `nullable` where JSON Schema lists null. */
function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNulls);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...members } = value as Record<string, unknown>;
  const schema = Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, withNulls(member)]),
  );
  return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
}
