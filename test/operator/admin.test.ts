/** `/admin/*`: who is let in, what can be done, and that each act is a row. */
import { expect, test } from "bun:test";
import { rowsIn } from "../trust-lab.ts";
import { ADMIN_KEY, openOperated } from "./operator-kit.ts";

const ROUTES = [
  ["GET", "/admin/keys"],
  ["POST", "/admin/keys"],
  ["DELETE", "/admin/keys/k_1"],
  ["GET", "/admin/tenants"],
  ["PUT", "/admin/tenants/t_1/package"],
  ["PUT", "/admin/tenants/t_1/requests"],
  ["POST", "/admin/tenants/t_1/secret"],
  ["GET", "/admin/packages"],
  ["PUT", "/admin/packages/x"],
  ["DELETE", "/admin/packages/x"],
  ["GET", "/admin/usage"],
] as const;

test("without the right admin key every endpoint is 401, configured or not", async () => {
  for (const operated of [openOperated(), openOperated(null)]) {
    for (const [method, path] of ROUTES) {
      for (const given of [undefined, "", "wrong", `${ADMIN_KEY}x`]) {
        const headers = given === undefined ? {} : { "x-admin-key": given };
        const refused = await operated.call(method, path, { headers });
        expect([method, path, refused.status]).toEqual([method, path, 401]);
        const body = (await refused.json()) as object;
        expect(body).toMatchObject({ error: { code: "invalid_admin_key" } });
      }
    }
    expect(operated.gateway.tenants.listKeys()).toEqual([]);
  }
});

test("keys are issued, listed in pages and revoked", async () => {
  const { admin, call, clock } = openOperated();
  const made = await admin("POST", "/admin/keys", { tenant: "acme", app: "nightly" });
  expect(made.status).toBe(200);
  const key = (await made.json()) as Record<string, string>;
  expect(key).toMatchObject({ app_id: "nightly" });
  const headers = { authorization: `Bearer ${key["api_key"]}` };
  expect((await call("GET", "/v1/me", { headers })).status).toBe(200);
  for (const app of ["a", "b"]) {
    clock.nowMs += 1;
    await admin("POST", "/admin/keys", { tenant: "other", app });
  }
  const first = (await (await admin("GET", "/admin/keys?limit=2")).json()) as {
    readonly keys: readonly Record<string, unknown>[];
    readonly next: string;
  };
  expect(first.keys).toHaveLength(2);
  const rest = await (await admin("GET", `/admin/keys?limit=2&after=${first.next}`)).json();
  expect(rest).toMatchObject({ keys: [{ tenant: "other" }], next: null });
  const own = await (await admin("GET", `/admin/keys?tenant_id=${key["tenant_id"]}`)).json();
  expect(own).toMatchObject({ keys: [{ key_id: key["key_id"], active: true }] });
  const revoked = await admin("DELETE", `/admin/keys/${key["key_id"]}`);
  expect(await revoked.json()).toEqual({ key_id: String(key["key_id"]), active: false });
  expect((await call("GET", "/v1/me", { headers })).status).toBe(401);
});

test("packages are made, given and taken away; what uses one keeps it alive", async () => {
  const { admin, call } = openOperated();
  const pro = {
    tier: "pro",
    daily_requests: null,
    monthly_requests: 5000,
    requests_per_minute: 120,
    model_tiers: ["svc-tier-b"],
    stripe_price: "price_1",
  };
  const put = await admin("PUT", "/admin/packages/pro", pro);
  expect(await put.json()).toEqual({ id: "pro", ...pro });
  const made = await admin("POST", "/admin/keys", { tenant: "acme", package_id: "pro" });
  const key = (await made.json()) as Record<string, string>;
  const headers = { authorization: `Bearer ${key["api_key"]}` };
  const me = async (): Promise<unknown> => (await call("GET", "/v1/me", { headers })).json();
  expect(await me()).toMatchObject({
    tier: "pro",
    package_id: "pro",
    monthly_request_quota: 5000,
    allowed_model_tiers: ["svc-tier-b"],
    cycle_start_ms: expect.any(Number),
  });
  const inUse = await admin("DELETE", "/admin/packages/pro");
  expect([inUse.status, await inUse.json()]).toMatchObject([
    409,
    { error: { code: "package_in_use" } },
  ]);
  const path = `/admin/tenants/${key["tenant_id"]}/package`;
  expect((await admin("PUT", path, { package_id: "free" })).status).toBe(200);
  expect(await me()).toMatchObject({ package_id: "free" });
  expect((await admin("PUT", path, { package_id: null })).status).toBe(200);
  expect(await me()).toMatchObject({ package_id: null, monthly_request_quota: null });
  expect((await admin("DELETE", "/admin/packages/pro")).status).toBe(200);
  const tenants = await (await admin("GET", "/admin/tenants")).json();
  expect(tenants).toMatchObject({
    tenants: expect.arrayContaining([expect.objectContaining({ tenant: "acme" })]),
  });
});

