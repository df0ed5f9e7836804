/**
 * What payments change. A paid checkout makes a tenant and a key, which its buyer collects once; a
 * subscription's news set its tenant's package and billing month.
 *
 * An event's id and everything that it changes are one transaction: an event that comes twice
 * changes nothing the second time, and one that a crash cut off is taken whole when it comes again.
 * Events come in any order: a subscription may be told of before the checkout that made it, and
 * older news never undo newer ones.
 */
import { eq } from "drizzle-orm";
import { utf8Decode, utf8Encode } from "../bytes/utf8.ts";
import { sha256Hex } from "../crypto/hash.ts";
import type { Store } from "../store/store.ts";
import { isSessionId, type PaymentEvent, type PaymentNews } from "./payment-event.ts";
import { checkoutTable, paymentEventTable, subscriptionTable } from "./tables.ts";
import type { CreatedKey, TenantChanges } from "./tenant-changes.ts";
import { TenantError } from "./tenant-error.ts";
import type { Tenants } from "./tenants.ts";

export interface PaymentsDeps {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly nowMs: () => number;
  /** For a checkout that names no package and whose subscription is not known yet. */
  readonly defaultPackage: string | null;
}

/** What became of an event. */
export type PaymentOutcome = "handled" | "duplicate" | "ignored";

/** What a buyer finds where checkout sent them. */
export type Collection =
  | { readonly kind: "key"; readonly key: CreatedKey }
  | { readonly kind: "collected" }
  /** No such checkout, or its event has not come yet. */
  | { readonly kind: "unknown" };

/** Under these a subscription is paid for, or about to be. */
const PAID: ReadonlySet<string> = new Set(["active", "trialing", "past_due"]);
/** The last thing that can be said of a subscription. */
const ENDED: ReadonlySet<string> = new Set(["canceled", "incomplete_expired"]);
/** What is left to a tenant that no longer pays. */
const UNPAID_PACKAGE = "free";

type Checkout = Extract<PaymentNews, { readonly kind: "paid_checkout" }>;
type SubscriptionNews = Extract<PaymentNews, { readonly kind: "subscription" }>;
type Subscription = typeof subscriptionTable.$inferSelect;

export class Payments {
  readonly #deps: PaymentsDeps;

  constructor(deps: PaymentsDeps) {
    this.#deps = deps;
  }

  /**
   * Takes an event; durable on return.
   * @throws TenantError `unknown_package` when nothing says what was bought: nothing was changed,
   *   and the provider sends the event again. StoreError.
   */
  handle(event: PaymentEvent): PaymentOutcome {
    const { nowMs, store, tenants } = this.#deps;
    return tenants.change((changes) => {
      const { id, type, createdMs, news } = event;
      const row = { id, type, createdTs: createdMs, handledTs: nowMs() };
      const isNew =
        store.db.insert(paymentEventTable).values(row).onConflictDoNothing().returning().all()
          .length > 0;
      if (!isNew) return "duplicate";
      if (news.kind === "none") return "ignored";
      if (news.kind === "paid_checkout") return this.#checkout(changes, news);
      return this.#subscription(changes, news, createdMs);
    });
  }

  /** Hands a paid checkout's key to whoever has the session's id, once. */
  collect(sessionId: string): Collection {
    if (!isSessionId(sessionId)) return { kind: "unknown" };
    const { nowMs, store, tenants } = this.#deps;
    const name = sealedName(sessionId);
    return store.transact(() => {
      const where = eq(checkoutTable.sessionId, sessionId);
      const row = store.db.select().from(checkoutTable).where(where).get();
      if (row === undefined) return { kind: "unknown" };
      const sealed = tenants.sealed.get(name);
      if (sealed === null) return { kind: "collected" };
      tenants.sealed.remove(name);
      store.db.update(checkoutTable).set({ collectedTs: nowMs() }).where(where).run();
      return { kind: "key", key: JSON.parse(utf8Decode(sealed) ?? "") as CreatedKey };
    });
  }

  #checkout(changes: TenantChanges, checkout: Checkout): PaymentOutcome {
    const { nowMs, store, tenants } = this.#deps;
    const { email, sessionId, subscriptionId } = checkout;
    const isKnown = store.db
      .select()
      .from(checkoutTable)
      .where(eq(checkoutTable.sessionId, sessionId))
      .get();
    if (isKnown !== undefined) return "ignored";
    const subscription = subscriptionId === null ? undefined : this.#known(subscriptionId);
    const packageId = this.#packageOf(checkout, subscription);
    // Always a tenant of its own: a buyer's word does not give keys to another tenant's name.
    // Its name must not say the session's id: whoever has that can collect the key.
    const tenantName = `checkout ${sha256Hex(sessionId).slice(0, 20)}`;
    const key = changes.createKey({ tenantName });
    const { tenantId } = key;
    changes.setPackage(tenantId, packageId, subscription?.periodStartTs ?? undefined);
    const createdTs = nowMs();
    store.db.insert(checkoutTable).values({ sessionId, tenantId, createdTs }).run();
    if (subscriptionId !== null) this.#link(subscriptionId, tenantId);
    tenants.sealed.put(sealedName(sessionId), utf8Encode(JSON.stringify(key)));
    if (email !== null) tenants.sealed.put(`email/${tenantId}`, utf8Encode(email));
    return "handled";
  }

  #packageOf(checkout: Checkout, subscription: Subscription | undefined): string {
    const { defaultPackage, tenants } = this.#deps;
    if (subscription?.status && !PAID.has(subscription.status)) return UNPAID_PACKAGE;
    const price = subscription?.price ?? null;
    const bought = price === null ? null : tenants.packages.ofPrice(price);
    const id = bought?.id ?? checkout.packageId ?? defaultPackage;
    if (id !== null) return tenants.packages.get(id).id;
    const message = `nothing says which package checkout ${checkout.sessionId} bought`;
    throw new TenantError("unknown_package", message);
  }

  #subscription(changes: TenantChanges, news: SubscriptionNews, eventTs: number): PaymentOutcome {
    const { store, tenants } = this.#deps;
    const { subscriptionId: id, price, status, periodStartMs: periodStartTs } = news;
    const known = this.#known(id);
    if (known !== undefined) {
      const hasEnded = known.status !== null && ENDED.has(known.status);
      if (eventTs < known.eventTs || (hasEnded && !ENDED.has(status))) return "ignored";
    }
    const values = { price, status, periodStartTs, eventTs };
    store.db
      .insert(subscriptionTable)
      .values({ id, ...values })
      .onConflictDoUpdate({ target: subscriptionTable.id, set: values })
      .run();
    const tenantId = known?.tenantId ?? null;
    if (tenantId === null) return "handled";
    const bought = price === null ? null : tenants.packages.ofPrice(price);
    // A price that no package has leaves the package as it is: the operator may add it later.
    const held = bought?.id ?? changes.tenant(tenantId).packageId;
    const packageId = PAID.has(status) ? held : UNPAID_PACKAGE;
    changes.setPackage(tenantId, packageId, periodStartTs ?? undefined);
    return "handled";
  }

  #known(subscriptionId: string): Subscription | undefined {
    return this.#deps.store.db
      .select()
      .from(subscriptionTable)
      .where(eq(subscriptionTable.id, subscriptionId))
      .get();
  }

  #link(id: string, tenantId: string): void {
    this.#deps.store.db
      .insert(subscriptionTable)
      .values({ id, tenantId, eventTs: 0 })
      .onConflictDoUpdate({ target: subscriptionTable.id, set: { tenantId } })
      .run();
  }
}

function sealedName(sessionId: string): string {
  return `checkout/${sessionId}`;
}
