/** `POST /v1/embeddings`: texts, admitted, turned into vectors, and recorded. */
import { utf8Encode } from "../bytes/utf8.ts";
import type { Embedder } from "../runtime/embedder.ts";
import { EngineError } from "../runtime/errors.ts";
import { type ApiError, badRequest } from "./api-error.ts";
import type { Caller, Meter, RecordedBody } from "./metered-call.ts";

/** The name that requests call it by, whatever model serves it. */
export const EMBEDDING_MODEL = "svc-embed";

export interface EmbeddingsRequest {
  readonly texts: readonly string[];
  /** Rather than one text. */
  readonly isList: boolean;
  readonly encoding: "float" | "base64";
  /** Null takes what the model has. */
  readonly dimensions: number | null;
  /** Parameters that were accepted and have no effect; `svc.ignored`. */
  readonly ignored: readonly string[];
}

export interface EmbeddingsDeps {
  readonly engine: { readonly ready: boolean; readonly embedder: Embedder | null };
  readonly meter: Meter;
  readonly nowMs: () => number;
}

/** @throws ApiError, EngineError, LedgerError, StoreError: then nothing is billed. */
export async function createEmbeddings(
  { engine, meter, nowMs }: EmbeddingsDeps,
  caller: Caller,
  request: EmbeddingsRequest,
): Promise<RecordedBody> {
  if (!engine.ready) throw new EngineError("the model is still loading", { code: "not_ready" });
  const { embedder } = engine;
  if (embedder === null) throw notConfigured();
  const { info } = embedder;
  checkDimensions(request, info.dimensions);
  return meter.run(caller.identity, async (admitted) => {
    const { vectors, promptTokens } = await embedder
      .embed(request.texts, caller.signal)
      .catch((error: unknown) => {
        throw tooLong(error, request) ?? error;
      });
    const ms = Math.max(0, nowMs() - caller.startedMs);
    const { ignored } = request;
    const body = {
      object: "list",
      data: vectors.map((vector, index) => ({
        object: "embedding",
        index,
        embedding: request.encoding === "float" ? numbersOf(vector) : base64Of(vector),
      })),
      model: EMBEDDING_MODEL,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
      system_fingerprint: info.fingerprint,
      svc: {
        latency_ms: ms,
        request_id: caller.requestId,
        deterministic: info.deterministic,
        ...(ignored.length === 0 ? {} : { ignored }),
      },
    };
    const work = {
      outputHash: null,
      deterministic: info.deterministic,
      engine: `${info.model.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, 80)}@${info.fingerprint}`,
      model: EMBEDDING_MODEL,
      promptTokens,
      completionTokens: 0,
      ms,
    };
    return meter.recordBody(admitted, caller, work, utf8Encode(JSON.stringify(body)));
  });
}

function notConfigured(): ApiError {
  const message =
    "this server has no embedding model: start it with --embeddings MODEL (SVC_EMBEDDINGS), the " +
    "path of a GGUF or a name of kind embedding in models/manifest.json";
  return badRequest("no_embedding_model", "model", message);
}

/** Cut vectors mean something only for models that were trained to be cut. */
function checkDimensions({ dimensions }: EmbeddingsRequest, known: number): void {
  if (dimensions === null || dimensions === known) return;
  const message = `this model's vectors have ${known} numbers; leave dimensions out`;
  throw badRequest("unsupported_value", "dimensions", message);
}

function tooLong(error: unknown, { isList }: EmbeddingsRequest): ApiError | null {
  if (!(error instanceof EngineError) || error.code !== "context_length_exceeded") return null;
  const param = isList ? `input[${error.details["index"]}]` : "input";
  return badRequest("context_length_exceeded", param, error.message);
}

/** Nine digits give back the same 32 bits. */
function numbersOf(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(9)));
}

/** Little endian, as OpenAI's clients read it. */
function base64Of(vector: Float32Array): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return Buffer.from(bytes.buffer).toString("base64");
}
