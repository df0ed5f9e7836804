/** `POST /signup/free`: one key per address, a few per network, pages that load and run nothing. */
import { expect, test } from "bun:test";
import { clientAddressOf } from "../../src/service/client-address.ts";
import { SignUpDesk } from "../../src/service/sign-up.ts";
import { type Operated, openOperated } from "./operator-kit.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const KEY = /sk-svc-[0-9a-f]{32}/;

const signUp = (operated: Operated, body?: string, from?: string): Promise<Response> =>
  operated.call("POST", "/signup/free", {
    headers: FORM,
    ...(body === undefined ? {} : { body }),
    ...(from === undefined ? {} : { from }),
  });

test("a sign-up shows a key of the free tier that works, and its secret", async () => {
  const operated = openOperated();
  const page = await signUp(operated, "email=ada%40example.org");
  expect([page.status, page.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  const html = await page.text();
  const apiKey = KEY.exec(html)?.[0] ?? "";
  const secret = /id="hmac-secret">([0-9a-f]{64})</.exec(html)?.[1];
  const headers = { authorization: `Bearer ${apiKey}` };
  const me = await operated.call("GET", "/v1/me", { headers });
  const identity = (await me.json()) as Record<string, string>;
  expect(identity).toMatchObject({ tier: "free", package_id: "free", active: true });
  expect(operated.gateway.tenants.hmacSecret(String(identity["tenant_id"]))).toBe(String(secret));
  for (const hidden of [apiKey, String(secret)]) {
    expect(operated.logged.join("\n")).not.toContain(hidden);
  }
});

test("no second key is made for an address, however it is spelt; without one each is new", async () => {
  const operated = openOperated();
  expect(await (await signUp(operated, "email=ada%40example.org")).text()).toMatch(KEY);
  for (const spelt of ["ADA%40Example.org", "+ada%40example.org+", "ada%40example.org"]) {
    const html = await (await signUp(operated, `email=${spelt}`, "192.0.2.2")).text();
    expect(html).not.toMatch(KEY);
    expect(html).toContain("There is a key already");
  }
  expect(operated.gateway.tenants.listKeys()).toHaveLength(1);
  for (const body of [undefined, "", "email=", "email=++"]) {
    const page = await signUp(operated, body, "192.0.2.3");
    expect(await page.text()).toMatch(KEY);
  }
  const bare = await operated.call("POST", "/signup/free", { from: "192.0.2.4" });
  expect(await bare.text()).toMatch(KEY);
});

test("what is no address or no form is refused, and makes no key", async () => {
  const operated = openOperated();
  const long = `${"a".repeat(250)}%40example.org`;
  for (const body of [
    "email=ada",
    "email=a%40b..c",
    `email=${long}`,
    "email=a%40b.c&email=d%40e.f",
  ]) {
    const refused = await signUp(operated, body);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { param: "email" } },
    ]);
  }
  const json = await operated.call("POST", "/signup/free", { body: '{"email":"a@b.c"}' });
  expect(json.status).toBe(400);
  expect(operated.gateway.tenants.listKeys()).toEqual([]);
});

test("one network gets a few an hour, known addresses included; others are not affected", async () => {
  const operated = openOperated();
  const statuses = async (count: number, from: string): Promise<number[]> => {
    const answers = Array.from({ length: count }, () =>
      signUp(operated, "email=ada%40example.org", from),
    );
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  expect(await statuses(6, "192.0.2.9")).toEqual([200, 200, 200, 200, 200, 429]);
  const refused = await signUp(operated, undefined, "192.0.2.9");
  expect(refused.headers.get("retry-after")).toBe("3600");
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  expect(await statuses(1, "192.0.2.10")).toEqual([200]);
  // One household of IPv6 is one network.
  expect(await statuses(5, "2001:db8:1:2::1")).toEqual([200, 200, 200, 200, 200]);
  expect(await statuses(1, "2001:db8:1:2:ffff::7")).toEqual([429]);
  operated.clock.nowMs += 3_600_001;
  expect(await statuses(1, "192.0.2.9")).toEqual([200]);
});

test("all networks together get so many an hour, whoever comes next", async () => {
  const clock = { nowMs: 0 };
  const kinds: unknown[] = [];
  const signUps = { issue: () => ({ kind: "exists" as const }) };
  const limits = { perHour: 5, perHourInAll: 8 };
  const wait = async (): Promise<void> => {};
  const desk = new SignUpDesk({ signUps, ...limits, nowMs: () => clock.nowMs, wait });
  for (let asked = 0; asked < 10; asked++) {
    clock.nowMs += 1000;
    const outcome = await desk.issue("", `192.0.2.${asked}`).catch((error: Error) => error);
    kinds.push(outcome instanceof Error ? outcome.message : outcome.kind);
  }
  expect(kinds.slice(0, 8)).toEqual(Array(8).fill("exists"));
  const told = "8 sign-ups an hour are allowed in all; the next one is possible in";
  expect(kinds.slice(8)).toEqual([`${told} 3592 s`, `${told} 3591 s`]);
  clock.nowMs = 1000 + 3_600_000;
  expect(await desk.issue("", "192.0.2.77")).toEqual({ kind: "exists" });
});

test("a proxy of the operator's own speaks for its clients; nobody else does", () => {
  const trusted = new Set(["10.0.0.1", "10.0.0.2"]);
  const cases: readonly [string | null, string | null, string | null][] = [
    ["192.0.2.1", null, "192.0.2.1"],
    ["192.0.2.1", "198.51.100.7", "192.0.2.1"],
    ["10.0.0.1", "198.51.100.7", "198.51.100.7"],
    ["10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"],
    ["10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"],
    ["::ffff:10.0.0.1", "2001:DB8::1", "2001:db8::1"],
    ["10.0.0.1", "nonsense", "10.0.0.1"],
    ["10.0.0.1", null, "10.0.0.1"],
    [null, "198.51.100.7", null],
  ];
  for (const [socket, header, expected] of cases) {
    expect(clientAddressOf(socket, header, trusted)).toBe(expected);
  }
});

test("the pages run no script and load nothing, and the form leads back here only", async () => {
  const operated = openOperated();
  const pages = [await operated.call("GET", "/signup"), await signUp(operated)];
  for (const page of pages) {
    const html = await page.text();
    expect(html).not.toMatch(/<script|<link|<img|\son\w+=|\sstyle=|https?:/);
    const policy = page.headers.get("content-security-policy") ?? "";
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(policy).toContain(`default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'`);
    expect(page.headers.get("cache-control")).toContain("no-store");
  }
});

test("both outcomes take the same time", async () => {
  const operated = openOperated();
  const timed = async (from: string): Promise<number> => {
    const startedMs = performance.now();
    await signUp(operated, "email=ada%40example.org", from);
    return performance.now() - startedMs;
  };
  const times = [await timed("192.0.2.1"), await timed("192.0.2.2")];
  for (const time of times) expect(time).toBeGreaterThanOrEqual(145);
});
