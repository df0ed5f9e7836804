/**
 * What a request gets from this server and from llama-server, with the same model, over the same
 * API: whether each keyword of a schema holds, what happens near limits, whether answers repeat
 * beside others, and how fast they come.
 *
 *   bun test/bench/compare.ts --peer http://127.0.0.1:8080 [--model FILE.gguf] [--seeds N] [--speed]
 *
 * llama-server must serve the same file, with `-np 8`. Ollama runs the same library and converts
 * schemas with the same code; vLLM needs another model format and cannot be measured beside them.
 * The last line is JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import COMPARED_SCHEMAS from "./compare-schemas.json" with { type: "json" };
import { DECODE_SCHEMAS } from "./decode-schemas.ts";
import { createKey, round, startServer } from "./server.ts";

const { values: args } = parseArgs({
  options: {
    peer: { type: "string" },
    model: { type: "string" },
    seeds: { type: "string", default: "8" },
    speed: { type: "boolean", default: false },
  },
});
if (args.peer === undefined) throw new Error("--peer is the address of a llama-server");
const seeds = Array.from({ length: Number(args.seeds) }, (_, index) => index + 1);

interface Server {
  readonly name: string;
  readonly url: string;
  readonly key: string;
}

const dataDir = mkdtempSync(join(tmpdir(), "svc-compare-"));
const tiers = args.model === undefined ? [] : ["--tier-a", args.model, "--tier-b", args.model];
const own = await startServer(dataDir, [...tiers, "--rows", "8"]);
const servers: readonly Server[] = [
  { name: "svc", url: own.url, key: createKey(dataDir).api_key },
  { name: "llama-server", url: args.peer, key: "none" },
];

interface Reply {
  readonly status: number;
  readonly content: string;
  readonly finish: string;
  readonly tokens: number;
}

async function ask(server: Server, body: object): Promise<Reply> {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "svc-tier-b", messages: [user("Give me a record.")], ...body }),
  });
  const answer = (await response.json()) as {
    readonly choices?: readonly {
      readonly message: { readonly content: string | null };
      readonly finish_reason: string;
    }[];
    readonly usage?: { readonly completion_tokens: number };
  };
  const [choice] = answer.choices ?? [];
  return {
    status: response.status,
    content: choice?.message.content ?? "",
    finish: choice?.finish_reason ?? "",
    tokens: answer.usage?.completion_tokens ?? 0,
  };
}

const user = (content: string) => ({ role: "user", content });

const format = (schema: unknown) => ({
  response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema } },
});

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);

type Verdict = "valid" | "invalid" | "cut" | "refused";

function verdictOf({ content, finish, status }: Reply, schema: object): Verdict {
  if (status !== 200) return "refused";
  try {
    return ajv.validate(schema, JSON.parse(content)) ? "valid" : "invalid";
  } catch {
    return finish === "length" ? "cut" : "invalid";
  }
}

/** Each keyword's worst verdict over the seeds. */
async function keywords(server: Server): Promise<Readonly<Record<string, Verdict>>> {
  const worst: Record<string, Verdict> = {};
  const order: readonly Verdict[] = ["invalid", "cut", "refused", "valid"];
  for (const [name, schema] of Object.entries(COMPARED_SCHEMAS)) {
    const replies = await Promise.all(
      seeds.map((seed) =>
        ask(server, { ...format(schema), seed, temperature: 1, max_tokens: 300 }),
      ),
    );
    const verdicts = replies.map((reply) => verdictOf(reply, schema));
    worst[name] = order.find((verdict) => verdicts.includes(verdict)) ?? "valid";
  }
  return worst;
}

/** Answers to one schema under ever smaller limits. */
async function limits(server: Server): Promise<Readonly<Record<Verdict, number>>> {
  const counts = { valid: 0, invalid: 0, cut: 0, refused: 0 };
  const schema = COMPARED_SCHEMAS["properties, required"];
  for (const max_tokens of [4, 8, 12, 16, 20, 24, 28, 32]) {
    const reply = await ask(server, { ...format(schema), max_tokens, temperature: 0 });
    counts[verdictOf(reply, schema)] += 1;
  }
  return counts;
}

/** Different texts of one greedy request, alone and beside others of other lengths. */
async function texts(server: Server): Promise<number> {
  const one = () =>
    ask(server, { messages: [user("Tell me about the sea.")], max_tokens: 64, temperature: 0 });
  const seen = new Set([(await one()).content, (await one()).content]);
  for (let turn = 1; turn <= 4; turn++) {
    const others = Array.from({ length: 2 * turn - 1 }, (_, index) =>
      ask(server, { messages: [user("word ".repeat(7 * index + turn))], max_tokens: 80 }),
    );
    seen.add((await one()).content);
    await Promise.all(others);
  }
  return seen.size;
}

/** Tokens of all clients together, what the grammar forces included, and the time they took. */
async function run(server: Server, clients: number, schema: unknown) {
  const start = performance.now();
  const replies = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      ask(server, {
        messages: [user(`client ${client}`)],
        temperature: 0,
        ...(schema === null ? { max_tokens: 128 } : { max_tokens: 240, ...format(schema) }),
      }),
    ),
  );
  const tokens = replies.reduce((sum, reply) => sum + reply.tokens, 0);
  return { tokens, ms: performance.now() - start };
}

const ROUNDS = 1;

/** Tokens a second. The servers take turns, so that a busy machine slows both. */
async function speeds(): Promise<Readonly<Record<string, Record<string, number>>>> {
  const rates: Record<string, Record<string, number>> = {};
  const kinds = {
    free: null,
    mixed: DECODE_SCHEMAS.mixed,
    half_forced: DECODE_SCHEMAS.half_forced,
  };
  for (const server of servers) await run(server, 8, null);
  for (const clients of [1, 8]) {
    for (const [kind, schema] of Object.entries(kinds)) {
      const sums = servers.map(() => ({ tokens: 0, ms: 0 }));
      for (let turn = 0; turn < ROUNDS; turn++) {
        for (const [index, server] of servers.entries()) {
          const { tokens, ms } = await run(server, clients, schema);
          const sum = sums[index] ?? { tokens: 0, ms: 0 };
          sums[index] = { tokens: sum.tokens + tokens, ms: sum.ms + ms };
        }
      }
      rates[`${kind}_${clients}`] = Object.fromEntries(
        servers.map(({ name }, index) => {
          const { tokens, ms } = sums[index] ?? { tokens: 0, ms: 1 };
          return [name, round((tokens * 1000) / ms)];
        }),
      );
    }
  }
  return rates;
}

async function behaviour(): Promise<Readonly<Record<string, unknown>>> {
  const report: Record<string, unknown> = {};
  for (const server of servers) {
    report[server.name] = {
      keywords: await keywords(server),
      limits: await limits(server),
      texts: await texts(server),
    };
  }
  return report;
}

const report = args.speed ? { tokens_per_s: await speeds() } : await behaviour();
await own.stop();
rmSync(dataDir, { recursive: true });
process.stdout.write(`${JSON.stringify(report)}\n`);
