/** Payment events, signed with the provider's own library, from raw bytes to keys and packages. */
import { expect, test } from "bun:test";
import { Stripe } from "stripe";
import type { Transactions } from "../../src/store/store.ts";
import type { Package } from "../../src/tenant/packages.ts";
import { type PaymentEvent, readPaymentEvent } from "../../src/tenant/payment-event.ts";
import { Payments } from "../../src/tenant/payments.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { type LabOptions, START_MS } from "../trust-lab.ts";

const SECRET = "whsec_test";
const NOW_S = START_MS / 1000;

const packageOf = (id: string, stripePrice: string): Package => ({
  id,
  tier: id,
  dailyRequests: null,
  monthlyRequests: 1000,
  requestsPerMinute: null,
  modelTiers: ["svc-tier-a"],
  stripePrice,
});

function open(options: Partial<LabOptions> = {}) {
  const kit = openKit({ dataDir: temporaryDirectory(), ...options });
  const { store, tenants, clock } = kit;
  for (const [id, price] of [
    ["pro", "price_pro"],
    ["team", "price_team"],
  ] as const) {
    if (!tenants.packages.all().some((each) => each.id === id)) {
      tenants.packages.put(packageOf(id, price));
    }
  }
  const nowMs = (): number => clock.nowMs;
  return { ...kit, payments: new Payments({ store, tenants, nowMs, defaultPackage: null }) };
}

let made = 0;

function eventBody(type: string, object: object, created = NOW_S): string {
  made += 1;
  return JSON.stringify({ id: `evt_${made}`, object: "event", type, created, data: { object } });
}

const checkout = (session: string, changes: object = {}): string =>
  eventBody("checkout.session.completed", {
    id: `cs_test_${session}`,
    payment_status: "paid",
    subscription: `sub_${session}`,
    customer_details: { email: "ada@example.com" },
    metadata: { svc_package: "pro" },
    ...changes,
  });

const subscription = (session: string, changes: object = {}, created = NOW_S): string =>
  eventBody(
    "customer.subscription.updated",
    {
      id: `sub_${session}`,
      status: "active",
      items: { data: [{ price: { id: "price_team" }, current_period_start: NOW_S - 86_400 }] },
      ...changes,
    },
    created,
  );

function signed(
  payload: string,
  options: { secret?: string; timestamp?: number } = {},
): Promise<string> {
  return Stripe.webhooks.generateTestHeaderStringAsync({
    payload,
    secret: options.secret ?? SECRET,
    timestamp: options.timestamp ?? NOW_S,
  });
}

function read(body: string, header: string | null, secrets = [SECRET]): Promise<PaymentEvent> {
  return readPaymentEvent({ secrets, nowMs: () => START_MS }, Buffer.from(body), header);
}

/** A genuine event. */
const news = async (body: string): Promise<PaymentEvent> => read(body, await signed(body));

type Sent = readonly [body: string, header: string | null];

const REFUSED: readonly (readonly [string, (body: string) => Sent | Promise<Sent>])[] = [
  ["no header", (body) => [body, null]],
  ["an empty header", (body) => [body, ""]],
  ["another secret", async (body) => [body, await signed(body, { secret: "whsec_other" })]],
  ["another body", async (body) => [`${body} `, await signed(body)]],
  ["a signature of 301 seconds ago", async (body) => [body, await signedAt(body, -301)]],
  ["a signature from 61 seconds ahead", async (body) => [body, await signedAt(body, 61)]],
  ["a time with a tail", async (body) => [body, (await signed(body)).replace(/^t=\d+/, "$&x")]],
  ["two times", async (body) => [body, `t=${NOW_S},${await signed(body)}`]],
  ["no signature", async (body) => [body, (await signed(body)).replace(/,v1=.*$/, "")]],
  ["no time", async (body) => [body, (await signed(body)).replace(/^t=\d+,/, "")]],
];

function signedAt(body: string, seconds: number): Promise<string> {
  return signed(body, { timestamp: NOW_S + seconds });
}

