/**
 * Memory over many requests of all kinds: whole and streamed, free, strict, with tools, and clients
 * that leave in the middle.
 *
 *   bun test/bench/memory.ts [--requests N] [--clients N] [--model NAME_OR_FILE]
 *
 * Prints resident memory and live JavaScript heap every twentieth of the way; the last line is JSON.
 * Exit code 1: one of them grows.
 */
import { heapStats } from "bun:jsc";
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
/**
 * From the least in the second quarter of the way to the least in the last. What is kept comes and
 * goes, and pages that are free are not given back at once, so that neither is a line.
 */
const GROWTH_MAX = { rss: 1.2, heap: 1.1 };

const gateway = await createTestGateway({
  tiers: { "svc-tier-a": args.model, "svc-tier-b": args.model },
  ...{ rows: GATEWAY_DEFAULTS.rows, threads: 1 },
});

function bodyOf(index: number): Readonly<Record<string, unknown>> {
  const words = "Invoice A-77 from Larsen over 120.50 EUR. ".repeat(index % 3);
  const messages = [{ role: "user", content: `${words}Number ${index}` }];
  const base = { model: "svc-tier-b", messages, temperature: index % 2, max_tokens: 3 };
  // More schemas than are kept compiled; what is kept of names fills up in the first quarter.
  const name = `f${index % 1000}`;
  const properties = { [name]: { enum: ["a", "b"] }, n: { type: "integer" } };
  const schema = { type: "object", properties, required: [name] };
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

/** In MiB after a twentieth of the requests each, rubbish collected. */
const curves = { rss: [] as number[], heap: [] as number[] };
const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
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
  curves.rss.push(mib(process.memoryUsage.rss()));
  curves.heap.push(mib(heapStats().heapSize));
  process.stderr.write(
    `${until} requests: ${curves.rss.at(-1)} MiB, of which live ${curves.heap.at(-1)}\n`,
  );
}
await gateway.close();

const growthOf = (curve: readonly number[]): number =>
  Number((Math.min(...curve.slice(15)) / Math.min(...curve.slice(5, 10))).toPrecision(3));
const growth = { rss: growthOf(curves.rss), heap: growthOf(curves.heap) };
const report = {
  requests: total,
  seconds: Math.round((performance.now() - start) / 1000),
  rss_mib: curves.rss,
  heap_mib: curves.heap,
  growth,
  statuses: Object.fromEntries(statuses),
  left,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(growth.rss > GROWTH_MAX.rss || growth.heap > GROWTH_MAX.heap ? 1 : 0);
