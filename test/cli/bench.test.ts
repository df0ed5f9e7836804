/** `svc bench`: figures of the whole way, and nothing left behind. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run } from "./kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(60_000);

test("measures free and locked answers, in a data directory that goes away", async () => {
  const directory = temporaryDirectory();
  // Where it makes that directory: the test's own place.
  const { TMPDIR } = process.env;
  onTestEnd(() => {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  });
  process.env["TMPDIR"] = directory;
  const args = ["--tokens", "8", "--clients", "2", "--cpu"];
  const measured = await run({ directory }, "bench", ...args, "--json");
  const figures = { answers: 4, tokens_per_s: expect.any(Number), median_ms: expect.any(Number) };
  expect([measured.code, jsonOf(measured)]).toEqual([
    0,
    {
      ...{ model: "svc-tier-b", clients: 2, start_ms: expect.any(Number) },
      ...{ free: figures, strict: figures },
    },
  ]);
  expect((jsonOf(measured)["free"] as typeof figures).tokens_per_s).toBeGreaterThan(0);
  expect(readdirSync(directory)).toEqual([]);
});

test("refuses what is no number of clients, and a model that is not there", async () => {
  const directory = temporaryDirectory();
  const none = await run({ directory }, "bench", "--clients", "0", "--json");
  expect([none.code, none.err]).toEqual([2, expect.stringContaining("from 1 to 9999")]);
  const unknown = await run({ directory }, "bench", "--tier-b", "nothing", "--json");
  expect([unknown.code, jsonOf(unknown)]).toMatchObject([1, { error: { code: "unknown_model" } }]);
});
