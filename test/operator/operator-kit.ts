/** A gateway with an admin key, called without a port. */
import { GATEWAY_DEFAULTS, type Gateway, openGateway } from "../../src/gateway.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";

export const ADMIN_KEY = "an-admin-key-for-tests";

export const WEBHOOK_SECRET = "whsec_test";

export interface Operated {
  readonly gateway: Gateway;
  readonly clock: { nowMs: number };
  readonly logged: string[];
  call(
    method: string,
    path: string,
    options?: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Who connects. */
      readonly from?: string;
    },
  ): Promise<Response>;
  /** With the admin key; the body is JSON. */
  admin(method: string, path: string, body?: unknown): Promise<Response>;
}

export function openOperated(adminKey: string | null = ADMIN_KEY): Operated {
  const clock = { nowMs: Date.UTC(2026, 10, 20, 12) };
  const logged: string[] = [];
  const gateway = openGateway(
    {
      ...GATEWAY_DEFAULTS,
      dataDir: temporaryDirectory(),
      adminKey,
      stripeWebhookSecrets: [WEBHOOK_SECRET],
      trustedProxies: ["10.0.0.1"],
    },
    {
      nowMs: () => clock.nowMs,
      log: (...parts) => void logged.push(JSON.stringify(parts)),
    },
  );
  onTestEnd(() => void gateway.close());
  const call: Operated["call"] = (method, path, options = {}) => {
    const { body, from = "192.0.2.1", headers = {} } = options;
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const request = new Request(`http://localhost${path}`, init);
    return gateway.fetch(request, { clientAddress: from });
  };
  return {
    gateway,
    clock,
    logged,
    call,
    admin: (method, path, body) =>
      call(method, path, {
        headers: { "x-admin-key": ADMIN_KEY, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}
