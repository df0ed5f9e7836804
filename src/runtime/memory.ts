/**
 * How many sequences of how many tokens fit. Decided from the machine's total memory and the model
 * alone, so that a restart decides the same; what happens to be free only decides whether to start.
 */
import { readFileSync } from "node:fs";
import { freemem, totalmem } from "node:os";
import { ModelError } from "./errors.ts";
import type { ModelShape } from "./shape.ts";

export interface ContextPlan {
  /** Tokens of one sequence. */
  readonly contextTokens: number;
  /** Answers that can run at the same time. */
  readonly rows: number;
  /** Contexts that share the rows evenly. */
  readonly contexts: number;
  /** Sequences of each context that keep beginnings of prompts. */
  readonly keepers: number;
  readonly cellsBytes: number;
  /** Rough: activations, attention scores, logits. */
  readonly buffersBytes: number;
}

export interface Wishes {
  /** Null takes what the model was trained for, up to `CONTEXT_DEFAULT_MAX`. */
  readonly contextTokens: number | null;
  readonly rows: number;
  readonly chunkTokens: number;
  /** How many contexts serve so many rows; a divisor of them. */
  readonly contextsOf?: (rows: number) => number;
}

/** More is rarely used and costs every sequence its full length. */
const CONTEXT_DEFAULT_MAX = 8192;
/** llama.cpp rounds a sequence up to this many cells. */
const CONTEXT_STEP = 256;
const CONTEXT_MIN = 512;
/** The rest is for the system, the page cache and everything else that runs. */
const MEMORY_SHARE = 0.7;

/**
 * @param totalBytes of the memory the cells go to.
 * @throws ModelError `not_enough_memory` where not even one short sequence fits.
 */
export function planContext(
  shape: ModelShape,
  weightsBytes: number,
  wishes: Wishes,
  totalBytes: number,
): ContextPlan {
  const wanted = wishes.contextTokens ?? Math.min(shape.contextTokens, CONTEXT_DEFAULT_MAX);
  // Rounded down: a model must not be asked for positions it was not trained for.
  let contextTokens = Math.max(CONTEXT_STEP, Math.floor(wanted / CONTEXT_STEP) * CONTEXT_STEP);
  let { rows } = wishes;
  for (;;) {
    const contexts = wishes.contextsOf?.(rows) ?? 1;
    const ownRows = rows / contexts;
    const keepers = Math.ceil(ownRows / 2);
    const ownBuffersBytes = buffersBytes(shape, wishes.chunkTokens, contextTokens, ownRows);
    const plan = {
      contextTokens,
      rows,
      contexts,
      keepers,
      cellsBytes: contexts * (ownRows + keepers) * contextTokens * shape.cellBytes,
      buffersBytes: contexts * ownBuffersBytes,
    };
    const needed = weightsBytes + plan.cellsBytes + plan.buffersBytes;
    if (needed <= totalBytes * MEMORY_SHARE) return plan;
    if (rows > 2) rows = Math.floor(rows / 2);
    else if (contextTokens > CONTEXT_MIN && wishes.contextTokens === null) {
      contextTokens = Math.max(CONTEXT_MIN, contextTokens / 2);
    } else if (rows > 1) rows = 1;
    else throw notEnough(needed, totalBytes * MEMORY_SHARE);
  }
}

function buffersBytes(
  shape: ModelShape,
  chunkTokens: number,
  contextTokens: number,
  rows: number,
): number {
  const scores = shape.heads * chunkTokens * contextTokens * 4;
  const logits = shape.vocabularySize * rows * 4;
  // Samplers hold (token, logit, probability) for the whole vocabulary, one per row.
  return scores + logits * 4 + 32 * 2 ** 20;
}

/** @throws ModelError `not_enough_memory`. */
export function assertFree(neededBytes: number, freeBytes: number): void {
  if (neededBytes > freeBytes) throw notEnough(neededBytes, freeBytes);
}

function notEnough(needed: number, available: number): ModelError {
  const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  return new ModelError(`the model needs ${mib(needed)} of memory, ${mib(available)} are there`, {
    code: "not_enough_memory",
  });
}

/** Memory of this machine, or of the container this process runs in. */
export function machineMemory(): { readonly totalBytes: number; readonly freeBytes: number } {
  const limit = Number(readText("/sys/fs/cgroup/memory.max"));
  const used = Number(readText("/sys/fs/cgroup/memory.current"));
  const limited = Number.isFinite(limit) && limit > 0;
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(readText("/proc/meminfo"))?.[1];
  const free = available === undefined ? freemem() : Number(available) * 1024;
  return {
    totalBytes: limited ? Math.min(limit, totalmem()) : totalmem(),
    freeBytes: limited ? Math.min(free, limit - used) : free,
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
