/** The webhook and the checkout page, over the gateway; events are signed by the provider's library. */
import { expect, test } from "bun:test";
import { Stripe } from "stripe";
import { type Operated, openOperated, WEBHOOK_SECRET } from "./operator-kit.ts";

const KEY = /sk-svc-[0-9a-f]{32}/;
const SESSION = "cs_test_1";

function eventBody(nowMs: number): string {
  return JSON.stringify({
    id: "evt_1",
    object: "event",
    type: "checkout.session.completed",
    created: Math.floor(nowMs / 1000),
    data: { object: { id: SESSION, payment_status: "paid", metadata: { svc_package: "free" } } },
  });
}

async function send(operated: Operated, body: string, secret = WEBHOOK_SECRET): Promise<Response> {
  const signature = await Stripe.webhooks.generateTestHeaderStringAsync({
    payload: body,
    secret,
    timestamp: Math.floor(operated.clock.nowMs / 1000),
  });
  const headers = { "content-type": "application/json", "stripe-signature": signature };
  return operated.call("POST", "/webhooks/stripe", { headers, body });
}

const collect = (operated: Operated, session: string): Promise<Response> =>
  operated.call("POST", "/checkout/complete", {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `session_id=${session}`,
  });

test("a paid checkout makes a key that its buyer collects once", async () => {
  const operated = openOperated();
  const body = eventBody(operated.clock.nowMs);
  const first = await send(operated, body);
  expect([first.status, await first.json()]).toEqual([200, { received: true, outcome: "handled" }]);
  expect(await (await send(operated, body)).json()).toMatchObject({ outcome: "duplicate" });
  expect(operated.gateway.tenants.listKeys()).toHaveLength(1);
  // Following the link shows nothing yet and uses nothing up.
  for (const _ of [1, 2]) {
    const landing = await operated.call("GET", `/checkout/complete?session_id=${SESSION}`);
    const html = await landing.text();
    expect(html).not.toMatch(KEY);
    expect(html).toContain(`value="${SESSION}"`);
  }
  const html = await (await collect(operated, SESSION)).text();
  const headers = { authorization: `Bearer ${KEY.exec(html)?.[0]}` };
  expect((await operated.call("GET", "/v1/me", { headers })).status).toBe(200);
  const again = await (await collect(operated, SESSION)).text();
  expect(again).not.toMatch(KEY);
  expect(again).toContain("Collected already");
});

test("one event that comes many times at once makes one key", async () => {
  const operated = openOperated();
  const body = eventBody(operated.clock.nowMs);
  const answers = await Promise.all(Array.from({ length: 12 }, () => send(operated, body)));
  const outcomes = await Promise.all(
    answers.map(async (answer) => ((await answer.json()) as { outcome: string }).outcome),
  );
  expect(outcomes.sort()).toEqual([...Array<string>(11).fill("duplicate"), "handled"]);
  expect(operated.gateway.tenants.listKeys()).toHaveLength(1);
});

test("an event without a signature, or with another's, is 400 and makes no key", async () => {
  const operated = openOperated();
  const body = eventBody(operated.clock.nowMs);
  const bare = await operated.call("POST", "/webhooks/stripe", { body });
  expect(bare.status).toBe(400);
  expect((await send(operated, body, "whsec_other")).status).toBe(400);
  expect((await send(operated, "{}")).status).toBe(400);
  expect(operated.gateway.tenants.listKeys()).toEqual([]);
});

test("a checkout that nobody knows shows no key, whatever it is called", async () => {
  const operated = openOperated();
  for (const session of ["cs_test_2", "", "<script>"]) {
    const page = await collect(operated, encodeURIComponent(session));
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining("Not there yet"),
    ]);
  }
  expect((await operated.call("GET", "/checkout/complete?session_id=%3Cb%3E")).status).toBe(400);
});
