/** That the table of attacks names tests that there are. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const TESTS = join(import.meta.dir, "..");
const TABLE = readFileSync(join(TESTS, "../src/http/ATTACKS.md"), "utf8");

test("every attack of the table has a test, and every test that it names is there", () => {
  const rows = TABLE.split("\n").filter((line) => /^\| (?!attack|-)/.test(line));
  expect(rows.length).toBeGreaterThan(35);
  for (const row of rows) {
    const [attack = "", , shownBy = ""] = row.split("|").slice(1, -1);
    const named = [...shownBy.matchAll(/`([^`]+)`|"([^"]+)"/g)];
    expect([attack, named.length > 1]).toEqual([attack, true]);
    let text = "";
    for (const [, file, name] of named) {
      if (file !== undefined) {
        expect([file, existsSync(join(TESTS, file))]).toEqual([file, true]);
        text = readFileSync(join(TESTS, file), "utf8");
      }
      if (name !== undefined)
        expect([attack, name, text.includes(name)]).toEqual([attack, name, true]);
    }
  }
});
