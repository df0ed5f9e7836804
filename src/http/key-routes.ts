/** Keys that sign requests: an app registers, lists and revokes its own. */
import { Elysia } from "elysia";
import type { Limits } from "../service/limits.ts";
import type { SigningKeys } from "../service/signing-keys.ts";
import { keyBody } from "../tenant/key-wire.ts";
import { jsonAnswer } from "./answer.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import { readRecords } from "./process-routes.ts";
import { Field } from "./wire/field.ts";

export interface KeyRoutesDeps {
  readonly limits: Limits;
  readonly signingKeys: SigningKeys;
}

export function keyRoutes(door: DoorPlugin, { limits, signingKeys }: KeyRoutesDeps) {
  return new Elysia()
    .use(door)
    .post("/v1/keys/challenge", ({ call }) => {
      const { identity } = callerOf(call);
      const { challenge, expiresMs } = signingKeys.challenge(identity);
      const { tenantId: tenant_id, appId: app_id } = identity;
      return jsonAnswer({ challenge, tenant_id, app_id, expires_ts: expiresMs });
    })
    .post("/v1/keys", ({ call }) => {
      const { identity } = callerOf(call);
      const body = new Field(readRecords(call, limits), "").object();
      body.allowOnly(new Set(["public_key", "challenge", "signature"]));
      const [publicKey, challenge, signature] = [
        body.field("public_key").string(),
        body.field("challenge").string(),
        body.field("signature").string(),
      ];
      return jsonAnswer(
        keyBody(signingKeys.register(identity, { publicKey, challenge, signature })),
      );
    })
    .get("/v1/keys", ({ call }) =>
      jsonAnswer({ keys: signingKeys.ofApp(callerOf(call).identity).map(keyBody) }),
    )
    .delete("/v1/keys/:key_id", ({ call, params }) => {
      signingKeys.revoke(callerOf(call).identity, params.key_id);
      return jsonAnswer({ key_id: params.key_id, active: false });
    });
}
