/**
 * Writes one shard of training data: `bun generator/shards.ts FILE NUMBER [SAMPLES]`. The number is
 * the seed: the same number gives the same bytes (read by ../trainer/batches.py).
 */
import { readFileSync } from "node:fs";
import type { Piece } from "./answer.ts";
import { writeArrays } from "./arrays.ts";
import { readGeneratorData } from "./data-files.ts";
import { systemText } from "./prompt.ts";
import { Rng } from "./rng.ts";
import { drawSample, type Sample, SHARES, TASKS } from "./sample.ts";
import { tagsOf } from "./tags.ts";
import { type Merge, mergeOf, Tokenizer } from "./tokenizer.ts";

/** Weights are stored in tenths. */
const WEIGHT_SCALE = 10;
const TOKENS_MAX = 800;

export function readMerges(): Merge[] {
  const path = new URL("../data/merges.txt", import.meta.url).pathname;
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map(mergeOf);
}

export const readTokenizer = (): Tokenizer => new Tokenizer(readMerges());

export function encodePrompt(tokenizer: Tokenizer, sample: Sample): number[] {
  const system = systemText(sample.system, sample.tools);
  const end = tokenizer.control("<|end|>");
  const turn = (role: "<|system|>" | "<|user|>", text: string) => [
    tokenizer.control(role),
    ...tokenizer.encode(text),
    end,
  ];
  return [
    ...(system === "" ? [] : turn("<|system|>", system)),
    ...turn("<|user|>", sample.user),
    tokenizer.control("<|assistant|>"),
  ];
}

/** Tokens of the answer with the largest weight of the pieces that each one touches. */
export function encodeAnswer(
  tokenizer: Tokenizer,
  pieces: readonly Piece[],
): { readonly tokens: number[]; readonly weights: number[] } {
  const encoder = new TextEncoder();
  const perByte = pieces.flatMap(([text, weight]) =>
    Array.from(encoder.encode(text), () => weight),
  );
  const tokens = tokenizer.encode(pieces.map(([text]) => text).join(""));
  let at = 0;
  const weights = tokens.map((token) => {
    const end = at + tokenizer.byteLength(token);
    const weight = Math.max(...perByte.slice(at, end));
    at = end;
    return weight;
  });
  return { tokens: [...tokens, tokenizer.control("<|end|>")], weights: [...weights, 1] };
}

function writeShard(path: string, seed: number, count: number): void {
  const data = readGeneratorData();
  const tokenizer = readTokenizer();
  const rng = new Rng(seed);
  const options = { shares: SHARES, domains: [...data.templates.keys()] };
  const tokens: number[] = [];
  const weights: number[] = [];
  const offsets = [0];
  const answers: number[] = [];
  const tasks: number[] = [];
  const tags = { at: [] as number[], token: [] as number[], asked: [] as number[], offsets: [0] };
  while (tasks.length < count) {
    const sample = drawSample(rng, data, options);
    const prompt = encodePrompt(tokenizer, sample);
    const answer = encodeAnswer(tokenizer, sample.answer);
    if (prompt.length + answer.tokens.length > TOKENS_MAX) continue;
    for (const token of prompt) {
      tokens.push(token);
      weights.push(0);
    }
    for (const [i, token] of answer.tokens.entries()) {
      tokens.push(token);
      weights.push(Math.round((answer.weights[i] ?? 0) * WEIGHT_SCALE));
    }
    // The user's turn ends two tokens before the prompt does.
    const text = tokenizer.encode(sample.user);
    const start = prompt.length - 2 - text.length;
    for (const { at, token, isAsked } of tagsOf(tokenizer, sample, text)) {
      tags.at.push(start + at);
      tags.token.push(token);
      tags.asked.push(isAsked ? 1 : 0);
    }
    tags.offsets.push(tags.at.length);
    answers.push(prompt.length);
    offsets.push(tokens.length);
    tasks.push(TASKS.indexOf(sample.task));
  }
  writeArrays(path, { samples: count, tasks: TASKS, weight_scale: WEIGHT_SCALE }, [
    { name: "tokens", type: "u2", data: new Uint16Array(tokens) },
    { name: "weights", type: "u1", data: new Uint8Array(weights) },
    { name: "offsets", type: "u4", data: new Uint32Array(offsets) },
    { name: "answers", type: "u4", data: new Uint32Array(answers) },
    { name: "tag_at", type: "u2", data: new Uint16Array(tags.at) },
    { name: "tag_token", type: "u2", data: new Uint16Array(tags.token) },
    { name: "tag_asked", type: "u1", data: new Uint8Array(tags.asked) },
    { name: "tag_offsets", type: "u4", data: new Uint32Array(tags.offsets) },
    { name: "task", type: "u1", data: new Uint8Array(tasks) },
  ]);
}

if (import.meta.main) {
  const [path, number, count] = Bun.argv.slice(2);
  if (path === undefined || number === undefined)
    throw new Error("usage: shards.ts FILE NUMBER [SAMPLES]");
  writeShard(path, Number(number), Number(count ?? 4000));
}
