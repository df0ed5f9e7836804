/** The operator's endpoints. Every one of them asks for the admin key first. */
import { Elysia } from "elysia";
import { type Admin, pageOf } from "../service/admin.ts";
import type { Limits } from "../service/limits.ts";
import { type UsageLine, type UsageQuery, usageLineId } from "../service/usage.ts";
import { createdKeyBody, keyBody } from "../tenant/key-wire.ts";
import type { Package } from "../tenant/packages.ts";
import type { TenantFacts } from "../tenant/tenant-list.ts";
import { type Answer, jsonAnswer, recordedAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import type { DoorPlugin } from "./door.ts";
import { readRecords } from "./process-routes.ts";
import { Field, type ObjectField } from "./wire/field.ts";
import { QueryReader } from "./wire/query.ts";

export interface AdminRoutesDeps {
  readonly limits: Limits;
  readonly admin: Admin;
  readonly usage: (query: UsageQuery) => Promise<UsageLine[]>;
}

const ITEMS = 100;
const ITEMS_MAX = 1000;
const TENANT_ID = /^t_[0-9A-HJKMNP-TV-Z]{26}$/;
const APP_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const USAGE_ID = /^[A-Za-z0-9_~./:@+ -]{1,500}$/;
const ANY_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function adminRoutes(door: DoorPlugin, deps: AdminRoutesDeps) {
  const { admin } = deps;
  const enter = (call: Call): void => admin.assertKey(call.headers.get("x-admin-key"));
  const done = async (call: Call, value: unknown): Promise<Answer> =>
    recordedAnswer(await admin.record(call, value));
  return new Elysia()
    .use(door)
    .get("/admin/keys", ({ call }) => {
      enter(call);
      const query = new QueryReader(call.query, ["tenant_id", ...PAGE]);
      const tenantId = query.text("tenant_id", TENANT_ID);
      const { items, next } = admin.keys(tenantId, ...pageParameters(query));
      return jsonAnswer({ keys: items.map(keyBody), next });
    })
    .post("/admin/keys", ({ call }) => {
      enter(call);
      const body = readBody(call, deps.limits, ["tenant", "app", "package_id"]);
      const options = {
        tenant: body.field("tenant").string(),
        app: body.optional("app", (field) => field.string()),
        packageId: body.optional("package_id", (field) => field.string()),
      };
      return done(call, createdKeyBody(admin.createKey(options)));
    })
    .delete("/admin/keys/:key_id", ({ call, params }) => {
      enter(call);
      admin.revokeKey(params.key_id);
      return done(call, { key_id: params.key_id, active: false });
    })
    .get("/admin/usage", async ({ call }) => {
      enter(call);
      const names = ["tenant_id", "app_id", "since", "until", ...PAGE];
      const query = new QueryReader(call.query, names);
      const lines = await deps.usage({
        tenantId: query.text("tenant_id", TENANT_ID),
        appId: query.text("app_id", APP_ID),
        sinceMs: query.integer("since", 0, Number.MAX_SAFE_INTEGER) ?? 0,
        untilMs: query.integer("until", 0, Number.MAX_SAFE_INTEGER) ?? Number.MAX_SAFE_INTEGER,
      });
      const { items, next } = pageOf(lines, usageLineId, ...pageParameters(query, USAGE_ID));
      return jsonAnswer({ usage: items, next });
    })
    .use(tenantRoutes(door, deps, enter, done))
    .use(packageRoutes(door, deps, enter, done));
}

type Enter = (call: Call) => void;
type Done = (call: Call, value: unknown) => Promise<Answer>;

function tenantRoutes(door: DoorPlugin, deps: AdminRoutesDeps, enter: Enter, done: Done) {
  const { admin, limits } = deps;
  return new Elysia()
    .use(door)
    .get("/admin/tenants", ({ call }) => {
      enter(call);
      const { items, next } = admin.tenants(...pageParameters(new QueryReader(call.query, PAGE)));
      return jsonAnswer({ tenants: items.map(tenantBody), next });
    })
    .put("/admin/tenants/:tenant_id/package", ({ call, params }) => {
      enter(call);
      const body = readBody(call, limits, ["package_id", "cycle_anchor_ms"]);
      const packageId = body.optional("package_id", (field) => field.string());
      const anchorMs = body.optional("cycle_anchor_ms", wholeOf);
      admin.setPackage(params.tenant_id, packageId, anchorMs);
      return done(call, { tenant_id: params.tenant_id, package_id: packageId });
    })
    .put("/admin/tenants/:tenant_id/requests", ({ call, params }) => {
      enter(call);
      const stored = readBody(call, limits, ["stored"]).field("stored").boolean();
      admin.setStorage(params.tenant_id, stored);
      return done(call, { tenant_id: params.tenant_id, stored });
    })
    .post("/admin/tenants/:tenant_id/secret", ({ call, params }) => {
      enter(call);
      const hmacSecret = admin.rotateSecret(params.tenant_id);
      return done(call, { tenant_id: params.tenant_id, hmac_secret: hmacSecret });
    });
}

function packageRoutes(door: DoorPlugin, deps: AdminRoutesDeps, enter: Enter, done: Done) {
  const { admin, limits } = deps;
  return new Elysia()
    .use(door)
    .get("/admin/packages", ({ call }) => {
      enter(call);
      const { items, next } = admin.packages(...pageParameters(new QueryReader(call.query, PAGE)));
      return jsonAnswer({ packages: items.map(packageBody), next });
    })
    .put("/admin/packages/:id", ({ call, params }) => {
      enter(call);
      const made = readPackage(params.id, readBody(call, limits, PACKAGE_MEMBERS));
      admin.putPackage(made);
      return done(call, packageBody(made));
    })
    .delete("/admin/packages/:id", ({ call, params }) => {
      enter(call);
      admin.removePackage(params.id);
      return done(call, { id: params.id, deleted: true });
    });
}

const PACKAGE_MEMBERS = [
  "tier",
  "daily_requests",
  "monthly_requests",
  "requests_per_minute",
  "model_tiers",
  "stripe_price",
] as const;

function readPackage(id: string, body: ObjectField): Package {
  return {
    id,
    tier: body.field("tier").string(),
    dailyRequests: body.optional("daily_requests", wholeOf),
    monthlyRequests: body.optional("monthly_requests", wholeOf),
    requestsPerMinute: body.optional("requests_per_minute", wholeOf),
    modelTiers: body
      .field("model_tiers")
      .array(16)
      .map((tier) => tier.string()),
    stripePrice: body.optional("stripe_price", (field) => field.string()),
  };
}

const wholeOf = (field: Field): number => field.integer(0, Number.MAX_SAFE_INTEGER);

/** @throws ApiError for what is no object, or has other members. */
function readBody(call: Call, limits: Limits, names: readonly string[]): ObjectField {
  const body = new Field(readRecords(call, limits), "").object();
  body.allowOnly(new Set(names));
  return body;
}

const PAGE = ["after", "limit"];

function pageParameters(query: QueryReader, form = ANY_ID): [after: string | null, limit: number] {
  return [query.text("after", form), query.integer("limit", 1, ITEMS_MAX) ?? ITEMS];
}

function tenantBody(tenant: TenantFacts): object {
  return {
    tenant_id: tenant.tenantId,
    tenant: tenant.name,
    type: tenant.type,
    created_ts: tenant.createdTs,
    package_id: tenant.packageId,
    cycle_anchor_ms: tenant.cycleAnchorTs,
    stores_requests: tenant.storesRequests,
  };
}

function packageBody(each: Package): object {
  return {
    id: each.id,
    tier: each.tier,
    daily_requests: each.dailyRequests,
    monthly_requests: each.monthlyRequests,
    requests_per_minute: each.requestsPerMinute,
    model_tiers: each.modelTiers,
    stripe_price: each.stripePrice,
  };
}
