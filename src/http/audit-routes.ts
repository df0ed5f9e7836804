/** A tenant's audit log, and the public checkpoints. */
import { Elysia } from "elysia";
import type { Audit } from "../service/audit.ts";
import { bytesAnswer, jsonAnswer, textAnswer } from "./answer.ts";
import { checkpointPage } from "./checkpoint-page.ts";
import { callerOf, type DoorPlugin } from "./door.ts";
import { page } from "./form.ts";
import { largeResponse } from "./large-response.ts";
import type { SealDeps } from "./seal.ts";
import { QueryReader } from "./wire/query.ts";

export interface AuditRoutesDeps {
  readonly audit: Audit;
  readonly seal: SealDeps;
}

const SLICE_ROWS = 100;
const SLICE_ROWS_MAX = 1000;
const APP_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** By the last part of a checkpoint file's name. */
const FILE_TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  ots: "application/vnd.opentimestamps.v1",
  tsr: "application/timestamp-reply",
};

export function auditRoutes(door: DoorPlugin, { audit, seal }: AuditRoutesDeps) {
  return new Elysia()
    .use(door)
    .get("/v1/audit", ({ call }) => {
      const { tenantId } = callerOf(call).identity;
      const query = new QueryReader(call.query, ["since", "limit", "app_id", "after"]);
      const slice = audit.slice(tenantId, {
        since: query.integer("since", 0, Number.MAX_SAFE_INTEGER) ?? 0,
        limit: query.integer("limit", 1, SLICE_ROWS_MAX) ?? SLICE_ROWS,
        appId: query.text("app_id", APP_ID),
        after: query.text("after", /^.+$/),
      });
      return textAnswer(slice, "application/json");
    })
    .get("/v1/audit/head", ({ call }) => {
      const { tenantId, appId } = callerOf(call).identity;
      const query = new QueryReader(call.query, ["app_id"]);
      return jsonAnswer(audit.head(tenantId, query.text("app_id", APP_ID) ?? appId));
    })
    .get("/v1/audit/export", async ({ call }) => {
      const { tenantId } = callerOf(call).identity;
      return largeResponse(seal, call, audit.exportOf(tenantId), {
        "content-type": "application/x-tar",
        "content-disposition": `attachment; filename="svc-export-${tenantId}.tar"`,
      });
    })
    .get("/v1/receipts/:request_id", ({ call, params }) => {
      const { tenantId } = callerOf(call).identity;
      return jsonAnswer(audit.receipt(tenantId, params.request_id));
    })
    .get("/audit", () => page(checkpointPage(audit.checkpointFacts())))
    .get("/audit/checkpoint/latest", () => jsonAnswer(audit.latestCheckpoint()))
    .get("/audit/checkpoint/verify", () => jsonAnswer(audit.verifyCheckpoints()))
    .get("/audit/checkpoint/:file", ({ params }) => {
      const extension = params.file.slice(params.file.lastIndexOf(".") + 1);
      const bytes = audit.checkpointFile(params.file);
      return bytesAnswer(bytes, FILE_TYPES[extension] ?? "text/plain; charset=utf-8", {});
    })
    .get("/audit/checkpoint", ({ call }) => {
      const query = new QueryReader(call.query, ["ts"]);
      return jsonAnswer(audit.checkpointAt(query.requiredInteger("ts")));
    });
}
