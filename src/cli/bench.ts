/**
 * `svc bench`: how fast this machine answers with these settings, free and locked. The whole way of
 * a request is measured, signature and ledger included, in a data directory that goes away again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Gateway, openGateway } from "../gateway.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { type CliIo, print, printJson, printTable } from "./io.ts";
import { gatewayConfig } from "./serve.ts";
import { addSettings, examples, readSettings } from "./settings.ts";

export function benchCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("bench")
    .description("measure how fast this machine answers, free and locked to a schema")
    .option("--tokens <N>", "tokens of each free answer", wholeFrom, 64)
    .option("--clients <N>", "requests at the same time", wholeFrom, 4)
    .option("--model <ALIAS>", "svc-tier-a or svc-tier-b", "svc-tier-b")
    .option("--json", "print one line { model, clients, start_ms, free: {...}, strict: {...} }");
  addSettings(command, ["tierA", "tierB", "manifest", "cpu", "threads", "context", "rows"]);
  command.addHelpText(
    "after",
    `${examples("svc bench", "svc bench --tier-b ./qwen3-1.7b.gguf --clients 8")}

Stop other work on the machine first: threads that share a core wait for each other.`,
  );
  command.action(async (options) => {
    const { clients, json, model, tokens } = options;
    const { config } = await readSettings(io, { ...options });
    const dataDir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const startedMs = performance.now();
    const gateway = openGateway({ ...gatewayConfig(config), dataDir });
    try {
      await gateway.whenReady;
      const startMs = Math.round(performance.now() - startedMs);
      const ask = asker(gateway, model);
      await ask(0, { max_tokens: 4 });
      const free = await measure(ask, clients, { max_tokens: tokens });
      const strict = await measure(ask, clients, { response_format: FORMAT });
      const facts = { model, clients, start_ms: startMs, free, strict };
      if (json) printJson(io, facts);
      else printFacts(io, facts);
    } finally {
      await gateway.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
  return command;
}

const FORMAT = {
  type: "json_schema",
  json_schema: {
    name: "bench",
    strict: true,
    schema: {
      type: "object",
      properties: {
        title: { type: "string", minLength: 20, maxLength: 60 },
        kind: { enum: ["invoice", "receipt", "reminder"] },
        total: { type: "number", minimum: 0, maximum: 10_000 },
        notes: { type: "string", minLength: 40, maxLength: 120 },
      },
      required: ["title", "kind", "total", "notes"],
    },
  },
};

type Ask = (
  n: number,
  changes: object,
) => Promise<{ readonly tokens: number; readonly ms: number }>;

/** Through the gateway's own door, without a port. */
function asker(gateway: Gateway, model: string): Ask {
  const { apiKey } = gateway.tenants.createKey({ tenantName: "bench" });
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  return async (n, changes) => {
    const content = `Report number ${n}: what happened this week, and what does it cost?`;
    const body = JSON.stringify({ model, messages: [{ role: "user", content }], ...changes });
    const startedMs = performance.now();
    const response = await gateway.fetch(
      new Request("http://localhost/v1/chat/completions", { method: "POST", headers, body }),
    );
    const answer = (await response.json()) as {
      readonly usage?: { readonly completion_tokens: number };
      readonly error?: { readonly message: string };
    };
    if (answer.usage === undefined) {
      throw new CliError(answer.error?.message ?? "no answer came", { code: "bench_failed" });
    }
    return { tokens: answer.usage.completion_tokens, ms: performance.now() - startedMs };
  };
}

interface Measured {
  readonly tokens_per_s: number;
  readonly answers: number;
  readonly median_ms: number;
}

/** Two answers of each client, one after the other. */
async function measure(ask: Ask, clients: number, changes: object): Promise<Measured> {
  const startedMs = performance.now();
  const each = async (client: number) => [
    await ask(2 * client + 1, changes),
    await ask(2 * client + 2, changes),
  ];
  const answers = (await Promise.all(Array.from({ length: clients }, (_, n) => each(n)))).flat();
  const seconds = (performance.now() - startedMs) / 1000;
  const tokens = answers.reduce((sum, answer) => sum + answer.tokens, 0);
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    tokens_per_s: Math.round((tokens / seconds) * 10) / 10,
    answers: answers.length,
    median_ms: Math.round(times[Math.floor(times.length / 2)] ?? 0),
  };
}

function printFacts(
  io: CliIo,
  facts: {
    readonly model: string;
    readonly clients: number;
    readonly start_ms: number;
    readonly free: Measured;
    readonly strict: Measured;
  },
): void {
  const { clients, free, model, start_ms: startMs, strict } = facts;
  print(io, `${model}, ${clients} at a time; ready after ${startMs} ms`);
  const row = (name: string, it: Measured): string[] => [
    name,
    `${it.tokens_per_s} tokens/s`,
    `${it.median_ms} ms an answer (median of ${it.answers})`,
  ];
  printTable(io, [row("free", free), row("strict", strict)]);
}

function wholeFrom(text: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  const message = `${JSON.stringify(text)} is not a whole number from 1 to 9999`;
  throw new CliError(message, { code: "usage", exitCode: EXIT_USAGE });
}
