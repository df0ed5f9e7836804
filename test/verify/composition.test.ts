/**
 * Saved workflows: the verifier derives every hash of `process/FORMAT.md` again, by code of its
 * own, and finds each change. `test/gateway/process.test.ts` has the same for the API.
 */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifyComposition } from "../../src/verify/composition.ts";
import { jsonOf, run } from "../cli/kit.ts";
import { temporaryDirectory } from "../trust-kit.ts";
import month from "../vectors/iolta/v2-month.json";

const { account } = month.input;

/** June, and a July that goes on from it. */
const WORKFLOW = {
  input: { last: "2026-07-31" },
  steps: [
    {
      id: "june",
      process: "iolta-reconcile",
      input: month.input,
      expect: [{ pointer: "/three_way/equal", equals: true }],
    },
    {
      process: "iolta-reconcile",
      engine: "1.0.0",
      input: {
        account,
        period: { start: "2026-07-01", end: { $from: "input#/last" } },
        bank: {
          opening_balance: { $from: "june#/carry_forward/bank_opening_balance" },
          closing_balance: { $from: "june#/carry_forward/bank_opening_balance" },
          transactions: [],
        },
        ledger: {
          opening_balance: { $from: "june#/carry_forward/ledger_opening_balance" },
          entries: [],
        },
        prior: { $from: "june#/carry_forward/prior" },
        client_ledgers: { $from: "june#/carry_forward/client_ledgers" },
      },
    },
  ],
  output: { july: { $from: "s1#/status" } },
};

type Json = Record<string, unknown>;
interface Answer extends Json {
  steps: (Json & { output?: Json })[];
  receipt?: Json;
}

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/** What `svc compose --json` makes of a body. */
async function composed(body: unknown): Promise<Json & { output: Answer }> {
  const world = { directory: temporaryDirectory(), stdin: JSON.stringify(body) };
  return jsonOf(await run(world, "compose", "-", "--json")) as Json & { output: Answer };
}

test("a workflow run offline verifies, to its start", async () => {
  const { output: answer, chain_hash: chainHash } = await composed(WORKFLOW);
  expect(verifyComposition({ answer: bytes(answer), request: bytes(WORKFLOW) })).toEqual({
    ok: true,
    finding: null,
    steps: 2,
    status: "completed",
    chainHash: String(chainHash),
    notes: ["there is no receipt: the answer was made offline"],
  });
});

const ANSWER_CHANGES: readonly (readonly [string, (answer: Answer) => unknown, string])[] = [
  ["another kind of answer", (a) => Object.assign(a, { object: "list" }), "/object"],
  [
    "a figure of an output",
    (a) => Object.assign(stepOf(a, 0), { output: { status: "x" } }),
    "/steps/0/output_hash",
  ],
  [
    "an input hash",
    (a) => Object.assign(stepOf(a, 1), { input_hash: "0".repeat(64) }),
    "/steps/1/step_hash",
  ],
  [
    "an engine version",
    (a) => Object.assign(stepOf(a, 0), { engine_version: "1.0.1" }),
    "/steps/0/step_hash",
  ],
  ["a step's name", (a) => Object.assign(stepOf(a, 0), { id: "may" }), "/steps/0/step_hash"],
  ["a step left out", (a) => a.steps.pop(), "/chain_hash"],
  ["steps the other way round", (a) => a.steps.reverse(), "/steps/0/index"],
  [
    "a later start",
    (a) => Object.assign(stepOf(a, 0), { prev_hash: "1".repeat(64) }),
    "/steps/0/step_hash",
  ],
  [
    "a broken link",
    (a) => Object.assign(stepOf(a, 1), { prev_hash: "1".repeat(64) }),
    "/steps/1/prev_hash",
  ],
  ["another chain hash", (a) => Object.assign(a, { chain_hash: "1".repeat(64) }), "/chain_hash"],
  ["another status", (a) => Object.assign(a, { status: "halted" }), "/halted_at"],
  ["no steps", (a) => Object.assign(a, { steps: [] }), "/steps"],
  [
    "a result that was not made",
    (a) => Object.assign(a, { output: { july: "reconciled" } }),
    "/output",
  ],
  [
    "another receipt",
    (a) => Object.assign(a, { receipt: { output_hash: "0" } }),
    "/receipt/output_hash",
  ],
];

