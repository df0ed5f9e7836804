/**
 * Times of the deterministic processes at their largest inputs, and how well names are matched.
 * `bun test/bench/process.ts [--names FILE.csv]`; the last line is JSON. The file has a header with
 * `schema`, `name1`, `name2` and `is_match`; a pair counts as a match from the review threshold on.
 * `ms` is wall time and `cpu_ms` the process's own, which a busy machine does not change as much.
 */
import { parseArgs } from "node:util";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { svcConflictCheck } from "../../src/process/conflict/process.ts";
import { runProcess } from "../../src/process/definition.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import type { Month } from "../process/iolta-month.ts";
import { conflictRecords, nameScores } from "./conflict-names.ts";

const LINES = 10_000;

interface Shape {
  readonly amount: (index: number) => number;
  readonly marks: (index: number) => {
    readonly check_number?: string;
    readonly reference?: string;
  };
  readonly bankAmount: (index: number) => number;
}

/** What a busy firm's month looks like: mostly checks and wires, the rest told apart by amount. */
const TYPICAL: Shape = {
  amount: (index) => (index % 3 === 0 ? 1 : -1) * (1000 + ((index * 7919) % 900_000)),
  marks: (index) => {
    if (index % 3 === 1) return { check_number: String(1000 + index) };
    return index % 3 === 2 ? { reference: `W${index}` } : {};
  },
  bankAmount: (index) => TYPICAL.amount(index) - (index % 500 === 1 ? 9 : 0),
};

/** Nothing to tell the lines apart by. */
const SAME_AMOUNT: Shape = { amount: () => 100, marks: () => ({}), bankAmount: () => 100 };

/** Nothing that matches: every sum has to be searched for, in vain. */
const NO_MATCH: Shape = {
  amount: (index) => 1000 + 2 * (index % 400),
  marks: () => ({}),
  bankAmount: (index) => 9001 + 2 * (index % 400),
};

function month(shape: Shape): Month {
  const date = (index: number): string => `2026-06-${String(1 + (index % 30)).padStart(2, "0")}`;
  const indices = Array.from({ length: LINES }, (_, index) => index);
  const transactions = indices.map((index) => ({
    id: `B${index}`,
    date: date(index),
    amount: shape.bankAmount(index),
    ...shape.marks(index),
  }));
  return {
    account: { id: "bench", currency: "USD" },
    period: { start: "2026-06-01", end: "2026-06-30" },
    bank: {
      opening_balance: 0,
      closing_balance: transactions.reduce((sum, { amount }) => sum + amount, 0),
      transactions,
    },
    ledger: {
      opening_balance: 0,
      entries: indices.map((index) => ({
        id: `L${index}`,
        date: date(index),
        amount: shape.amount(index),
        kind: shape.amount(index) > 0 ? "receipt" : "disbursement",
        ...shape.marks(index),
        lines: [{ client_id: `C${index % 1000}`, amount: shape.amount(index) }],
      })),
    },
    client_ledgers: Array.from({ length: 1000 }, (_, index) => ({
      client_id: `C${index}`,
      name: `Client ${index}`,
      class: "client",
      opening_balance: 0,
    })),
  };
}

interface Timing {
  readonly ms: number;
  readonly cpu_ms: number;
}

/** Values as they come out of a parsed body. */
const asRequested = (value: JsonValue): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

/** One run, as a request would see it: validation, work, output and all hashes. */
function time(run: () => unknown): Timing {
  const start = performance.now();
  const cpu = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(cpu);
  return {
    ms: Math.round(performance.now() - start),
    cpu_ms: Math.round((user + system) / 1000),
  };
}

const { values: flags } = parseArgs({ options: { names: { type: "string" } } });
const result: Record<string, JsonValue> = { lines: LINES };
for (const [name, shape] of Object.entries({ TYPICAL, SAME_AMOUNT, NO_MATCH })) {
  const input = asRequested(month(shape) as JsonValue);
  const matches = { count: 0 };
  const timing = time(() => {
    const { output } = runProcess(ioltaReconcile, input);
    matches.count = (output["matches"] as readonly JsonValue[]).length;
  });
  result[`iolta_${name.toLowerCase()}`] = { ...timing, matches: matches.count };
}
const firm = asRequested(conflictRecords(100_000));
for (const turn of ["conflict_first", "conflict_again"]) {
  const found = { searched: {} as JsonValue };
  const timing = time(() => {
    found.searched = runProcess(svcConflictCheck, firm).output["searched"] as JsonValue;
  });
  result[turn] = { ...timing, searched: found.searched };
}
if (flags.names !== undefined) result["names"] = nameScores(await Bun.file(flags.names).text());
process.stdout.write(`${JSON.stringify(result)}\n`);
