/**
 * The door around the routes: what comes in is read before Elysia looks for a handler, what goes
 * out is sealed behind it, and no response gets past either.
 */
import { Elysia } from "elysia";
import { assert } from "../bytes/assert.ts";
import { ApiError } from "../service/api-error.ts";
import type { Caller } from "../service/metered-call.ts";
import type { Identity } from "../tenant/tenants.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import {
  type CredentialsDeps,
  hasCredentials,
  readIdentity,
  unauthenticated,
} from "./credentials.ts";
import { errorAnswer, refusalOf } from "./error-answer.ts";
import { METHODS, type Message, NO_BODY, readBody, readTarget } from "./receive.ts";
import { type SealDeps, sealAnswer } from "./seal.ts";

export interface DoorDeps extends CredentialsDeps {
  readonly seal: SealDeps;
  /** Counts a request of a key against its rate. @throws ApiError 429. */
  readonly enter: (identity: Identity) => void;
  /** Hears of credentials that were not taken. @returns what is answered in place of the 401. */
  readonly countFailed: (clientAddress: string | null) => ApiError | null;
  /** Names by which the server may be addressed; null: any. */
  readonly hosts: ReadonlySet<string> | null;
  readonly newRequestId: () => string;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** The largest body that a path takes. */
  readonly bodyBytesMax: (path: string) => number;
  /** Hears of every request. */
  readonly log: (
    level: "debug" | "info",
    event: "request",
    facts: Readonly<Record<string, string | number | null>>,
  ) => void;
  /** Hears of every failure that is not the caller's. */
  readonly report: (error: unknown, requestId: string) => void;
}

/** What the server knows about a request besides the request. */
export interface RequestInfo {
  /** The address that connected; null where it is not known. */
  readonly clientAddress: string | null;
  /** Called once the whole body is here: from now on it is the client who waits. */
  readonly onReceived?: () => void;
}

/** The routes as Elysia lists them. */
export type Routes = readonly { readonly method: string; readonly path: string }[];

/**
 * The request as Elysia can route it: told to take hosts of any length, it looks for the path
 * behind `http://`, and finds the second slash of `https://` (measured, 1.4.30). Handlers have all
 * else from their call.
 */
function routable(request: Request, path: string): Request {
  if (!request.url.startsWith("https:")) return request;
  return new Request(`http://localhost${path}`, { method: request.method });
}

interface Begun {
  readonly requestId: string;
  readonly startedMs: number;
}

interface Answered {
  readonly response: Response;
  /** Null where the request had no form that could be read. */
  readonly call: Call | null;
}

/** Gives handlers their call, takes an `Answer` from them, and seals it. */
export class Door {
  readonly #deps: DoorDeps;
  readonly #calls = new WeakMap<Request, Call>();

  constructor(deps: DoorDeps) {
    this.#deps = deps;
  }

