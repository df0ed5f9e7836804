/**
 * What `svc doctor` finds out by loading the models as a server would: where they run and how, what
 * they take, and how fast they answer.
 */
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { engineOptions } from "../gateway.ts";
import { compileSchema } from "../grammar/compile.ts";
import type { Grammar } from "../grammar/grammar.ts";
import { type Engine, startEngine, type TierInfo } from "../runtime/engine.ts";
import type { TierName } from "../runtime/request.ts";
import type { Check } from "./check.ts";
import { cliErrorFrom } from "./cli-error.ts";
import { gatewayConfig } from "./serve.ts";
import { mebibytes } from "./units.ts";

/** A string of this many characters: some dozens of tokens, so that slow machines are done soon. */
const TEXT = compileSchema({ type: "string", minLength: 100, maxLength: 100 });

export async function checkEngine(config: Config): Promise<Check[]> {
  const selfTestDir = join(config.dataDir, "self-tests");
  // What a server found out before is believed; nothing is made where there is none yet.
  const known = existsSync(selfTestDir) ? selfTestDir : undefined;
  const engine = startEngine(engineOptions(gatewayConfig(config), () => {}, known));
  try {
    await engine.whenReady;
    const checks = new Map<string, Check>();
    for (const [tier, info] of engine.tiers) {
      if (!checks.has(info.fingerprint))
        checks.set(info.fingerprint, await check(engine, tier, info));
    }
    return [...checks.values()];
  } catch (error) {
    const reason = cliErrorFrom(error);
    const detail = reason?.message ?? String(error);
    return [{ name: "engine", status: "fail", detail, fix: reason?.hint ?? null }];
  } finally {
    await engine.close();
  }
}

async function check(engine: Engine<Grammar>, tier: TierName, info: TierInfo): Promise<Check> {
  await tokensPerSecond(engine, tier, 1);
  const alone = await tokensPerSecond(engine, tier, 1);
  const together = info.rows === 1 ? alone : await tokensPerSecond(engine, tier, info.rows);
  const detail = [
    `${info.model} on ${deviceOf(info)}, llama.cpp ${info.fingerprintParts.llama_cpp}`,
    `${info.rows} × ${info.contextTokens} tokens`,
    `${mebibytes(info.weightsBytes)} weights and ${mebibytes(info.cellsBytes)} cells`,
    info.deterministic ? `row class ${info.rowClass.join(",")}` : "no row class",
    `about ${alone} tokens/s for one answer, ${together} for ${info.rows} at a time`,
    info.fingerprint,
  ].join("; ");
  const name = `engine ${info.model}`;
  if (info.deterministic) return { name, status: "ok", detail, fix: null };
  const fix = "the same request may get other answers here: try --cpu, or another model";
  return { name, status: "warn", detail, fix };
}

function deviceOf({ device, threads }: TierInfo): string {
  if (device !== "cpu") return device;
  const model = cpus()[0]?.model.trim() ?? "";
  return `CPU (${model}), ${threads} ${threads === 1 ? "thread" : "threads"}`;
}

/** Prompts included. */
async function tokensPerSecond(
  engine: Engine<Grammar>,
  tier: TierName,
  clients: number,
): Promise<number> {
  const startedMs = performance.now();
  const counts = await Promise.all(
    Array.from({ length: clients }, (_, client) => countTokens(engine, tier, client)),
  );
  const seconds = (performance.now() - startedMs) / 1000;
  return Math.round(counts.reduce((sum, count) => sum + count, 0) / seconds);
}

async function countTokens(engine: Engine<Grammar>, tier: TierName, client: number) {
  const completion = await engine.complete({
    tier,
    tenantId: "doctor",
    messages: [{ role: "user", content: `Report ${client}: what happened this week?` }],
    ...{ tools: [], grammar: TEXT, schema: null, schemaInPrompt: false },
    ...{ maxTokens: null, stop: [], seed: null, temperature: 0, topP: 1 },
    ...{ presencePenalty: 0, frequencyPenalty: 0, logitBias: new Map() },
    ...{ topLogprobs: null, traced: false, signal: new AbortController().signal },
  });
  for await (const event of completion) {
    if (event.kind === "end") return event.completionTokens;
  }
  return 0;
}
