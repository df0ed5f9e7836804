/**
 * A gateway for people's own tests: in this process, with the embedded model or without any, in a
 * data directory that goes away with it. No port, no network; `fetch` is all that clients need.
 *
 *     const gateway = await createTestGateway({ answers: "sampled" });
 *     const client = new OpenAI(gateway.clientOptions);
 *     await gateway.close();
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { sha256 } from "./crypto/hash.ts";
import {
  GATEWAY_DEFAULTS,
  type Gateway,
  type GatewayConfig,
  type GatewayDeps,
  openGateway,
} from "./gateway.ts";
import { startEngine } from "./runtime/engine.ts";
import { type DoubleAnswers, startDouble } from "./testing-engine.ts";

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

/** Fewer rows: the engine tests each number of them on itself. */
const TEST_DEFAULTS = { ...GATEWAY_DEFAULTS, forceCpu: true, rows: 4 };

/**
 * A data directory is new here each time, but the engine is not: what its self-test found is kept
 * for the next test gateway, which believes it where its canary gives the same bits.
 */
const startSharing: GatewayDeps["startEngine"] = (options) => {
  const selfTestDir = join(tmpdir(), `svc-gateway-self-tests-${userInfo().uid}`);
  return startEngine({ ...options, selfTestDir });
};

/** What a test gateway is, beside the settings of any gateway. */
export interface TestGatewayOptions extends Partial<GatewayConfig> {
  /**
   * `model` answers with the embedded model; the others with a value that the schema allows, at
   * once and without a model: see `testing-engine.ts`.
   */
  readonly answers?: "model" | DoubleAnswers;
  /**
   * Unix milliseconds at which the clock stands still. Ids, keys and seeds are then the same in
   * every run too, so whole answers can be compared with stored ones.
   */
  readonly clockMs?: number;
}

/**
 * @returns once the model can answer: on two slow cores in 0.75 s, the first time on a machine in
 *   1.75 s; without a model in far less.
 */
export async function createTestGateway(
  { answers = "model", clockMs, ...config }: TestGatewayOptions = {},
  deps: Partial<GatewayDeps> = {},
): Promise<TestGateway> {
  const own = config.dataDir === undefined ? mkdtempSync(join(tmpdir(), "svc-gateway-")) : null;
  const dataDir = config.dataDir ?? own ?? "";
  const startModel: GatewayDeps["startEngine"] = own === null ? startEngine : startSharing;
  const gateway = openGateway(
    { ...TEST_DEFAULTS, ...config, dataDir },
    {
      log: sayFailures,
      startEngine: answers === "model" ? startModel : () => startDouble(answers),
      ...(clockMs === undefined ? {} : standingStill(clockMs)),
      ...deps,
    },
  );
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

/** What an answer with status 500 says that the log has. */
const sayFailures: GatewayDeps["log"] = (severity, event, facts) => {
  if (severity === "error") process.stderr.write(`svc: ${event} ${JSON.stringify(facts)}\n`);
};

/** Time that does not pass, and bytes that look random and are the same in every run. */
function standingStill(nowMs: number): Pick<GatewayDeps, "nowMs" | "bootedMs" | "randomBytes"> {
  let drawn = 0;
  const block = (): Uint8Array => sha256(`svc-test-gateway ${drawn++}`);
  const randomBytes = (count: number): Uint8Array => {
    const blocks = Array.from({ length: Math.ceil(count / 32) }, block);
    return Uint8Array.from(Buffer.concat(blocks)).subarray(0, count);
  };
  return { nowMs: () => nowMs, bootedMs: nowMs, randomBytes };
}
