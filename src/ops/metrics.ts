/**
 * What an operator's monitoring reads: counts of what was done, and gauges of what is waiting. No
 * metric names a tenant, a key or a request.
 */
import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PoolStats } from "../runtime/pool.ts";

/** A call as its row has it. */
export interface MeteredFacts {
  readonly path: string;
  readonly status: number;
  readonly model: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly ms: number;
}

/** Where gauges come from, asked at each scrape. */
export interface MetricsSources {
  readonly version: string;
  readonly rev: string;
  readonly isReady: () => boolean;
  /** By model: tiers of the same model share one. */
  readonly engines: () => ReadonlyMap<string, PoolStats>;
  /** Compiled schemas: taken from the cache, and compiled. */
  readonly schemas: () => { readonly hits: number; readonly misses: number };
  readonly rowsWaiting: () => number;
  /** Unix milliseconds; null before there is one. */
  readonly newestCheckpointMs: () => number | null;
  readonly newestAnchoredMs: () => number | null;
  readonly anchors: () => { readonly [state in "queued" | "pending" | "confirmed"]: number };
  readonly nowMs: () => number;
}

const SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

interface Instruments {
  readonly registry: Registry;
  readonly calls: Counter;
  readonly tokens: Counter;
  readonly seconds: Histogram;
  readonly responses: Counter;
}

export class Metrics {
  readonly #sources: MetricsSources;
  /** Loaded beside the models, so that no start waits for it. */
  readonly #instruments: Promise<Instruments>;

  constructor(sources: MetricsSources) {
    this.#sources = sources;
    this.#instruments = this.#load();
  }

  /** A billable call that is recorded. */
  observeCall(call: MeteredFacts): void {
    const endpoint = endpointOf(call.path);
    const model = call.model ?? "none";
    void this.#instruments.then(({ calls, seconds, tokens }) => {
      calls.inc({ endpoint, model, status: call.status });
      seconds.observe({ endpoint, model }, call.ms / 1000);
      if (call.model === null) return;
      tokens.inc({ kind: "prompt", model }, call.promptTokens);
      tokens.inc({ kind: "completion", model }, call.completionTokens);
    });
  }

  /** Any response, refusals too. */
  observeResponse(status: number): void {
    void this.#instruments.then(({ responses }) => responses.inc({ status }));
  }

  /** In the text format of Prometheus. */
  async text(): Promise<{ readonly text: string; readonly contentType: string }> {
    const { registry } = await this.#instruments;
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  async #load(): Promise<Instruments> {
    const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
    const registry = new Registry();
    const registers = [registry];
    const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
      new Counter({ name, help, labelNames, registers });
    addGauges(Gauge, registry, this.#sources);
    addEngine({ Counter, Gauge }, registry, this.#sources);
    const labelNames = ["endpoint", "model"];
    const help = "Time of billable calls, from the request's first byte to its row";
    return {
      registry,
      calls: counter("svc_calls_total", "Billable calls", "endpoint", "model", "status"),
      tokens: counter("svc_tokens_total", "Tokens of billable calls", "kind", "model"),
      responses: counter("svc_responses_total", "Responses, refusals too", "status"),
      seconds: new Histogram({
        ...{ name: "svc_call_seconds", help, labelNames, registers },
        buckets: SECONDS,
      }),
    };
  }
}

function addGauges(Kind: typeof Gauge, registry: Registry, sources: MetricsSources): void {
  const gauge = (name: string, help: string, read: () => number | null): void => {
    const collect = function (this: Gauge): void {
      const value = read();
      if (value === null) this.remove();
      else this.set(value);
    };
    registry.registerMetric(new Kind({ name, help, collect, registers: [] }));
  };
  const age = (ms: number | null): number | null =>
    ms === null ? null : Math.max(0, (sources.nowMs() - ms) / 1000);
  gauge("svc_ready", "1 once every model can decode", () => Number(sources.isReady()));
  gauge("svc_memory_bytes", "Memory of the process", () => process.memoryUsage.rss());
  gauge("svc_ledger_rows_waiting", "Rows that are not durable yet", sources.rowsWaiting);
  gauge("svc_checkpoint_age_seconds", "Since the newest checkpoint", () =>
    age(sources.newestCheckpointMs()),
  );
  gauge("svc_anchored_age_seconds", "Since the newest checkpoint with a confirmed anchor", () =>
    age(sources.newestAnchoredMs()),
  );
  for (const state of ["queued", "pending", "confirmed"] as const) {
    gauge(`svc_anchors_${state}`, `Anchors that are ${state}`, () => sources.anchors()[state]);
  }
  const labelNames = ["version", "rev"];
  const build = new Kind({ name: "svc_build", help: "The build", labelNames, registers: [] });
  build.set({ version: sources.version, rev: sources.rev }, 1);
  registry.registerMetric(build);
}

/** What the engine counts itself: set, not added to, at each scrape. */
function addEngine(
  kinds: { readonly Counter: typeof Counter; readonly Gauge: typeof Gauge },
  registry: Registry,
  sources: MetricsSources,
): void {
  type Read = (stats: PoolStats) => number;
  const perModel = (name: string, help: string, read: Read): void => {
    const collect = function (this: Counter | Gauge): void {
      this.reset();
      for (const [model, stats] of sources.engines()) this.inc({ model }, read(stats));
    };
    const Kind = name.endsWith("_total") ? kinds.Counter : kinds.Gauge;
    const labelNames = ["model"];
    registry.registerMetric(new Kind({ name, help, labelNames, collect, registers: [] }));
  };
  perModel("svc_engine_queue", "Requests that wait for a row", (it) => it.queued);
  perModel("svc_engine_rows_used", "Answers that run", (it) => it.rowsUsed);
  perModel("svc_engine_rows", "Answers that could run", (it) => it.rows);
  perModel("svc_engine_sampled_tokens_total", "Tokens sampled", (it) => it.sampledTokens);
  perModel("svc_engine_refused_tokens_total", "Refused by a lock first", (it) => it.refusedTokens);
  perModel("svc_engine_masks_total", "Token masks built", (it) => it.masks);
  perModel("svc_engine_mask_seconds_total", "Time spent on them", (it) => it.maskMs / 1000);
  perModel("svc_engine_prompt_tokens_total", "Tokens of prompts", (it) => it.promptTokens);
  perModel("svc_engine_cached_tokens_total", "Saved by cached prefixes", (it) => it.cachedTokens);
  const collect = function (this: Counter): void {
    this.reset();
    const { hits, misses } = sources.schemas();
    this.inc({ from: "cache" }, hits);
    this.inc({ from: "compiler" }, misses);
  };
  const [name, help] = ["svc_grammars_total", "Grammars that answers were locked to"];
  registry.registerMetric(
    new kinds.Counter({ name, help, labelNames: ["from"], collect, registers: [] }),
  );
}

/** Without what names one thing: ids would make a series each. */
function endpointOf(path: string): string {
  const parts = path.split("/").slice(1);
  return `/${parts.slice(0, parts[0] === "v1" ? 3 : 2).join("/")}`;
}
