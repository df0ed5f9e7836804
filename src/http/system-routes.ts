/** Liveness, readiness, identity, models and attestation keys. */
import { Elysia } from "elysia";
import { openApiDocument } from "../openapi/document.ts";
import { ApiError } from "../service/api-error.ts";
import { identityBody, type System } from "../service/system.ts";
import { jsonAnswer, textAnswer } from "./answer.ts";
import { callerOf, type DoorPlugin } from "./door.ts";

export interface SystemRoutesDeps {
  readonly system: System;
  /** PEM. */
  readonly attestationKey: string;
  /** The response of `GET /attestation/keys`. */
  readonly attestationKeys: () => unknown;
}

export function systemRoutes(door: DoorPlugin, deps: SystemRoutesDeps) {
  const { system } = deps;
  return new Elysia()
    .use(door)
    .get("/openapi.json", () => jsonAnswer(openApiDocument(system.version)))
    .get("/health", () => jsonAnswer(system.health()))
    .get("/ready", () => {
      const readiness = system.readiness();
      return jsonAnswer(readiness, { status: readiness.status === "ready" ? 200 : 503 });
    })
    .get("/attestation.pub", () => textAnswer(deps.attestationKey, "application/x-pem-file"))
    .get("/attestation/keys", () => jsonAnswer(deps.attestationKeys()))
    .get("/v1/me", ({ call }) => jsonAnswer(identityBody(callerOf(call).identity)))
    .get("/v1/models", ({ call }) => {
      callerOf(call);
      return jsonAnswer({ object: "list", data: system.models() });
    })
    .get("/v1/models/:model", ({ call, params }) => {
      callerOf(call);
      const found = system.models().find(({ id }) => id === params.model);
      if (found === undefined) throw unknownModel(params.model, system);
      return jsonAnswer(found);
    });
}

function unknownModel(model: string, system: System): ApiError {
  const names = system.models().map(({ id }) => id);
  return new ApiError(`there is no model ${model}; the models are ${names.join(" and ")}`, {
    status: 404,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}