test.each(REFUSED)("an event with %s is refused", async (_name, change) => {
  const [body, header] = await change(checkout("refused"));
  await expect(read(body, header)).rejects.toMatchObject({ code: "bad_payment_event" });
});

test("signatures up to five minutes old and one minute ahead are taken", async () => {
  for (const seconds of [-300, 0, 60]) {
    const body = checkout("fresh");
    expect((await read(body, await signedAt(body, seconds))).news.kind).toBe("paid_checkout");
  }
});

test("a genuine body that is no event is refused", async () => {
  for (const body of ["{}", "[]", "null", "not json", '{"id":"evt_1","type":"a"}']) {
    await expect(news(body)).rejects.toMatchObject({ code: "bad_payment_event" });
  }
});

test("while secrets are exchanged, either signs", async () => {
  const body = checkout("rotating");
  const header = await signed(body, { secret: "whsec_new" });
  expect((await read(body, header, [SECRET, "whsec_new"])).news.kind).toBe("paid_checkout");
  await expect(read(body, header, [SECRET])).rejects.toMatchObject({ code: "bad_payment_event" });
});

test("a paid checkout makes a key that its buyer collects once, after a restart and a new master key", async () => {
  const dataDir = temporaryDirectory();
  const first = open({ dataDir });
  expect(first.payments.collect("cs_test_a")).toEqual({ kind: "unknown" });
  expect(first.payments.handle(await news(checkout("a")))).toBe("handled");
  first.tenants.rotateMasterKey();
  first.close();
  const { payments, tenants } = open({ dataDir });
  const collected = payments.collect("cs_test_a");
  if (collected.kind !== "key") throw new Error("no key was there to collect");
  const { key } = collected;
  expect(tenants.authenticateBearer(key.apiKey)).toMatchObject({
    tenantId: key.tenantId,
    packageId: "pro",
    monthlyRequestQuota: 1000,
  });
  expect(tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
  expect(payments.collect("cs_test_a")).toEqual({ kind: "collected" });
  expect(payments.collect("cs_test_other")).toEqual({ kind: "unknown" });
  expect(payments.collect("../../etc/passwd")).toEqual({ kind: "unknown" });
});

test("an event that comes again, and a second event of the same checkout, make no second key", async () => {
  const { payments, tenants } = open();
  const body = checkout("again");
  expect(payments.handle(await news(body))).toBe("handled");
  expect(payments.handle(await news(body))).toBe("duplicate");
  const later = body.replace("session.completed", "session.async_payment_succeeded");
  expect(payments.handle(await news(later.replace(/evt_\d+/, "evt_later")))).toBe("ignored");
  expect(tenants.listKeys()).toHaveLength(1);
});

test("a checkout that is not paid yet makes a key when it is", async () => {
  const { payments, tenants } = open();
  const body = checkout("slow", { payment_status: "unpaid" });
  expect(payments.handle(await news(body))).toBe("ignored");
  expect(tenants.listKeys()).toEqual([]);
  const paid = body
    .replace('"unpaid"', '"paid"')
    .replace("session.completed", "session.async_payment_succeeded")
    .replace(/evt_\d+/, "evt_paid");
  expect(payments.handle(await news(paid))).toBe("handled");
  expect(payments.collect("cs_test_slow").kind).toBe("key");
});

function tenantOf(payments: Payments, session: string): string {
  const collected = payments.collect(`cs_test_${session}`);
  if (collected.kind !== "key") throw new Error("no key was there to collect");
  return collected.key.tenantId;
}

test("a subscription's news set package and billing month, whichever event comes first", async () => {
  for (const order of [
    [checkout("b"), subscription("b")],
    [subscription("b"), checkout("b")],
  ]) {
    const { payments, tenants } = open();
    for (const body of order) expect(payments.handle(await news(body))).toBe("handled");
    expect(tenants.limitsOf(tenantOf(payments, "b"))).toMatchObject({
      package: { id: "team" },
      cycleAnchorMs: START_MS - 86_400_000,
    });
  }
});

test("older news do not undo newer ones, and nothing follows the end", async () => {
  const { payments, tenants } = open();
  payments.handle(await news(checkout("c")));
  const tenantId = tenantOf(payments, "c");
  const held = (): string | undefined => tenants.limitsOf(tenantId).package?.id;
  const item = (price: string): object => ({
    items: { data: [{ price, current_period_start: NOW_S }] },
  });
  const newer = subscription("c", item("price_team"), NOW_S + 20);
  const older = subscription("c", item("price_pro"), NOW_S + 10);
  expect(payments.handle(await news(newer))).toBe("handled");
  expect(payments.handle(await news(older))).toBe("ignored");
  expect(held()).toBe("team");
  payments.handle(await news(subscription("c", { status: "past_due" }, NOW_S + 30)));
  expect(held()).toBe("team");
  payments.handle(await news(subscription("c", { status: "unpaid" }, NOW_S + 40)));
  expect(held()).toBe("free");
  payments.handle(await news(subscription("c", {}, NOW_S + 50)));
  expect(held()).toBe("team");
  payments.handle(await news(subscription("c", { status: "canceled" }, NOW_S + 60)));
  expect(payments.handle(await news(subscription("c", {}, NOW_S + 60)))).toBe("ignored");
  expect(held()).toBe("free");
});

test("a price that no package has leaves the package as it is", async () => {
  const { payments, tenants } = open();
  payments.handle(await news(checkout("d")));
  const tenantId = tenantOf(payments, "d");
  const unknown = { items: { data: [{ price: "price_unknown" }] } };
  expect(payments.handle(await news(subscription("d", unknown)))).toBe("handled");
  expect(tenants.limitsOf(tenantId).package?.id).toBe("pro");
});

test("a checkout that says nothing about its package is an error until the operator has one", async () => {
  const kit = open();
  const body = checkout("e", { metadata: {} });
  const event = await news(body);
  expect(() => kit.payments.handle(event)).toThrow("nothing says which package");
  const wrong = await news(checkout("e", { metadata: { svc_package: "gold" } }));
  expect(() => kit.payments.handle(wrong)).toThrow('there is no package "gold"');
  expect(kit.tenants.listKeys()).toEqual([]);
  const { store, tenants } = kit;
  const nowMs = (): number => START_MS;
  const configured = new Payments({ store, tenants, nowMs, defaultPackage: "team" });
  // The provider sends it again.
  expect(configured.handle(event)).toBe("handled");
  expect(tenants.limitsOf(tenantOf(configured, "e")).package?.id).toBe("team");
});

test("other events are noted and change nothing", async () => {
  const { payments, tenants } = open();
  const body = eventBody("invoice.paid", { id: "in_1" });
  expect(payments.handle(await news(body))).toBe("ignored");
  expect(payments.handle(await news(body))).toBe("duplicate");
  expect(tenants.listKeys()).toEqual([]);
});

const CRASHES: readonly (readonly [string, boolean, string])[] = [
  ["before it is durable", false, "handled"],
  ["after it is durable, before the answer", true, "duplicate"],
];

test.each(CRASHES)("an event cut off %s is taken once", async (_name, persists, again) => {
  const dataDir = temporaryDirectory();
  let failing = false;
  const first = open({
    dataDir,
    wrapTransactions: (plain: Transactions): Transactions => ({
      ...plain,
      commit: () => {
        if (!failing) return plain.commit();
        if (persists) plain.commit();
        else plain.rollback();
        throw Object.assign(new Error("disk I/O error"), { errno: 1034 });
      },
    }),
  });
  const event = await news(checkout("f"));
  failing = true;
  expect(() => first.payments.handle(event)).toThrow("unknown state");
  first.close();
  const { payments, tenants } = open({ dataDir });
  expect(payments.handle(event)).toBe(again as "handled");
  expect(tenants.listKeys()).toHaveLength(1);
  expect(payments.collect("cs_test_f").kind).toBe("key");
});
