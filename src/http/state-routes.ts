/** Matter records. */
import { Elysia } from "elysia";
import { badRequest } from "../service/api-error.ts";
import type { Limits } from "../service/limits.ts";
import type { MatterState } from "../service/matter-state.ts";
import { emptyAnswer, jsonAnswer, recordedAnswer } from "./answer.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import { readRecords } from "./process-routes.ts";
import type { Replays } from "./replays.ts";
import { QueryReader } from "./wire/query.ts";

export interface StateRoutesDeps {
  readonly limits: Limits;
  readonly state: MatterState;
  readonly replays: Replays;
}

const ROWS = 100;
const ROWS_MAX = 1000;
const ANY_TEXT = /^.+$/s;

export function stateRoutes(door: DoorPlugin, { limits, state, replays }: StateRoutesDeps) {
  return new Elysia()
    .use(door)
    .post("/v1/state/matters", async ({ call }) => {
      const caller = callerOf(call);
      const body = readRecords(call, limits);
      const ifMatch = readIfMatch(call.headers);
      return replays.once(call, caller, async (known) =>
        recordedAnswer(await state.write(known, body, ifMatch)),
      );
    })
    .get("/v1/state/matters", ({ call }) =>
      jsonAnswer(state.list(callerOf(call).identity, call.query)),
    )
    .get("/v1/state/matters/:id", ({ call, params }) => {
      const { body, etag } = state.current(callerOf(call).identity, params.id);
      const headers = { etag: `"${etag}"` };
      const isKnown = call.headers.get("if-none-match") === headers.etag;
      return isKnown ? emptyAnswer(304, headers) : jsonAnswer(body, { headers });
    })
    .get("/v1/state/matters/:id/history", ({ call, params }) =>
      jsonAnswer(state.history(callerOf(call).identity, params.id)),
    )
    .get("/v1/state/matters/:id/versions/:n", ({ call, params }) => {
      const { identity } = callerOf(call);
      if (!/^[1-9][0-9]{0,8}$/.test(params.n)) {
        throw badRequest("invalid_value", null, "a version is a whole number, 1 or more");
      }
      return jsonAnswer(state.version(identity, params.id, Number(params.n)));
    })
    .get("/v1/state/search", ({ call }) => {
      const { identity } = callerOf(call);
      const query = new QueryReader(call.query, ["q", "limit"]);
      const text = query.text("q", ANY_TEXT);
      if (text === null) throw badRequest("missing_required_parameter", "q", "q is missing");
      return jsonAnswer(state.search(identity, text, limitOf(query)));
    })
    .get("/v1/state/parties", ({ call }) => {
      const { identity } = callerOf(call);
      const query = new QueryReader(call.query, ["q", "limit"]);
      return jsonAnswer(state.parties(identity, query.text("q", ANY_TEXT), limitOf(query)));
    })
    .get("/v1/state/head", ({ call }) => jsonAnswer(state.head(callerOf(call).identity)));
}

/** One entity tag, without its quotes, or `*`. */
function readIfMatch(headers: Headers): string | null {
  const given = headers.get("if-match");
  if (given === null || given === "*") return given;
  const tag = /^"([\x21\x23-\x7e]{1,100})"$/.exec(given)?.[1];
  if (tag !== undefined) return tag;
  throw badRequest("invalid_value", null, "If-Match takes one entity tag in double quotes, or *");
}

function limitOf(query: QueryReader): number {
  return query.integer("limit", 1, ROWS_MAX) ?? ROWS;
}
