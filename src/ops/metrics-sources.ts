/** Where the gauges of a running gateway come from. */
import type { Engine } from "../runtime/engine.ts";
import type { Locks } from "../service/locks.ts";
import type { Trust } from "../service/open-trust.ts";
import type { MetricsSources } from "./metrics.ts";

export function metricsSources(parts: {
  readonly version: string;
  readonly nowMs: () => number;
  readonly trust: Trust;
  readonly engine: Pick<Engine, "ready" | "tiers" | "stats">;
  readonly locks: Locks;
}): MetricsSources {
  const { engine, locks, nowMs, trust, version } = parts;
  const { anchors, checkpoints, ledger, rev } = trust;
  return {
    version,
    rev,
    isReady: () => engine.ready,
    engines: () => {
      const all = [...engine.tiers].map(
        ([name, info]) => [info.model, engine.stats(name)] as const,
      );
      return new Map(all.flatMap(([model, stats]) => (stats === null ? [] : [[model, stats]])));
    },
    schemas: () => locks.counts,
    rowsWaiting: () => ledger.writer.waiting,
    newestCheckpointMs: () => checkpoints.latest()?.captureTs ?? null,
    newestAnchoredMs: () => {
      const n = anchors.newestConfirmed();
      return n === null ? null : (checkpoints.from(n, 1)[0]?.captureTs ?? null);
    },
    anchors: () => anchors.counts(),
    nowMs,
  };
}
