import { describe, expect, test } from "bun:test";
import Type from "typebox";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { compose } from "../../src/process/compose.ts";
import { defineProcess, runProcess } from "../../src/process/definition.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import { createRegistry } from "../../src/process/registry.ts";
import { closed } from "../../src/process/schema-parts.ts";
import month from "../vectors/iolta/v2-month.json";

/** Doubles a number, in two versions; adds text for sizes. */
const doubler = (version: string, factor: number) =>
  defineProcess({
    slug: "double",
    version,
    description: "for tests",
    inputSchema: closed({ n: Type.Integer(), more: Type.Optional(Type.Unknown()) }),
    tables: [factor],
    goldens: [],
    compute: ({ n, more }) => ({
      n: n * factor,
      list: [n, { n }],
      more: (more ?? null) as JsonValue,
    }),
  });

const registry = createRegistry([doubler("1.0.0", 2), doubler("1.1.0", 20), ioltaReconcile]);

const sha = (value: JsonValue) => sha256Hex(canonicalJson(value));

function refusal(body: JsonValue): string {
  try {
    compose(registry, body);
  } catch (error) {
    if (error instanceof ProcessInputError) return `${error.code} ${error.pointer}`;
    throw error;
  }
  return "accepted";
}

describe("a chain of two steps", () => {
  const body = {
    input: { start: 5 },
    steps: [
      { id: "a", process: "double", engine: "1.0.0", input: { n: { $from: "input#/start" } } },
      { process: "double", input: { n: { $from: "a#/list/1/n" }, more: { $from: "a#" } } },
    ],
    output: { end: { $from: "s1#/n" } },
  };
  const { output, chainHash, outputHash, engines } = compose(registry, body);

  test("passes values on with their types", () => {
    expect(output).toMatchObject({
      object: "composition",
      status: "completed",
      output: { end: 100 },
      steps: [
        { index: 0, id: "a", engine_version: "1.0.0", output: { n: 10 } },
        {
          index: 1,
          id: "s1",
          engine_version: "1.1.0",
          output: { more: { n: 10, list: [5, { n: 5 }] } },
        },
      ],
    });
    expect(engines).toEqual(["double@1.0.0", "double@1.1.0"]);
  });

  test("chains its hashes as FORMAT.md says", () => {
    const first = { n: 10, list: [5, { n: 5 }], more: null };
    const second = { n: 100, list: [5, { n: 5 }], more: first };
    const asked = {
      input: { start: 5 },
      steps: [
        { id: "a", process: "double", input: { n: { $from: "input#/start" } } },
        {
          id: "s1",
          process: "double",
          input: { n: { $from: "a#/list/1/n" }, more: { $from: "a#" } },
        },
      ],
    };
    const h0 = sha256Hex(`svc-compose/1\n${canonicalJson(asked)}`);
    const h1 = sha256Hex([h0, "0", "a", "double@1.0.0", sha({ n: 5 }), sha(first)].join("\n"));
    const h2 = sha256Hex(
      [h1, "1", "s1", "double@1.1.0", sha({ n: 5, more: first }), sha(second)].join("\n"),
    );
    expect(output["steps"]).toMatchObject([
      { prev_hash: h0, step_hash: h1, input_hash: sha({ n: 5 }), output_hash: sha(first) },
      { prev_hash: h1, step_hash: h2 },
    ]);
    expect(output["chain_hash"]).toBe(h2);
    expect(chainHash).toBe(h2);
    expect(outputHash).toBe(sha(output));
  });

  test("shows outputs only where they were asked for", () => {
    const shown = (include: string) =>
      (compose(registry, { ...body, include }).output["steps"] as { output?: unknown }[]).map(
        (step) => "output" in step,
      );
    expect(shown("all")).toEqual([true, true]);
    expect(shown("last")).toEqual([false, true]);
    expect(shown("hashes")).toEqual([false, false]);
  });
});

describe("expectations", () => {
  const steps = (equals: JsonValue) => [
    { process: "double", input: { n: 1 }, expect: [{ pointer: "/n", equals }] },
    { process: "double", input: { n: 2 } },
  ];

  test("that are met let the next step run", () => {
    expect(compose(registry, { steps: steps(20) }).output).toMatchObject({ status: "completed" });
  });

  test("that are not met stop the chain with what there is so far", () => {
    const { output } = compose(registry, { steps: steps(21), output: { $from: "s1#" } });
    expect(output).toMatchObject({
      status: "halted",
      halted_at: 0,
      halted_on: { pointer: "/n", equals: 21, actual: 20 },
    });
    expect(output["steps"]).toHaveLength(1);
    expect(output).not.toHaveProperty("output");
  });
});

test("a literal keeps what looks like a reference", () => {
  const { output } = compose(registry, {
    steps: [{ process: "double", input: { n: 1, more: { $literal: { $from: "nobody#" } } } }],
  });
  expect(output["steps"]).toMatchObject([{ output: { more: { $from: "nobody#" } } }]);
});

const step = (input: JsonValue, more = {}) => ({ process: "double", input, ...more });

