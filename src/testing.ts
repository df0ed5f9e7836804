/**
 * A gateway for people's own tests: in this process, with the embedded model, in a data directory
 * that goes away with it. No port, no network; `fetch` is all that clients need.
 *
 *     const gateway = await createTestGateway();
 *     const client = new OpenAI({ ...gateway.clientOptions });
 *     await gateway.close();
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  GATEWAY_DEFAULTS,
  type Gateway,
  type GatewayConfig,
  type GatewayDeps,
  openGateway,
} from "./gateway.ts";

/** As `fetch` takes it. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface TestGateway {
  /** Any host reaches the gateway; a path alone does too. */
  readonly fetch: Fetch;
  readonly apiKey: string;
  /** 64 hex digits: signs every response to this key. */
  readonly hmacSecret: string;
  readonly tenantId: string;
  readonly appId: string;
  /** What the `openai` client's constructor takes. */
  readonly clientOptions: {
    readonly baseURL: string;
    readonly apiKey: string;
    readonly fetch: Fetch;
  };
  /** The parts behind it, to look at. */
  readonly gateway: Gateway;
  /** Stops the gateway and removes its data directory. */
  close(): Promise<void>;
}

const ORIGIN = "http://localhost";

/** Fewer rows: the engine tests each number of them on itself, and a data directory here is new. */
const TEST_DEFAULTS = { ...GATEWAY_DEFAULTS, forceCpu: true, rows: 4 };

/** @returns once the model can answer, in about half a second. */
export async function createTestGateway(
  config: Partial<GatewayConfig> = {},
  deps: Partial<GatewayDeps> = {},
): Promise<TestGateway> {
  const own = config.dataDir === undefined ? mkdtempSync(join(tmpdir(), "svc-gateway-")) : null;
  const dataDir = config.dataDir ?? own ?? "";
  const gateway = openGateway({ ...TEST_DEFAULTS, ...config, dataDir }, deps);
  const close = async (): Promise<void> => {
    await gateway.close();
    if (own !== null) rmSync(own, { recursive: true, force: true });
  };
  try {
    await gateway.whenReady;
  } catch (error) {
    await close();
    throw error;
  }
  const fetch: Fetch = (input, init) =>
    gateway.fetch(
      input instanceof Request
        ? new Request(input, init)
        : new Request(new URL(input, ORIGIN).href, init),
    );
  const { apiKey, hmacSecret, tenantId, appId } = gateway.tenants.createKey({ tenantName: "test" });
  const clientOptions = { baseURL: `${ORIGIN}/v1`, apiKey, fetch };
  return { fetch, apiKey, hmacSecret, tenantId, appId, clientOptions, gateway, close };
}
