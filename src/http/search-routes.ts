/** Search, and grounded chat. */
import { Elysia } from "elysia";
import type { JsonValue } from "../bytes/canonical-json.ts";
import type { Limits } from "../service/limits.ts";
import type { Caller, RecordedBody } from "../service/metered-call.ts";
import type { Searches } from "../service/search.ts";
import { type Answer, recordedAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import { readRecords } from "./process-routes.ts";
import type { Replays } from "./replays.ts";

export interface SearchRoutesDeps {
  readonly limits: Limits;
  readonly searches: Searches;
  readonly replays: Replays;
}

export function searchRoutes(door: DoorPlugin, { limits, searches, replays }: SearchRoutesDeps) {
  const answer = (
    call: Call,
    run: (caller: Caller, body: JsonValue) => Promise<RecordedBody>,
  ): Promise<Answer> => {
    const caller = callerOf(call);
    const body = readRecords(call, limits);
    return replays.once(call, caller, async (known) => recordedAnswer(await run(known, body)));
  };
  return new Elysia()
    .use(door)
    .post("/v1/search", ({ call }) => answer(call, (caller, body) => searches.search(caller, body)))
    .post("/v1/chat-grounded", ({ call }) =>
      answer(call, (caller, body) => searches.grounded(caller, body)),
    );
}
