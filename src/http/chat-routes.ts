/** Chats: as chat completions, and as responses. */
import { Elysia } from "elysia";
import { type ApiError, badRequest } from "../service/api-error.ts";
import type { ChatStream } from "../service/chat.ts";
import { CHAT_COMPLETIONS, type ChatForm } from "../service/chat-form.ts";
import type { ChatRequest } from "../service/chat-request.ts";
import type { Limits } from "../service/limits.ts";
import type { Caller, RecordedBody } from "../service/metered-call.ts";
import { responsesForm } from "../service/responses-form.ts";
import { type Answer, bytesAnswer, jsonAnswer, recordedAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import type { KeptRequests, Storage } from "./kept-requests.ts";
import type { Replays } from "./replays.ts";
import { bufferedAnswer, liveResponse, type SseDeps } from "./sse.ts";
import { readChatRequest } from "./wire/chat.ts";
import { Field } from "./wire/field.ts";
import { parseJson, requireJson } from "./wire/json.ts";
import { inResponsesWords, readResponsesRequest } from "./wire/responses.ts";

export interface ChatRoutesDeps {
  readonly limits: Limits;
  readonly sse: SseDeps;
  readonly replays: Replays;
  readonly kept: KeptRequests;
  readonly storage: Storage;
  readonly completeChat: (
    caller: Caller,
    request: ChatRequest,
    form: ChatForm,
  ) => Promise<RecordedBody>;
  readonly streamChat: (
    caller: Caller,
    request: ChatRequest,
    form: ChatForm,
  ) => Promise<ChatStream>;
}

export function chatRoutes(door: DoorPlugin, deps: ChatRoutesDeps) {
  const { limits } = deps;
  return new Elysia()
    .use(door)
    .post("/v1/chat/completions", ({ call }) => {
      const caller = callerOf(call);
      const request = readChatRequest(readBody(call, limits), limits);
      return answerChat(deps, call, caller, { request, form: CHAT_COMPLETIONS });
    })
    .get("/v1/requests", ({ call }) => {
      const { tenantId } = callerOf(call).identity;
      return jsonAnswer({ stored: deps.storage.isOn(tenantId) });
    })
    .put("/v1/requests", ({ call }) => {
      const { tenantId } = callerOf(call).identity;
      const body = new Field(readBody(call, limits), "").object();
      body.allowOnly(new Set(["stored"]));
      deps.storage.set(tenantId, body.field("stored").boolean());
      return jsonAnswer({ stored: deps.storage.isOn(tenantId) });
    })
    .get("/v1/requests/:request_id", ({ call, params }) => {
      const { tenantId } = callerOf(call).identity;
      const body = deps.kept.find(tenantId, params.request_id);
      return bytesAnswer(body, "application/json", {});
    })
    .post("/v1/responses", async ({ call }) => {
      const caller = callerOf(call);
      const { request, echo } = readResponsesRequest(readBody(call, limits), limits);
      try {
        return await answerChat(deps, call, caller, { request, form: responsesForm(echo) });
      } catch (error) {
        throw inResponsesWords(error);
      }
    });
}

/** What a caller asked, and how the answer is to be written. */
interface Asked {
  readonly request: ChatRequest;
  readonly form: ChatForm;
}

async function answerChat(
  deps: ChatRoutesDeps,
  call: Call,
  caller: Caller,
  asked: Asked,
): Promise<Answer | Response> {
  const { request, form } = asked;
  if (request.stored) deps.kept.assertMayKeep(caller.identity.tenantId);
  const isWhole = !request.stream || isBuffered(call);
  if (!isWhole) return liveAnswer(deps, call, caller, asked);
  if (request.traced) throw notLive();
  return deps.replays.once(call, caller, async (known) => {
    const whole = async (it: Caller): Promise<Answer> =>
      recordedAnswer(await deps.completeChat(it, request, form));
    if (request.stored) return deps.kept.keep(call, known, whole);
    if (!request.stream) return whole(known);
    return bufferedAnswer(await deps.streamChat(known, request, form), known.keep);
  });
}

async function liveAnswer(
  deps: ChatRoutesDeps,
  call: Call,
  caller: Caller,
  { request, form }: Asked,
): Promise<Response> {
  const left = new AbortController();
  const signal = AbortSignal.any([call.signal, left.signal]);
  const stream = await deps.streamChat({ ...caller, signal }, request, form);
  return liveResponse(deps.sse, call, stream, left);
}

/** How long a token took is never the same twice: an answer that is kept or compared has none. */
function notLive(): ApiError {
  const message =
    "svc.tokens needs a live stream: send stream: true, and neither an Idempotency-Key nor " +
    "X-Svc-Stream: buffered";
  return badRequest("invalid_value", "svc.tokens", message);
}

function readBody(call: Call, limits: Limits): unknown {
  requireJson(call.headers);
  const { chatJsonTokensMax: tokensMax, jsonDepthMax: depthMax } = limits;
  return parseJson(call.body, { depthMax, tokensMax });
}

/** `X-Svc-Stream` says where a stream's seal stands: in its headers, or behind its last event. */
function isBuffered({ headers }: Call): boolean {
  const mode = headers.get("x-svc-stream") ?? "live";
  // What may be sent again has to be kept whole.
  if (mode === "live") return headers.has("idempotency-key");
  if (mode === "buffered") return true;
  const message = `X-Svc-Stream can be live or buffered, not ${JSON.stringify(mode)}`;
  throw badRequest("invalid_value", null, message);
}
