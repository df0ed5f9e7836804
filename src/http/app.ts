/** All routes behind the door. Each handler takes a call and gives an answer. */
import { Elysia } from "elysia";
import type { Limits } from "../service/limits.ts";
import { type AdminRoutesDeps, adminRoutes } from "./admin-routes.ts";
import { type AuditRoutesDeps, auditRoutes } from "./audit-routes.ts";
import { type ChatRoutesDeps, chatRoutes } from "./chat-routes.ts";
import { type ConsoleRoutesDeps, consoleRoutes } from "./console-routes.ts";
import { Door, type DoorDeps, type RequestInfo, type Routes } from "./door.ts";
import { type EmbeddingsRoutesDeps, embeddingsRoutes } from "./embeddings-routes.ts";
import { refusalOf } from "./error-answer.ts";
import { KeptRequests } from "./kept-requests.ts";
import { type KeyRoutesDeps, keyRoutes } from "./key-routes.ts";
import { type MetricsRoutesDeps, metricsRoutes } from "./metrics-routes.ts";
import { type PaymentRoutesDeps, paymentRoutes } from "./payment-routes.ts";
import { type ProcessRoutesDeps, processRoutes } from "./process-routes.ts";
import { Replays, type ReplaysDeps } from "./replays.ts";
import { type SearchRoutesDeps, searchRoutes } from "./search-routes.ts";
import { type SignUpRoutesDeps, signUpRoutes } from "./sign-up-routes.ts";
import type { SseDeps } from "./sse.ts";
import { type StateRoutesDeps, stateRoutes } from "./state-routes.ts";
import { type SystemRoutesDeps, systemRoutes } from "./system-routes.ts";

type RoutesDeps = ConsoleRoutesDeps &
  AdminRoutesDeps &
  KeyRoutesDeps &
  PaymentRoutesDeps &
  SignUpRoutesDeps &
  SystemRoutesDeps &
  MetricsRoutesDeps &
  AuditRoutesDeps &
  Omit<ProcessRoutesDeps & StateRoutesDeps & SearchRoutesDeps & EmbeddingsRoutesDeps, "replays"> &
  Omit<ChatRoutesDeps, "sse" | "replays" | "kept">;

export interface AppDeps extends Omit<DoorDeps, "bodyBytesMax">, RoutesDeps {
  readonly limits: Limits;
  readonly storedAnswers: ReplaysDeps["stored"];
}

export interface App {
  fetch(request: Request, info: RequestInfo): Promise<Response>;
  /** Every route, with `:name` for what varies. */
  readonly routes: Routes;
}

/** Endpoints that take records rather than chats. */
const RECORDS = /^\/v1\/(process|compose|state)(\/|$)/;

export function createApp(deps: AppDeps): App {
  const { chatBodyBytesMax, recordBodyBytesMax } = deps.limits;
  const door = new Door({
    ...deps,
    bodyBytesMax: (path) => (RECORDS.test(path) ? recordBodyBytesMax : chatBodyBytesMax),
  });
  const sse: SseDeps = {
    seal: deps.seal,
    keepAliveMs: deps.limits.keepAliveMs,
    refusalOf: (error, requestId) => refusalOf(error, requestId, deps.report),
  };
  const { storedAnswers: stored, nowMs } = deps;
  const keeping = { stored, keptMs: deps.limits.replayMs, nowMs };
  const replays = new Replays(keeping);
  const kept = new KeptRequests({ ...keeping, storage: deps.storage });
  let routes: Routes = [];
  const plugin = door.plugin(() => routes);
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .use(plugin)
    .use(systemRoutes(plugin, deps))
    .use(metricsRoutes(plugin, deps))
    .use(consoleRoutes(plugin, deps))
    .use(adminRoutes(plugin, deps))
    .use(keyRoutes(plugin, deps))
    .use(signUpRoutes(plugin, deps))
    .use(paymentRoutes(plugin, deps))
    .use(auditRoutes(plugin, deps))
    .use(processRoutes(plugin, { ...deps, replays }))
    .use(stateRoutes(plugin, { ...deps, replays }))
    .use(searchRoutes(plugin, { ...deps, replays }))
    .use(embeddingsRoutes(plugin, { ...deps, replays }))
    .use(chatRoutes(plugin, { ...deps, sse, replays, kept }));
  routes = app.routes.map(({ method, path }) => ({ method, path }));
  return {
    routes,
    fetch: (request, info) => door.answer(request, info, async (it) => app.handle(it)),
  };
}
