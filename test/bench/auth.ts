/**
 * What it costs to know who calls: CPU time of a bearer key and of a signed request, and whether a
 * refusal takes the same time for an unknown, a revoked and a malformed key: a 401, and the 429
 * that stands in its place once an address has failed too often.
 * `bun test/bench/auth.ts [--count N]` prints one JSON line last.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorFunction, mean, median, sampleVariance } from "simple-statistics";
import { generateSigningKey, signatureCheck } from "../../src/crypto/ed25519.ts";
import { type CredentialsDeps, readIdentity } from "../../src/http/credentials.ts";
import { readBody, readTarget } from "../../src/http/receive.ts";
import { DEFAULT_LIMITS } from "../../src/service/limits.ts";
import { Nonces } from "../../src/tenant/nonces.ts";
import { SignedRequests } from "../../src/tenant/signed-request.ts";
import { createTestGateway } from "../../src/testing.ts";
import { signRequest } from "../../src/verify/sign-request.ts";
import { openLab } from "../trust-lab.ts";

const { values } = parseArgs({ options: { count: { type: "string", default: "20000" } } });
const COUNT = Number(values.count);
const TOGETHER = 64;
const URL_OF_ALL = "http://localhost/v1/search";
const BODY = JSON.stringify({ query: "x".repeat(1000) });

const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
try {
  const costs = await measureCosts();
  const refused = await measureRefusals(401, 1e9);
  const limited = await measureRefusals(429, 1);
  process.stdout.write(`${JSON.stringify({ ...costs, refused, limited })}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measureCosts(): Promise<Readonly<Record<string, number>>> {
  const lab = openLab({ dataDir: join(directory, "costs"), nowMs: Date.now() });
  const { apiKey, appId, tenantId } = lab.tenants.createKey({ tenantName: "bench" });
  const key = generateSigningKey();
  const keyId = lab.tenants.change((changes) => changes.addSigner(tenantId, appId, key.publicKey));
  const { clock, store, tenants } = lab;
  const nowMs = (): number => clock.nowMs;
  const signed = new SignedRequests({
    signerOf: (id) => tenants.signerOf(id),
    nonces: new Nonces(store, clock.nowMs),
    bootedMs: 0,
    nowMs,
  });
  const deps: CredentialsDeps = {
    authenticate: (given) => tenants.authenticateBearer(given),
    authenticateSigned: async (request) => {
      const outcome = await signed.verify(request);
      return "keyId" in outcome ? tenants.signerIdentity(outcome.keyId) : null;
    },
  };
  const received = async (headers: Record<string, string>) => {
    const request = new Request(URL_OF_ALL, { method: "POST", headers, body: BODY });
    const target = readTarget(request, null);
    const message = await readBody(request, 1 << 20);
    return { request, target, message, requestId: "req_bench" };
  };
  const bearer = await received({ authorization: `Bearer ${apiKey}` });
  const ask = async (each: typeof bearer): Promise<void> => {
    if ((await readIdentity(deps, each)) === null) throw new Error("a caller was not known");
  };
  const signer = { keyId, seed: key.exportSeed() };
  const sign = async () => {
    const request = { method: "POST", url: URL_OF_ALL, body: BODY };
    return received(await signRequest(request, signer, { nowMs }));
  };
  // Signing in JavaScript takes longer than checking: fewer of them.
  const requests = await Promise.all(Array.from({ length: COUNT / 5 }, sign));
  const warm = await Promise.all(Array.from({ length: 1000 }, sign));
  for (const each of warm) await ask(each);
  for (let index = 0; index < 1000; index++) await ask(bearer);
  const half = requests.length / 2;
  const message = randomBytes(400);
  const signature = key.sign(message);
  const check = signatureCheck(key.publicKey);
  const result = {
    // What of a signed request is the runtime's own verification, on this machine and just now.
    ed25519_us: await cpuOf(half, async () => {
      if (!check(message, signature)) throw new Error("not verified");
    }),
    bearer_us: await cpuOf(COUNT, () => ask(bearer)),
    signed_us: await cpuOf(half, (index) => ask(requests[index] ?? bearer)),
    signed_together_us: await cpuOf(
      half / TOGETHER,
      async (index) => {
        const first = half + index * TOGETHER;
        await Promise.all(requests.slice(first, first + TOGETHER).map(ask));
      },
      TOGETHER,
    ),
  };
  lab.close();
  return result;
}

/** Microseconds of CPU, user and system, for each of `count` times `each`. */
async function cpuOf(
  count: number,
  work: (index: number) => Promise<void>,
  each = 1,
): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < Math.floor(count); index++) await work(index);
  const { system, user } = process.cpuUsage(before);
  return Math.round(((system + user) / (Math.floor(count) * each)) * 100) / 100;
}

