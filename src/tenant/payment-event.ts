/**
 * Events of the payment provider (Stripe): that one is genuine and fresh, and what of it matters.
 * Members are read one by one: their places differ between the provider's API versions.
 */
import { utf8Decode } from "../bytes/utf8.ts";
import { TenantError } from "./tenant-error.ts";

export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  /** When the provider made it, Unix milliseconds. */
  readonly createdMs: number;
  readonly news: PaymentNews;
}

export type PaymentNews =
  | {
      readonly kind: "paid_checkout";
      readonly sessionId: string;
      readonly subscriptionId: string | null;
      /** The session's metadata `svc_package`. */
      readonly packageId: string | null;
      readonly email: string | null;
    }
  | {
      readonly kind: "subscription";
      readonly subscriptionId: string;
      readonly price: string | null;
      readonly status: string;
      /** Start of the paid period, Unix milliseconds. */
      readonly periodStartMs: number | null;
    }
  /** Of no concern here. */
  | { readonly kind: "none" };

/** How old a signature may be, and how far ahead the provider's clock. */
const AGE_SECONDS_MAX = 300;
const AHEAD_SECONDS_MAX = 60;
const HEADER_CHARACTERS_MAX = 2000;

/**
 * Verifies the signature over the raw body, and reads the event.
 * @param secrets endpoint secrets; two while one replaces the other.
 * @throws (rejects) TenantError `bad_payment_event`: a 400, which the provider will send again.
 */
export async function readPaymentEvent(
  deps: { readonly secrets: readonly string[]; readonly nowMs: () => number },
  body: Uint8Array,
  header: string | null,
): Promise<PaymentEvent> {
  if (header === null) throw bad("the Stripe-Signature header is missing");
  const text = utf8Decode(body);
  if (text === null) throw bad("the body is not UTF-8");
  assertFresh(header, deps.nowMs());
  if (!(await isSigned(deps.secrets, text, header))) {
    throw bad("the Stripe-Signature header does not sign this body");
  }
  return eventFrom(parseJson(text));
}

/** The library bounds a signature's age on one side only, and reads `t=12x` as 12. */
function assertFresh(header: string, nowMs: number): void {
  const times = header.split(",").filter((part) => part.trimStart().startsWith("t="));
  const seconds = /^t=(\d{1,12})$/.exec(times[0]?.trim() ?? "")?.[1];
  const isForm =
    header.length <= HEADER_CHARACTERS_MAX && times.length === 1 && seconds !== undefined;
  if (!isForm) throw bad("the Stripe-Signature header has another form");
  const age = Math.floor(nowMs / 1000) - Number(seconds);
  if (age <= AGE_SECONDS_MAX && age >= -AHEAD_SECONDS_MAX) return;
  throw bad("the Stripe-Signature header's time is too far from this server's clock");
}

/** The library takes half a second to load: it is loaded by the first event. */
async function isSigned(
  secrets: readonly string[],
  text: string,
  header: string,
): Promise<boolean> {
  const { Stripe } = await import("stripe");
  for (const secret of secrets) {
    try {
      // Zero turns the library's own check of age off: ours has been made.
      if (await Stripe.webhooks.signature?.verifyHeaderAsync(text, header, secret, 0)) return true;
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    }
  }
  return false;
}

function eventFrom(value: unknown): PaymentEvent {
  const id = text(value, "id");
  const type = text(value, "type");
  const created = whole(value, "created");
  if (id === null || !/^evt_[A-Za-z0-9_]{1,250}$/.test(id) || type === null || created === null) {
    throw bad("the body is not an event");
  }
  return {
    id,
    type,
    createdMs: created * 1000,
    news: newsFrom(type, member(value, "data", "object")),
  };
}

function newsFrom(type: string, object: unknown): PaymentNews {
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return checkoutNews(object);
    case "customer.subscription.created":
    case "customer.subscription.updated":
    case "customer.subscription.deleted":
    case "customer.subscription.paused":
    case "customer.subscription.resumed":
      return subscriptionNews(object);
    default:
      return { kind: "none" };
  }
}

function checkoutNews(session: unknown): PaymentNews {
  const sessionId = text(session, "id");
  if (sessionId === null || !isSessionId(sessionId)) throw bad("the event's session has no id");
  // A payment that takes days is told of again when it succeeded.
  const status = text(session, "payment_status");
  if (status !== "paid" && status !== "no_payment_required") return { kind: "none" };
  return {
    kind: "paid_checkout",
    sessionId,
    subscriptionId: idIn(session, "subscription"),
    packageId: text(session, "metadata", "svc_package"),
    email: text(session, "customer_details", "email") ?? text(session, "customer_email"),
  };
}

function subscriptionNews(subscription: unknown): PaymentNews {
  const subscriptionId = text(subscription, "id");
  const status = text(subscription, "status");
  if (subscriptionId === null || status === null) throw bad("the event's subscription has no id");
  const item = member(subscription, "items", "data", "0");
  const start = whole(item, "current_period_start") ?? whole(subscription, "current_period_start");
  return {
    kind: "subscription",
    subscriptionId,
    price: idIn(item, "price"),
    status,
    periodStartMs: start === null ? null : start * 1000,
  };
}

/** The form of a checkout session's id, which its buyer's browser comes back with. */
export function isSessionId(id: string): boolean {
  return /^cs_[A-Za-z0-9_]{1,250}$/.test(id);
}

/** An id, or the whole object that has it: the provider sends either. */
function idIn(value: unknown, key: string): string | null {
  return text(value, key) ?? text(value, key, "id");
}

function text(value: unknown, ...path: readonly string[]): string | null {
  const found = member(value, ...path);
  return typeof found === "string" && found !== "" ? found : null;
}

function whole(value: unknown, ...path: readonly string[]): number | null {
  const found = member(value, ...path);
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : null;
}

function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw bad("the body is not JSON", error);
  }
}

function bad(message: string, cause?: unknown): TenantError {
  return new TenantError("bad_payment_event", message, { cause });
}
