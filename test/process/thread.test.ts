/** Processes on a thread of their own: the same results and refusals, one by one and many at once. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { PROCESS_ENGINES } from "../../src/process/processes.ts";
import { startProcesses } from "../../src/process/start.ts";
import type { ProcessTask } from "../../src/service/process-tasks.ts";
import { openProcessRunner } from "../../src/service/process-thread.ts";

// A thread starts: seconds on a busy machine.
setDefaultTimeout(30_000);

const { registry } = startProcesses();
const here = openProcessRunner(registry, false);
const there = openProcessRunner(registry, true);
afterAll(() => there.close());

const GOLDENS: readonly ProcessTask[] = PROCESS_ENGINES.flatMap(({ slug, version, goldens }) =>
  goldens.map(({ input }) => ({ kind: "process", slug, version, input }) as const),
);

test("every golden has the same output, byte for byte, and the same hashes", async () => {
  const [ours, theirs] = await Promise.all(
    [here, there].map((runner) => Promise.all(GOLDENS.map((task) => runner.run(task)))),
  );
  expect(theirs).toEqual(ours as never);
  expect(JSON.stringify(theirs)).toBe(JSON.stringify(ours));
});

/** What a task is refused with. */
async function refusal(runner: typeof here, task: ProcessTask): Promise<unknown> {
  const error = await runner.run(task).catch((thrown: unknown) => thrown);
  const { code, message, name, pointer } = error as Record<string, unknown>;
  return { code, message, name, pointer };
}

const step = (input: JsonValue): ProcessTask => ({
  kind: "workflow",
  body: { steps: [{ process: "iolta-reconcile", input }] },
});
const [golden] = PROCESS_ENGINES.find(({ slug }) => slug === "iolta-reconcile")?.goldens ?? [];

test("a workflow is the same, and so is what is refused of it", async () => {
  const whole = step(golden?.input ?? null);
  expect(await there.run(whole)).toEqual(await here.run(whole));
  const bad: readonly ProcessTask[] = [
    step({ account: -0, ["__proto__"]: 1 }),
    { kind: "workflow", body: { steps: [] } },
    { kind: "process", slug: "iolta-reconcile", version: "9.9.9", input: {} },
    { kind: "process", slug: "iolta-reconcile", version: "1.0.0", input: { account: {} } },
  ];
  for (const task of bad) {
    const expected = await refusal(here, task);
    expect(expected).toMatchObject({ name: "ProcessInputError" });
    expect(await refusal(there, task)).toEqual(expected);
  }
});

test("closing ends what waits, with an error", async () => {
  const closing = openProcessRunner(registry, true);
  const waiting = GOLDENS.map((task) => closing.run(task).catch((error: Error) => error.message));
  await closing.close();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["the server is closing"]));
});
