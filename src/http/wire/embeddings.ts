/** The body of `POST /v1/embeddings`, from JSON to a request with every default filled in. */
import { ApiError, badRequest } from "../../service/api-error.ts";
import { EMBEDDING_MODEL, type EmbeddingsRequest } from "../../service/embeddings.ts";
import type { Limits } from "../../service/limits.ts";
import { bodyObject, type Field } from "./field.ts";

const KNOWN: ReadonlySet<string> = new Set([
  ...["model", "input", "encoding_format", "dimensions", "user"],
]);

const ENCODINGS = ["float", "base64"] as const;

/** @throws ApiError with the path of the member at fault. */
export function readEmbeddingsRequest(body: unknown, limits: Limits): EmbeddingsRequest {
  const object = bodyObject(body);
  object.allowOnly(KNOWN);
  const model = object.field("model").string();
  if (model !== EMBEDDING_MODEL) throw unknownModel(model);
  const input = object.field("input");
  const isList = Array.isArray(input.value);
  const fields = isList ? input.array(limits.embeddingInputsMax) : [input];
  if (fields.length === 0) throw badRequest("invalid_value", "input", "input is empty");
  const encoding = object.optional("encoding_format", (it) => it.oneOf(ENCODINGS));
  return {
    texts: fields.map(readText),
    isList,
    encoding: encoding ?? "float",
    dimensions: object.optional("dimensions", (it) => it.integer(1, Number.MAX_SAFE_INTEGER)),
    ignored: object.field("user").isAbsent ? [] : ["user"],
  };
}

function readText(field: Field): string {
  if (typeof field.value === "number" || Array.isArray(field.value)) {
    const hint = "token ids mean something else to every model: send the text";
    const message = `${field.path} is no text; ${hint}`;
    throw badRequest("unsupported_value", field.path, message);
  }
  const text = field.string();
  if (text === "") throw field.wrongValue("a text of at least one character");
  return text;
}

function unknownModel(name: string): ApiError {
  const shown = JSON.stringify(name);
  const message = `there is no embedding model ${shown}; it is called ${EMBEDDING_MODEL}`;
  const rest = { status: 404, type: "invalid_request_error", code: "model_not_found" } as const;
  return new ApiError(message, { ...rest, param: "model" });
}
