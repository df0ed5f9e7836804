/** Processes and workflows. */
import { Elysia } from "elysia";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { badRequest } from "../service/api-error.ts";
import type { Limits } from "../service/limits.ts";
import type { Processes } from "../service/processes.ts";
import { jsonAnswer, recordedAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import type { Replays } from "./replays.ts";
import { parseJson, requireJson } from "./wire/json.ts";
import { QueryReader } from "./wire/query.ts";

export interface ProcessRoutesDeps {
  readonly limits: Limits;
  readonly processes: Processes;
  readonly replays: Replays;
}

export function processRoutes(door: DoorPlugin, deps: ProcessRoutesDeps) {
  const { limits, processes, replays } = deps;
  return new Elysia()
    .use(door)
    .get("/v1/process", () => jsonAnswer({ processes: processes.catalog }))
    .post("/v1/process/:slug", async ({ call, params }) => {
      const caller = callerOf(call);
      const version = new QueryReader(call.query, ["engine"]).text("engine", /^\d+\.\d+\.\d+$/);
      const input = readRecords(call, limits);
      return replays.once(call, caller, async (known) =>
        recordedAnswer(await processes.run(known, params.slug, version, input)),
      );
    })
    .post("/v1/compose", async ({ call }) => {
      const caller = callerOf(call);
      const body = readRecords(call, limits);
      return replays.once(call, caller, async (known) =>
        recordedAnswer(await processes.compose(known, body)),
      );
    });
}

/** A body of records: JSON under the larger limits. @throws ApiError for what is no object. */
export function readRecords({ headers, body }: Call, limits: Limits): JsonValue {
  requireJson(headers);
  const { recordJsonTokensMax: tokensMax, jsonDepthMax: depthMax } = limits;
  const value = parseJson(body, { depthMax, tokensMax });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest("invalid_type", null, "the body must be a JSON object");
  }
  // One cast: what the parser gave is JSON.
  return value as JsonValue;
}