test("requests are kept for tenants that switched it on, themselves or through the operator", async () => {
  const { admin, call } = openOperated();
  const key = await (await admin("POST", "/admin/keys", { tenant: "acme" })).json();
  const { api_key, tenant_id } = key as Record<string, string>;
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  const own = async (method: "GET" | "PUT", body?: string): Promise<unknown> =>
    (await call(method, "/v1/requests", { headers, ...(body && { body }) })).json();
  expect(await own("GET")).toEqual({ stored: false });
  expect(await own("PUT", '{"stored":true}')).toEqual({ stored: true });
  expect(await own("PUT", '{"stored":1}')).toMatchObject({ error: { code: "invalid_type" } });
  const tenants = async () => (await admin("GET", "/admin/tenants")).json();
  const listed = (stores_requests: boolean) => ({
    tenants: expect.arrayContaining([expect.objectContaining({ tenant_id, stores_requests })]),
  });
  expect(await tenants()).toMatchObject(listed(true));
  const path = `/admin/tenants/${tenant_id}/requests`;
  const off = await admin("PUT", path, { stored: false });
  expect(await off.json()).toEqual({ tenant_id, stored: false });
  expect(await own("GET")).toEqual({ stored: false });
  expect(await tenants()).toMatchObject(listed(false));
});

test("a tenant's secret can be replaced; answers are signed with the new one at once", async () => {
  const { admin, gateway } = openOperated();
  const made = await admin("POST", "/admin/keys", { tenant: "acme" });
  const key = (await made.json()) as Record<string, string>;
  const replaced = await admin("POST", `/admin/tenants/${key["tenant_id"]}/secret`);
  const { hmac_secret: secret } = (await replaced.json()) as Record<string, string>;
  expect(secret).not.toBe(String(key["hmac_secret"]));
  expect(gateway.tenants.hmacSecret(String(key["tenant_id"]))).toBe(String(secret));
});

test("mistakes are 4xx with what to change, and change nothing", async () => {
  const { admin } = openOperated();
  const cases: readonly [string, string, unknown, number, string][] = [
    ["POST", "/admin/keys", {}, 400, "missing_required_parameter"],
    ["POST", "/admin/keys", { tenant: "a", colour: 1 }, 400, "unknown_parameter"],
    ["POST", "/admin/keys", { tenant: "a", app: "No Good" }, 400, "invalid_app_name"],
    ["POST", "/admin/keys", { tenant: "a", package_id: "none" }, 404, "unknown_package"],
    ["DELETE", "/admin/keys/k_none", undefined, 404, "unknown_key"],
    ["GET", "/admin/keys?limit=0", undefined, 400, "invalid_value"],
    ["GET", "/admin/keys?colour=1", undefined, 400, "unknown_parameter"],
    ["PUT", "/admin/packages/x", { tier: "x", model_tiers: 3 }, 400, "invalid_type"],
    ["DELETE", "/admin/packages/none", undefined, 404, "unknown_package"],
    ["PUT", "/admin/tenants/t_none/requests", { stored: true }, 404, "unknown_tenant"],
  ];
  for (const [method, path, body, status, code] of cases) {
    const refused = await admin(method, path, body);
    expect([path, refused.status, await refused.json()]).toMatchObject([
      path,
      status,
      { error: { code } },
    ]);
  }
  expect(await (await admin("GET", "/admin/tenants")).json()).toEqual({ tenants: [], next: null });
});

test("each act is a row of the operator's chain, and usage adds up what was recorded", async () => {
  const { admin, gateway } = openOperated();
  await admin("POST", "/admin/keys", { tenant: "acme" });
  await admin("GET", "/admin/keys");
  await admin("PUT", "/admin/packages/x", { tier: "x", model_tiers: ["svc-tier-a"] });
  const [operator] = [...gateway.ledger.heads.all()];
  expect(operator?.chain.appId).toBe("admin");
  const slice = gateway.ledger.readSlice({
    tenantId: String(operator?.chain.tenantId),
    since: 0,
    limit: 10,
  });
  expect(slice.chain_ok).toBe(true);
  expect(rowsIn(slice).map((row) => `${row["method"]} ${row["path"]}`)).toEqual([
    "POST /admin/keys",
    "PUT /admin/packages/x",
  ]);
  const usage = (await (await admin("GET", "/admin/usage")).json()) as { usage: unknown[] };
  expect(usage.usage).toMatchObject([
    { app_id: "admin", day: "2026-11-20", path: "/admin/keys", requests: 1 },
    { app_id: "admin", day: "2026-11-20", path: "/admin/packages/x", requests: 1 },
  ]);
  const later = `/admin/usage?since=${Date.UTC(2026, 10, 21)}`;
  expect(await (await admin("GET", later)).json()).toEqual({ usage: [], next: null });
});
