/** `svc index add`, and the search of a server over it. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSearch } from "../../src/service/open-search.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run } from "./kit.ts";

test("documents are added, followed, and found by the local provider", async () => {
  const directory = temporaryDirectory();
  const documents = join(directory, "handbooks");
  mkdirSync(documents);
  writeFileSync(join(documents, "trust.md"), "# Trust accounts\n\nReconcile every month.");
  const add = ["index", "add", "handbooks", "--data-dir", "d"];
  const first = await run({ directory }, ...add, "--json");
  expect([first.code, first.err]).toEqual([0, ""]);
  expect(jsonOf(first)).toEqual({
    collection: "handbooks",
    added: 1,
    unchanged: 0,
    removed: 0,
    failed: [],
  });
  const again = await run({ directory }, ...add);
  expect(again.out).toBe("handbooks: 0 read, 1 unchanged, 0 forgotten\n");
  const search = openSearch({ kind: "local", path: null }, join(directory, "d"));
  onTestEnd(() => search.close());
  const provider = search.provider();
  const signal = new AbortController().signal;
  expect(provider.name).toBe("local@1.0.0");
  expect(await provider.search("how often to reconcile", 5, signal)).toMatchObject([
    { title: "Trust accounts", url: "local://handbooks/trust.md#1" },
  ]);
});

test("a folder that is not there is said so", async () => {
  const missing = await run({ directory: temporaryDirectory() }, "index", "add", "nowhere");
  expect(missing.code).toBe(1);
  expect(missing.err).toContain("nowhere is no folder");
});