  /** For the app that has the routes. @param routes asked when a request matches none. */
  plugin(routes: () => Routes) {
    const callOf = (request: Request): Call => {
      const call = this.#calls.get(request);
      assert(call !== undefined, "a request reached a handler past the door");
      return call;
    };
    return new Elysia({ name: "door" })
      .derive({ as: "global" }, ({ request }) => ({ call: callOf(request) }))
      .onError({ as: "global" }, ({ error, code, request }) => {
        const call = callOf(request);
        const known = code === "NOT_FOUND" ? noRoute(call, routes()) : error;
        return this.#errorAnswer(known, call.requestId, call);
      })
      .mapResponse({ as: "global" }, ({ responseValue, request }) => {
        if (responseValue instanceof Response) return responseValue;
        // One cast: handlers and `onError` return nothing else; Elysia's types cannot say so here.
        return sealAnswer(this.#deps.seal, callOf(request), responseValue as Answer);
      });
  }

  /** @param handle finds and runs the handler. */
  async answer(
    request: Request,
    info: RequestInfo,
    handle: (request: Request) => Promise<Response>,
  ): Promise<Response> {
    const { newRequestId, nowMs } = this.#deps;
    const begun = { requestId: newRequestId(), startedMs: nowMs() };
    const answered = await this.#answer(request, info, begun, handle);
    this.#logAccess(request, begun, answered);
    return answered.response;
  }

  async #answer(
    request: Request,
    info: RequestInfo,
    { requestId, startedMs }: Begun,
    handle: (request: Request) => Promise<Response>,
  ): Promise<Answered> {
    const { seal } = this.#deps;
    let call: Call | null = null;
    let bodyHash = NO_BODY.hash;
    const { method } = request;
    try {
      const target = readTarget(request, this.#deps.hosts);
      const message = await this.#readBody(request, target.path);
      info.onReceived?.();
      bodyHash = message.hash;
      const { signal, headers } = request;
      const { path, query } = target;
      const { bytes: body, refusal } = message;
      const { clientAddress } = info;
      const facts = { requestId, method, headers, signal, startedMs, clientAddress };
      const identity = await readIdentity(this.#deps, { request, target, message, requestId });
      call = { ...facts, path, query, body, bodyHash, identity };
      if (identity !== null && path.startsWith("/v1/")) this.#deps.enter(identity);
      if (refusal !== null) throw refusal;
      const routed = routable(request, path);
      this.#calls.set(routed, call);
      return { call, response: await handle(routed) };
    } catch (error) {
      const answer = this.#errorAnswer(error, requestId, call);
      const path = "/";
      const nobody = { requestId, method, path, bodyHash, identity: null };
      return { call, response: sealAnswer(seal, call ?? nobody, answer) };
    }
  }

  /** One line each: who, what, and what came of it; nothing of a body, a query or a header. */
  #logAccess({ method }: Request, { requestId, startedMs }: Begun, { call, response }: Answered) {
    const { log, nowMs } = this.#deps;
    const { status } = response;
    const identity = call?.identity ?? null;
    log(status < 400 ? "debug" : "info", "request", {
      request_id: requestId,
      method: METHODS.has(method) ? method : "?",
      // People put keys in strange places.
      path: call?.path.replaceAll(/sk-svc-[0-9A-Za-z]*/g, "sk-svc-…") ?? null,
      status,
      ms: Math.max(0, nowMs() - startedMs),
      tenant_id: identity?.tenantId ?? null,
      app_id: identity?.appId ?? null,
      key_id: identity?.keyId ?? null,
    });
  }

  async #readBody(request: Request, path: string): Promise<Message> {
    try {
      return await readBody(request, this.#deps.bodyBytesMax(path));
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw new ApiError("the body did not arrive whole", {
        status: 400,
        type: "invalid_request_error",
        code: "incomplete_body",
        param: null,
        cause,
      });
    }
  }

  #errorAnswer(error: unknown, requestId: string, call: Call | null): Answer {
    const refusal = refusalOf(error, requestId, this.#deps.report);
    const isFailed = refusal.status === 401 && call !== null && hasCredentials(call.headers);
    const instead = isFailed ? this.#deps.countFailed(call.clientAddress) : null;
    return errorAnswer(instead ?? refusal);
  }
}

export type DoorPlugin = ReturnType<Door["plugin"]>;

/** The caller of a billable or private endpoint. @throws ApiError 401. */
export function callerOf(call: Call): Caller {
  const { identity } = call;
  if (identity !== null) return { ...call, identity };
  throw unauthenticated(call.headers);
}

/** No route has this path, or those that have it take other methods. */
function noRoute({ method, path }: Call, routes: Routes): ApiError {
  const allowed = routes
    .filter((route) => pathPattern(route.path).test(path))
    .map((route) => route.method);
  if (allowed.length === 0) {
    return new ApiError(`there is no ${path} here`, {
      status: 404,
      type: "invalid_request_error",
      code: "unknown_url",
      param: null,
    });
  }
  if (allowed.includes("GET")) allowed.push("HEAD");
  const allow = [...new Set(allowed)].sort().join(", ");
  return new ApiError(`${path} takes ${allow}, not ${method}`, {
    status: 405,
    type: "invalid_request_error",
    code: "method_not_allowed",
    param: null,
    headers: { allow },
  });
}

function pathPattern(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part.startsWith(":")) return "[^/]+";
    return part.replaceAll(/[^A-Za-z0-9]/g, (character) => `\\${character}`);
  });
  return new RegExp(`^${parts.join("/")}$`);
}
