/**
 * Memory over many requests of all kinds: whole and streamed, free, strict with schemas that are
 * new each time, with tools, long prompts, and clients that leave in the middle.
 *
 *   bun test/bench/memory.ts [--requests N] [--clients N] [--model NAME_OR_FILE]
 *
 * Prints resident memory every twentieth of the way; the last line is JSON. Exit code 1: it grows.
 */
import { parseArgs } from "node:util";
import { GATEWAY_DEFAULTS } from "../../src/gateway.ts";
import { createTestGateway } from "../../src/testing.ts";

const { values: args } = parseArgs({
  options: {
    requests: { type: "string", default: "10000" },
    clients: { type: "string", default: "8" },
    model: { type: "string", default: "svc-tiny" },
  },
});
const total = Number(args.requests);
/** Over the second half of the way; the ledger's own growth is some 0.3 of it. */
const GROWTH_MIB_PER_1000_MAX = 1;

const gateway = await createTestGateway({
  tiers: { "svc-tier-a": args.model, "svc-tier-b": args.model },
  ...{ rows: GATEWAY_DEFAULTS.rows, threads: 1 },
});

function bodyOf(index: number): Readonly<Record<string, unknown>> {
  const words = "Invoice A-77 from Larsen over 120.50 EUR. ".repeat(index % 3);
  const messages = [{ role: "user", content: `${words}Number ${index}` }];
  const base = { model: "svc-tier-b", messages, temperature: index % 2, max_tokens: 3 };
  const properties = { [`f${index}`]: { enum: ["a", "b"] }, n: { type: "integer" } };
  const schema = { type: "object", properties, required: [`f${index}`] };
  switch (index % 5) {
    case 0: {
      const json_schema = { name: "x", strict: true, schema };
      return { ...base, max_tokens: 24, response_format: { type: "json_schema", json_schema } };
    }
    case 1:
      return { ...base, stream: true, top_p: 0.9 };
    case 2: {
      const tools = [{ type: "function", function: { name: "f", parameters: schema } }];
      return { ...base, max_tokens: 24, tools, tool_choice: "required" };
    }
    default:
      return { ...base, logprobs: index % 3 === 0 };
  }
}

let left = 0;
const statuses = new Map<number, number>();
async function ask(index: number): Promise<void> {
  const stop = new AbortController();
  // Every tenth client leaves, some before their first token.
  if (index % 10 === 9) setTimeout(() => stop.abort(), index % 30);
  try {
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(bodyOf(index)),
      signal: stop.signal,
    });
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    await response.arrayBuffer();
  } catch {
    left += 1;
  }
}

/** Resident memory in MiB after a twentieth of the requests each, rubbish collected. */
const curve: number[] = [];
const start = performance.now();
let next = 0;
for (let part = 1; part <= 20; part++) {
  const until = Math.floor((total * part) / 20);
  const client = async (): Promise<void> => {
    while (next < until) await ask(next++);
  };
  await Promise.all(Array.from({ length: Number(args.clients) }, client));
  Bun.gc(true);
  // Pages go back to the system in the background.
  await Bun.sleep(500);
  curve.push(Math.round(process.memoryUsage.rss() / 2 ** 20));
  process.stderr.write(`${until} requests: ${curve.at(-1)} MiB\n`);
}
await gateway.close();

const growth = slope(curve.slice(10)) / (total / 20 / 1000);
const report = {
  requests: total,
  seconds: Math.round((performance.now() - start) / 1000),
  rss_mib: curve,
  growth_mib_per_1000: Number(growth.toPrecision(3)),
  statuses: Object.fromEntries(statuses),
  left,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(growth > GROWTH_MIB_PER_1000_MAX ? 1 : 0);

/** Of the line through the points at 0, 1, 2, …: least squares. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const pairs = values.map((value, at) => [(at - middle) * (value - mean), (at - middle) ** 2]);
  const [above, below] = [0, 1].map((of) => pairs.reduce((sum, pair) => sum + (pair[of] ?? 0), 0));
  return (above ?? 0) / (below ?? 1);
}
