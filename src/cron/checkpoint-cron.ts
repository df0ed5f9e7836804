/**
 * The schedule of checkpoints and anchors, as an Elysia plugin.
 *
 * Every minute it asks for this hour's checkpoint, which makes one in the hour's first minute and
 * is a lookup for the rest of it: a start in the middle of an hour, a machine that slept, or a
 * clock that was set right need no case of their own. Then it does what anchors are due.
 */
import { cron } from "@elysiajs/cron";
import { Elysia } from "elysia";
import type { AnchorQueue } from "../anchor/anchor-queue.ts";
import type { Checkpoints } from "../ledger/checkpoints.ts";
import type { Log } from "../ledger/clock.ts";

export interface CheckpointCronDeps {
  readonly checkpoints: Pick<Checkpoints, "run">;
  readonly anchors: Pick<AnchorQueue, "work">;
  readonly log: Log;
}

/** At second 0 of every minute. */
const EVERY_MINUTE = "0 * * * * *";

/**
 * Starts the schedule; the first run is at once.
 * @returns the plugin, and a stop that ends the schedule for good.
 */
export function checkpointCron(deps: CheckpointCronDeps) {
  const plugin = new Elysia({ name: "checkpoint-cron" }).use(
    cron({
      name: "checkpoint",
      pattern: EVERY_MINUTE,
      timezone: "UTC",
      // A run that takes longer than a minute is not joined by another.
      protect: true,
      // The schedule alone does not keep a process running.
      unref: true,
      run: () => runDue(deps),
    }),
  );
  void runDue(deps);
  return { plugin, stop: (): void => plugin.store.cron.checkpoint.stop() };
}

/** One turn: the hour's checkpoint where it is missing, then anchors. It does not throw. */
export async function runDue(deps: CheckpointCronDeps): Promise<void> {
  try {
    const { checkpoint, isNew } = deps.checkpoints.run();
    if (isNew) {
      const { n, treeSize, captureTs } = checkpoint;
      deps.log("info", "checkpoint_made", { n, tree_size: treeSize, capture_ts: captureTs });
    }
    await deps.anchors.work();
  } catch (error) {
    // The next minute tries again; an unknown state on disk has ended the process by now.
    const reason = error instanceof Error ? error.message : String(error);
    deps.log("error", "checkpoint_failed", { reason });
  }
}
