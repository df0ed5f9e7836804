/** What other programs import from the package: each name leads to a file that has it. */
import { expect, test } from "bun:test";
import packageJson from "../package.json" with { type: "json" };

const NAMES: Readonly<Record<string, readonly string[]>> = {
  ".": ["createGateway"],
  "./grammar": ["compileSchema", "SchemaError"],
  "./mask": ["Matcher", "loadVocabulary"],
  "./testing": ["createTestGateway"],
  "./verify": ["verifyExport", "verifyArchive", "signRequest", "signingFetch"],
  "./verify/path": ["verifyPath"],
};

test.each(Object.entries(packageJson.exports))("%p is at %p", async (name, path) => {
  const module = (await import(`../${path}`)) as object;
  for (const exported of NAMES[name] ?? ["an export without names"]) {
    expect(module).toHaveProperty(exported);
  }
});
