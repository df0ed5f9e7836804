/** Chat completions. */
import { Elysia } from "elysia";
import { badRequest } from "../service/api-error.ts";
import type { ChatStream } from "../service/chat.ts";
import type { ChatRequest } from "../service/chat-request.ts";
import type { Limits } from "../service/limits.ts";
import type { Caller, RecordedBody } from "../service/metered-call.ts";
import { recordedAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import type { Replays } from "./replays.ts";
import { bufferedAnswer, liveResponse, type SseDeps } from "./sse.ts";
import { readChatRequest } from "./wire/chat.ts";
import { parseJson, requireJson } from "./wire/json.ts";

export interface ChatRoutesDeps {
  readonly limits: Limits;
  readonly sse: SseDeps;
  readonly replays: Replays;
  readonly completeChat: (caller: Caller, request: ChatRequest) => Promise<RecordedBody>;
  readonly streamChat: (caller: Caller, request: ChatRequest) => Promise<ChatStream>;
}

export function chatRoutes(door: DoorPlugin, deps: ChatRoutesDeps) {
  return new Elysia().use(door).post("/v1/chat/completions", async ({ call }) => {
    const caller = callerOf(call);
    const request = readBody(call, deps.limits);
    const isWhole = !request.stream || isBuffered(call);
    if (!isWhole) return liveAnswer(deps, call, caller, request);
    return deps.replays.once(call, caller, async (known) => {
      if (!request.stream) return recordedAnswer(await deps.completeChat(known, request));
      return bufferedAnswer(await deps.streamChat(known, request), known.keep);
    });
  });
}

async function liveAnswer(
  deps: ChatRoutesDeps,
  call: Call,
  caller: Caller,
  request: ChatRequest,
): Promise<Response> {
  const left = new AbortController();
  const signal = AbortSignal.any([call.signal, left.signal]);
  const stream = await deps.streamChat({ ...caller, signal }, request);
  return liveResponse(deps.sse, call, stream, left);
}

function readBody(call: Call, limits: Limits): ChatRequest {
  requireJson(call.headers);
  const { chatJsonTokensMax: tokensMax, jsonDepthMax: depthMax } = limits;
  return readChatRequest(parseJson(call.body, { depthMax, tokensMax }), limits);
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
