/** What rows add up to: by tenant, app, day and endpoint. */
import { parseMembers } from "../ledger/chain-check.ts";
import type { ChainState } from "../ledger/heads.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface UsageQuery {
  /** Null: every tenant's. */
  readonly tenantId: string | null;
  readonly appId: string | null;
  /** Unix milliseconds; `untilMs` is the first that no longer counts. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface UsageLine {
  readonly tenant_id: string;
  readonly app_id: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly path: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly ms: number;
}

/** What pages name a line by; lines are in its order. */
export function usageLineId({ app_id, day, path, tenant_id }: UsageLine): string {
  return `${tenant_id} ${app_id} ${day} ${path}`;
}

/** Between batches other requests are answered. */
const ROWS_PER_BATCH = 1000;

export async function usageOf(ledger: Ledger, query: UsageQuery): Promise<UsageLine[]> {
  const lines = new Map<string, UsageLine>();
  const wanted = [...ledger.heads.all()].filter(
    ({ chain: { appId, tenantId } }) =>
      (query.tenantId ?? tenantId) === tenantId && (query.appId ?? appId) === appId,
  );
  for (const state of wanted) await addChain(lines, ledger, state, query);
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
}

async function addChain(
  lines: Map<string, UsageLine>,
  { reader }: Ledger,
  { chain, position }: ChainState,
  { sinceMs, untilMs }: UsageQuery,
): Promise<void> {
  let seq = reader.firstSeqSince(chain.id, position.seq, sinceMs);
  while (seq <= position.seq) {
    const rows = reader.rowsFrom(chain.id, seq, ROWS_PER_BATCH);
    const counted = rows.filter(({ ts }) => ts < untilMs);
    for (const { body } of counted) {
      const members = parseMembers(body);
      // A damaged row is the audit's business, not the sum's.
      if (members !== null) addRow(lines, members);
    }
    // Times never fall along a chain.
    if (counted.length < rows.length || rows.length === 0) return;
    seq += rows.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function addRow(
  lines: Map<string, UsageLine>,
  row: Readonly<Record<string, string | number | boolean | null>>,
): void {
  const day = new Date(Number(row["ts"])).toISOString().slice(0, 10);
  const [tenant, app, path] = [row["tenant_id"], row["app_id"], row["path"]].map(String);
  const key = `${tenant} ${app} ${day} ${path}`;
  const line = lines.get(key);
  const sum = (before: number | undefined, name: string): number =>
    (before ?? 0) + Number(row[name]);
  lines.set(key, {
    tenant_id: tenant ?? "",
    app_id: app ?? "",
    day,
    path: path ?? "",
    requests: (line?.requests ?? 0) + 1,
    prompt_tokens: sum(line?.prompt_tokens, "prompt_tokens"),
    completion_tokens: sum(line?.completion_tokens, "completion_tokens"),
    ms: sum(line?.ms, "ms"),
  });
}
