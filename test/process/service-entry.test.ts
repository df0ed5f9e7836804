/** What the service calls before a process runs. */
import { describe, expect, test } from "bun:test";
import Type from "typebox";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { defineProcess } from "../../src/process/definition.ts";
import { expandComposition, expandProcessInput } from "../../src/process/expand-records.ts";
import { PROCESS_ENGINES } from "../../src/process/processes.ts";
import { closed } from "../../src/process/schema-parts.ts";
import { startProcesses } from "../../src/process/start.ts";

test("all engines of the build pass their self-test, and each has a golden", () => {
  const { registry, failures } = startProcesses();
  expect(failures).toEqual([]);
  expect(registry.catalog.map(({ id }) => id)).toEqual([
    "cite-check",
    "deadline-compute",
    "iolta-reconcile",
    "ledes-validate",
    "svc-conflict-check",
  ]);
  for (const { id, goldens } of PROCESS_ENGINES)
    expect(`${id} ${goldens.length > 0}`).toBe(`${id} true`);
});

test("an engine that fails its self-test is not served, its older version is", () => {
  const engine = (version: string, outputHash: string) =>
    defineProcess({
      slug: "echo",
      version,
      description: "echo",
      inputSchema: closed({ a: Type.Integer() }),
      tables: null,
      goldens: [{ name: "one", input: { a: 1 }, outputHash }],
      compute: ({ a }) => ({ a }),
    });
  // sha256sum of the bytes {"a":1}.
  const good = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";
  const { registry, failures } = startProcesses([engine("1.0.0", good), engine("1.1.0", "0")]);
  expect(failures).toMatchObject([{ engine: "echo@1.1.0", golden: "one" }]);
  expect(registry.catalog).toMatchObject([{ model_id: "echo@1.0.0", engines: ["1.0.0"] }]);
});

describe("records from the state", () => {
  const records = { parties: [], matters: [] };
  const stand = { as_of: "2026-07-01", records: { from: "state" } };
  const untouched = (): JsonValue => {
    throw new Error("the state was read for nothing");
  };

  test("are put in where something stands for them, and nowhere else", () => {
    const expand = (slug: string, input: JsonValue, from = () => records as JsonValue) =>
      expandProcessInput(slug, input, from);
    expect(expand("svc-conflict-check", stand)).toEqual({ as_of: "2026-07-01", records });
    for (const input of [{ records }, { records: { from: "state", x: 1 } }, [], null, "x"])
      expect(expand("svc-conflict-check", input as JsonValue, untouched)).toBe(input as JsonValue);
    expect(expand("iolta-reconcile", stand, untouched)).toBe(stand);
  });

  test("are read once for all steps of a composition", () => {
    let reads = 0;
    const read = (): JsonValue => {
      reads += 1;
      return records;
    };
    const step = { process: "svc-conflict-check", input: stand };
    const other = { process: "cite-check", input: stand };
    const expanded = { process: "svc-conflict-check", input: { ...stand, records } };
    expect(expandComposition({ steps: [step, other, step] }, read)).toEqual({
      steps: [expanded, other, expanded],
    });
    expect(reads).toBe(1);
    for (const body of [{ steps: [other] }, { steps: "x" }, { steps: [1, null] }, [], 5])
      expect(expandComposition(body as JsonValue, untouched)).toEqual(body as JsonValue);
  });
});
