/** Embeddings. */
import { Elysia } from "elysia";
import type { EmbeddingsRequest } from "../service/embeddings.ts";
import type { Limits } from "../service/limits.ts";
import type { Caller, RecordedBody } from "../service/metered-call.ts";
import { recordedAnswer } from "./answer.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import type { Replays } from "./replays.ts";
import { readEmbeddingsRequest } from "./wire/embeddings.ts";
import { parseJson, requireJson } from "./wire/json.ts";

export interface EmbeddingsRoutesDeps {
  readonly limits: Limits;
  readonly replays: Replays;
  readonly createEmbeddings: (caller: Caller, request: EmbeddingsRequest) => Promise<RecordedBody>;
}

export function embeddingsRoutes(door: DoorPlugin, deps: EmbeddingsRoutesDeps) {
  const { chatJsonTokensMax: tokensMax, jsonDepthMax: depthMax } = deps.limits;
  return new Elysia().use(door).post("/v1/embeddings", ({ call }) => {
    const caller = callerOf(call);
    requireJson(call.headers);
    const body = parseJson(call.body, { depthMax, tokensMax });
    const request = readEmbeddingsRequest(body, deps.limits);
    return deps.replays.once(call, caller, async (known) =>
      recordedAnswer(await deps.createEmbeddings(known, request)),
    );
  });
}
