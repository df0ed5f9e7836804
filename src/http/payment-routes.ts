/** The payment provider's events, and the page where a buyer collects what was bought, once. */
import { Elysia } from "elysia";
import { readPaymentEvent } from "../tenant/payment-event.ts";
import type { Payments } from "../tenant/payments.ts";
import { jsonAnswer } from "./answer.ts";
import type { DoorPlugin } from "./door.ts";
import { formOf, page } from "./form.ts";
import { collectedPage, collectPage, escapeHtml, keyPage, noCheckoutPage } from "./sign-up-page.ts";
import { QueryReader } from "./wire/query.ts";

export interface PaymentRoutesDeps {
  readonly payments: Payments;
  /** Endpoint secrets; empty where no payments are taken: then no event is genuine. */
  readonly paymentSecrets: readonly string[];
  readonly nowMs: () => number;
}

export function paymentRoutes(door: DoorPlugin, deps: PaymentRoutesDeps) {
  const { nowMs, paymentSecrets: secrets, payments } = deps;
  return (
    new Elysia()
      .use(door)
      .post("/webhooks/stripe", async ({ call }) => {
        const signature = call.headers.get("stripe-signature");
        const event = await readPaymentEvent({ secrets, nowMs }, call.body, signature);
        return jsonAnswer({ received: true, outcome: payments.handle(event) });
      })
      // Looking is free: browsers and mail scanners follow links. Collecting takes the button.
      .get("/checkout/complete", ({ call }) => {
        const query = new QueryReader(call.query, ["session_id"]);
        const sessionId = query.text("session_id", /^cs_[A-Za-z0-9_]{1,250}$/);
        return page(sessionId === null ? noCheckoutPage() : collectPage(escapeHtml(sessionId)));
      })
      .post("/checkout/complete", ({ call }) => {
        const collection = payments.collect(formOf(call, "session_id"));
        if (collection.kind === "unknown") return page(noCheckoutPage());
        if (collection.kind === "collected") return page(collectedPage());
        const { apiKey, hmacSecret } = collection.key;
        return page(keyPage(escapeHtml(apiKey), escapeHtml(hmacSecret)));
      })
  );
}
