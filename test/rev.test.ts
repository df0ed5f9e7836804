/** The revision of a build without a repository: what attestations and rows name. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { treeDigest } from "../src/rev.ts";
import { temporaryDirectory } from "./trust-kit.ts";

test("names every file of the program, and changes with each", () => {
  const root = `${temporaryDirectory()}/`;
  for (const folder of ["src/deep/er", "models"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  const files = ["bun.lock", "models/manifest.json", "src/a.ts", "src/deep/er/b.ts"];
  for (const file of files) writeFileSync(join(root, file), file);
  const seen = new Set([treeDigest(root)]);
  for (const file of files) {
    writeFileSync(join(root, file), `${file}, changed`);
    seen.add(treeDigest(root));
  }
  expect(seen.size).toBe(files.length + 1);
  writeFileSync(join(root, "models/other.gguf"), "not of the program");
  expect(seen.has(treeDigest(root))).toBe(true);
});

test("refuses a folder that holds no program", () => {
  expect(() => treeDigest(`${temporaryDirectory()}/`)).toThrow("consists of files");
});
