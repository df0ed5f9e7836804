/** What monitoring reads, in the text format of Prometheus. */
import { Elysia } from "elysia";
import { secretsEqual } from "../crypto/hash.ts";
import { ApiError } from "../service/api-error.ts";
import { textAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import type { DoorPlugin } from "./door.ts";

/** Who may read them: anyone who reaches the server, nobody, or who has the key. */
export type MetricsAccess = "open" | "closed" | { readonly key: string };

export interface MetricsRoutesDeps {
  readonly metricsAccess: MetricsAccess;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

export function metricsRoutes(door: DoorPlugin, deps: MetricsRoutesDeps) {
  return new Elysia().use(door).get("/metrics", async ({ call }) => {
    assertMayRead(call, deps.metricsAccess);
    const { contentType, text } = await deps.metrics();
    return textAnswer(text, contentType);
  });
}

function assertMayRead({ headers }: Call, access: MetricsAccess): void {
  if (access === "open") return;
  const given = /^Bearer (.+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  // Compared even where there is no key: how long it takes says nothing.
  const isRight = secretsEqual(given, access === "closed" ? "" : access.key);
  if (isRight && access !== "closed") return;
  const message =
    "metrics need the header Authorization: Bearer and this server's metrics key " +
    "(SVC_METRICS_KEY); without a key they are read on a server that listens on 127.0.0.1 only";
  const rest = { type: "authentication_error", code: "invalid_metrics_key", param: null } as const;
  throw new ApiError(message, { status: 401, ...rest });
}
