/** Everything of trust as the service opens it, with a clock of one's own, closed after the test. */
import { NO_ANCHORS } from "../src/anchor/anchor-config.ts";
import { openTrust, type Trust, type TrustOptions } from "../src/service/open-trust.ts";
import { type OnEnd, onTestEnd, temporaryDirectory } from "./trust-kit.ts";
import { countingBytes, START_MS } from "./trust-lab.ts";

export interface Service extends Trust {
  readonly dataDir: string;
  readonly clock: { nowMs: number };
  readonly logged: string[];
}

/** @param options.startMs what the clock says at the start. */
export function openService(
  options: Partial<TrustOptions> & { readonly startMs?: number } = {},
  onEnd: OnEnd = onTestEnd,
): Service {
  const clock = { nowMs: options.startMs ?? START_MS };
  const logged: string[] = [];
  const dataDir = options.dataDir ?? temporaryDirectory(onEnd);
  const trust = openTrust({
    rev: "0123456789ab",
    nowMs: () => clock.nowMs,
    randomBytes: countingBytes(),
    onFatal: (error) => {
      throw error;
    },
    log: (_level, event) => void logged.push(event),
    anchors: NO_ANCHORS,
    ...options,
    dataDir,
  });
  onEnd(() => trust.close());
  return { ...trust, dataDir, clock, logged };
}