interface Refusals {
  readonly us: Readonly<Record<string, number>>;
  /** Probability of a difference as large as this between keys that are treated alike. */
  readonly welch_p: Readonly<Record<string, number>>;
  readonly mann_whitney_p: Readonly<Record<string, number>>;
}

/** The whole way of a request through the gateway, in an order that nobody could guess. */
async function measureRefusals(
  expected: 401 | 429,
  failedAttemptsPerMinute: number,
): Promise<Refusals> {
  const limits = { ...DEFAULT_LIMITS, failedAttemptsPerMinute };
  const gateway = await createTestGateway({ dataDir: join(directory, String(expected)), limits });
  const { tenants } = gateway.gateway;
  const { apiKey, keyId } = tenants.createKey({ tenantName: "bench" });
  tenants.revokeKey(keyId);
  const keys = {
    unknown: `sk-svc-${randomBytes(16).toString("hex")}`,
    revoked: apiKey,
    malformed: `sk-svc-${randomBytes(16).toString("hex").slice(1)}g`,
  };
  const names = Object.keys(keys) as (keyof typeof keys)[];
  const times: Record<keyof typeof keys, number[]> = { unknown: [], revoked: [], malformed: [] };
  let asked = 0;
  const ask = async (name: keyof typeof keys): Promise<number> => {
    const request = new Request("http://localhost/v1/me", {
      headers: { authorization: `Bearer ${keys[name]}` },
    });
    const startedNs = Bun.nanoseconds();
    const { status } = await gateway.gateway.fetch(request, { clientAddress: "192.0.2.1" });
    const us = (Bun.nanoseconds() - startedNs) / 1000;
    if (status !== expected && asked > 0) throw new Error(`status ${status}`);
    asked += 1;
    return us;
  };
  for (let round = 0; round < 2000; round++) await ask(names[round % 3] ?? "unknown");
  for (let round = 0; round < COUNT / 4; round++) {
    for (const name of shuffled(names)) times[name].push(await ask(name));
  }
  await gateway.close();
  const pairs = [
    ["unknown", "revoked"],
    ["unknown", "malformed"],
    ["revoked", "malformed"],
  ] as const;
  const compared = (test: (a: number[], b: number[]) => number) =>
    Object.fromEntries(pairs.map(([a, b]) => [`${a}_${b}`, rounded(test(times[a], times[b]))]));
  return {
    us: Object.fromEntries(names.map((name) => [name, rounded(median(times[name]))])),
    welch_p: compared((a, b) => welch(trimmed(a), trimmed(b))),
    mann_whitney_p: compared(mannWhitney),
  };
}

/** Each order as often as any other: sorting by chance prefers some. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: randomBytes(6).readUIntBE(0, 6) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Without the slowest hundredth: what other programs on the machine did. */
function trimmed(times: readonly number[]): number[] {
  return [...times].sort((a, b) => a - b).slice(0, Math.floor(times.length * 0.99));
}

/** Two-sided; with thousands of times, Student's distribution is the normal one. */
function welch(a: number[], b: number[]): number {
  const error = Math.sqrt(sampleVariance(a) / a.length + sampleVariance(b) / b.length);
  return twoSided((mean(a) - mean(b)) / error);
}

function mannWhitney(a: number[], b: number[]): number {
  const [n, m] = [a.length, b.length];
  const u = rankSum(a, b) - (n * (n + 1)) / 2;
  return twoSided((u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12));
}

function twoSided(z: number): number {
  return 1 - errorFunction(Math.abs(z) / Math.SQRT2);
}

/** Of `a` among both; equal times share the mean of their ranks. (The library's miscounts ties.) */
function rankSum(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((us) => ({ us, own: 1 })), ...b.map((us) => ({ us, own: 0 }))];
  all.sort((left, right) => left.us - right.us);
  let sum = 0;
  for (let first = 0; first < all.length; ) {
    let end = first;
    let own = 0;
    for (; all[end]?.us === all[first]?.us && end < all.length; end++) own += all[end]?.own ?? 0;
    sum += own * ((first + 1 + end) / 2);
    first = end;
  }
  return sum;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