const REFUSED: readonly [name: string, body: JsonValue, refusal: string][] = [
  ["no steps", { steps: [] }, "invalid_step /steps"],
  ["seventeen steps", { steps: Array(17).fill(step({ n: 1 })) }, "invalid_step /steps"],
  [
    "an unknown member of a step",
    { steps: [step({ n: 1 }, { retry: 1 })] },
    "invalid_step /steps/0/retry",
  ],
  [
    "an unknown process",
    { steps: [{ process: "triple", input: {} }] },
    "invalid_step /steps/0/process",
  ],
  [
    "an unknown engine",
    { steps: [step({ n: 1 }, { engine: "9.0.0" })] },
    "invalid_step /steps/0/engine",
  ],
  [
    "one id twice",
    { steps: [step({ n: 1 }, { id: "a" }), step({ n: 1 }, { id: "a" })] },
    "invalid_step /steps/1/id",
  ],
  [
    "an id that a later step has by default",
    { steps: [step({ n: 1 }, { id: "s1" }), step({ n: 1 })] },
    "invalid_step /steps/1/id",
  ],
  ["the id input", { steps: [step({ n: 1 }, { id: "input" })] }, "invalid_step /steps/0/id"],
  [
    "a reference to itself",
    { steps: [step({ n: { $from: "s0#/n" } })] },
    "invalid_step /steps/0/input/n/$from",
  ],
  [
    "a reference forwards",
    { steps: [step({ n: { $from: "s1#/n" } }), step({ n: 1 })] },
    "invalid_step /steps/0/input/n/$from",
  ],
  [
    "a reference to nobody",
    { steps: [step({ n: { $from: "zz#/n" } })] },
    "invalid_step /steps/0/input/n/$from",
  ],
  [
    "a reference without a pointer",
    { steps: [step({ n: { $from: "input" } })] },
    "invalid_step /steps/0/input/n/$from",
  ],
  [
    "a pointer with a bad escape",
    { steps: [step({ n: { $from: "input#/~2" } })] },
    "invalid_step /steps/0/input/n/$from",
  ],
  [
    "a reference with a neighbour",
    { steps: [step({ n: { $from: "input#", x: 1 } })] },
    "invalid_step /steps/0/input/n",
  ],
  [
    "input that no reference can save",
    { steps: [step({ n: "1" })] },
    "invalid_step /steps/0/input/n",
  ],
  [
    "a fault in a late step, before the first runs",
    { steps: [step({ n: 1 }), step({ m: 1 })] },
    "invalid_step /steps/1/input/n",
  ],
  [
    "an output template of unknown steps",
    { steps: [step({ n: 1 })], output: { $from: "s7#" } },
    "invalid_step /output/$from",
  ],
  [
    "half a surrogate pair",
    { steps: [step({ n: 1, more: "\ud800" })] },
    "not_canonical /steps/0/input/more",
  ],
  [
    "a pointer that leads nowhere",
    { input: {}, steps: [step({ n: { $from: "input#/n" } })] },
    "step_input_invalid /steps/0/input/n",
  ],
  [
    "a value of the wrong type",
    { input: "x", steps: [step({ n: { $from: "input#" } })] },
    "step_input_invalid /steps/0/input/n",
  ],
];

describe("refused", () => {
  for (const [name, body, expected] of REFUSED) {
    test(name, () => {
      expect(refusal(body)).toBe(expected);
    });
  }

  test("sixteen steps are accepted", () => {
    expect(refusal({ steps: Array(16).fill(step({ n: 1 })) })).toBe("accepted");
  });

  test("an input that references blow up, before it is built", () => {
    const text = "x".repeat(300);
    const doubling = (id: string) => Array(300).fill({ $from: `${id}#/more` });
    const steps = [
      step({ n: 1, more: Array(300).fill(text) }),
      step({ n: 1, more: doubling("s0") }),
      step({ n: 1, more: doubling("s1") }),
    ];
    expect(refusal({ steps })).toStartWith("step_input_invalid /steps/2/input/more/");
  });
});

test("a step has the hashes of the same process run alone", () => {
  const alone = runProcess(ioltaReconcile, month.input);
  const { output } = compose(registry, {
    steps: [{ process: "iolta-reconcile", input: month.input }],
  });
  expect(output["steps"]).toMatchObject([
    { input_hash: alone.inputHash, output_hash: alone.outputHash },
  ]);
});

test("June and July of a trust account compose", () => {
  const { account } = month.input;
  const { output } = compose(registry, {
    steps: [
      {
        id: "june",
        process: "iolta-reconcile",
        input: month.input,
        expect: [{ pointer: "/three_way/equal", equals: true }],
      },
      {
        id: "july",
        process: "iolta-reconcile",
        input: {
          account,
          period: { start: "2026-07-01", end: "2026-07-31" },
          bank: {
            opening_balance: { $from: "june#/carry_forward/bank_opening_balance" },
            closing_balance: 3_109_600,
            transactions: [
              { id: "B01", date: "2026-07-01", amount: 80_000, type: "deposit" },
              {
                id: "B02",
                date: "2026-07-06",
                amount: -120_000,
                type: "check",
                check_number: "1020",
              },
            ],
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
    output: { june: { $from: "june#/status" }, july: { $from: "july#/status" } },
    include: "hashes",
  });
  expect(output["output"]).toEqual({
    june: "reconciled_with_warnings",
    july: "reconciled_with_warnings",
  });
});
