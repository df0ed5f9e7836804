/**
 * What scheduler, generation and text cost a token, with a network that takes no time at all:
 * `bun test/bench/scheduler.ts` prints one JSON line. What `decode.ts` finds beyond that on the
 * JavaScript thread are the addon's calls and the waking of threads.
 */
import { loadVocabulary } from "../../src/mask/vocabulary.ts";
import type { Decoder, LogitProbe, StepRow } from "../../src/runtime/decoder.ts";
import { Host } from "../../src/runtime/host.ts";
import { Pool } from "../../src/runtime/pool.ts";
import { request } from "../helpers/engine.ts";
import { vocabularyPath } from "../helpers/vocabularies.ts";

const ROWS = 8;
const TOKENS = 20_000;
const COMMON_TOKENS = 5000;

class NoNetwork implements Decoder {
  readonly slots = ROWS + 4;
  readonly slotPositions = 1e6;
  readonly batchTokensMax = 128;
  readonly memoryBytes = 0;
  readonly canTruncate = true;
  readonly #lengths = new Array<number>(this.slots).fill(0);
  #sampled = 0;

  length(slot: number): number {
    return this.#lengths[slot] ?? 0;
  }
  async step(rows: readonly StepRow[]): Promise<readonly number[]> {
    for (const { slot, tokens } of rows) this.#lengths[slot] = this.length(slot) + tokens.length;
    return rows.map((_, index) => index);
  }
  configure(): void {}
  async sample(): Promise<number> {
    this.#sampled += 1;
    return 1000 + (this.#sampled % COMMON_TOKENS);
  }
  async ranked(): Promise<readonly number[]> {
    return [];
  }
  async probe(): Promise<LogitProbe> {
    return { best: 0, logits: new Map(), weight: 1 };
  }
  truncate(slot: number, length: number): void {
    this.#lengths[slot] = length;
  }
  async copy(): Promise<void> {}
  async dispose(): Promise<void> {}
}

const table = await loadVocabulary(vocabularyPath("llama-bpe"));

async function usPerToken(clients: number): Promise<number> {
  const decoder = new NoNetwork();
  const lane = Array.from({ length: ROWS }, (_, index) => index + 1);
  const options = { rows: ROWS, chunkTokens: 128, queueMax: 64, readsBothWays: false };
  const costOf = (count: number) => 4 + count;
  const pool = new Pool({ decoders: [decoder], table, lane, costOf, ...options });
  const prompts = { reasoning: null, build: () => ({ tokens: [1, 2], startsThinking: false }) };
  const host = new Host({ pool, table, prompts });
  const answer = async (maxTokens: number): Promise<void> => {
    const completion = host.complete(request("", { maxTokens }), null);
    for await (const event of completion) if (event.kind === "end") return;
  };
  const run = (count: number) => Promise.all(Array.from({ length: clients }, () => answer(count)));
  await run(TOKENS / 10);
  const cpu = process.threadCpuUsage();
  await run(TOKENS);
  const { system, user } = process.threadCpuUsage(cpu);
  await host.close();
  return Number(((user + system) / (clients * TOKENS)).toPrecision(2));
}

const report = { one_client_us: await usPerToken(1), eight_clients_us: await usPerToken(8) };
process.stdout.write(`${JSON.stringify(report)}\n`);