const REQUEST_CHANGES: readonly (readonly [
  string,
  (request: typeof WORKFLOW) => unknown,
  string,
])[] = [
  ["another value", (r) => Object.assign(r.input, { last: "2026-07-30" }), "/steps/0/prev_hash"],
  ["one step more", (r) => r.steps.push(...r.steps), "/steps"],
  ["another expectation", (r) => setExpected(r, false), "/steps/0/output"],
];

test.each(ANSWER_CHANGES)("%s is found", async (_name, change, field) => {
  const { output: answer } = await composed(WORKFLOW);
  change(answer);
  const report = verifyComposition({ answer: bytes(answer), request: bytes(WORKFLOW) });
  expect([report.ok, report.finding?.field]).toEqual([false, field]);
});

test.each(REQUEST_CHANGES)("a request with %s is found", async (_name, change, field) => {
  const { output: answer } = await composed(WORKFLOW);
  const request = structuredClone(WORKFLOW);
  change(request);
  const report = verifyComposition({ answer: bytes(answer), request: bytes(request) });
  expect([report.ok, report.finding?.field]).toEqual([false, field]);
});

test("a chain forged with new hashes throughout has inputs that do not follow", async () => {
  const other = structuredClone(WORKFLOW);
  other.input.last = "2026-07-30";
  const { output: answer } = await composed(other);
  const request = structuredClone(WORKFLOW);
  expect(verifyComposition({ answer: bytes(answer), request: bytes(other) }).ok).toBe(true);
  const report = verifyComposition({ answer: bytes(answer), request: bytes(request) });
  expect(report.finding?.field).toBe("/steps/0/prev_hash");
});

test("a halted chain is whole up to its halt, and has a reason to halt", async () => {
  const request = structuredClone(WORKFLOW);
  setExpected(request, false);
  const { output: answer } = await composed(request);
  const saved = { answer: bytes(answer), request: bytes(request) };
  expect(verifyComposition(saved)).toMatchObject({ ok: true, status: "halted", steps: 1 });
  setExpected(request, true);
  const report = verifyComposition({ ...saved, request: bytes(request) });
  expect(report.finding).toMatchObject({ field: "/steps/0/output" });
});

test("what is not shown is not checked, and the report says so", async () => {
  const request = { ...WORKFLOW, include: "hashes" };
  const { output: answer } = await composed(request);
  const report = verifyComposition({ answer: bytes(answer), request: bytes(request) });
  expect(report.ok).toBe(true);
  expect(report.notes).toEqual([
    "there is no receipt: the answer was made offline",
    "/steps/0: its expectations are about an output that is not shown",
    "/steps/1: its input is made of outputs that are not shown",
    "/output: is made of outputs that are not shown",
  ]);
});

test("svc verify takes a saved answer, with its request or without", async () => {
  const { output: answer } = await composed(WORKFLOW);
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "request.json"), JSON.stringify(WORKFLOW));
  writeFileSync(join(directory, "answer.json"), JSON.stringify(answer, null, 2));
  const args = ["verify", "answer.json", "--request", "request.json"];
  const good = await run({ directory }, ...args);
  expect([good.code, good.out]).toEqual([0, expect.stringContaining(String(answer["chain_hash"]))]);
  const alone = await run({ directory }, "verify", "answer.json", "--json");
  expect(jsonOf(alone)).toMatchObject({ ok: true, steps: 2 });
  stepOf(answer, 0)["id"] = "may";
  writeFileSync(join(directory, "answer.json"), JSON.stringify(answer));
  const bad = await run({ directory }, ...args);
  expect([bad.code, bad.err]).toEqual([1, expect.stringContaining("/steps/0/step_hash")]);
  writeFileSync(join(directory, "answer.json"), "{}");
  const none = await run({ directory }, "verify", "answer.json", "--json");
  expect(jsonOf(none)).toMatchObject({ ok: false, finding: { field: "/object" } });
});

function stepOf(answer: Answer, index: number) {
  const step = answer.steps[index];
  if (step === undefined) throw new Error(`there is no step ${index}`);
  return step;
}

function setExpected(request: typeof WORKFLOW, equals: boolean): void {
  for (const step of request.steps) for (const one of step.expect ?? []) one.equals = equals;
}
