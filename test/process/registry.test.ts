import { expect, test } from "bun:test";
import Type from "typebox";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { defineProcess, type Golden, runProcess } from "../../src/process/definition.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";
import { createRegistry } from "../../src/process/registry.ts";
import { closed } from "../../src/process/schema-parts.ts";

const adder = (version: string, goldens: readonly Golden[] = []) =>
  defineProcess({
    slug: "add",
    version,
    description: `adds, ${version}`,
    inputSchema: closed({ a: Type.Integer({ maximum: 100 }) }),
    tables: { plus: 1 },
    goldens,
    compute: ({ a }) => ({ sum: a + 1 }),
  });

// SHA-256 of the bytes {"sum":3}, from sha256sum.
const SUM_3 = "cf671ee8b10d052ca89d09309f6d1f758acc09afc189d3db1f573dac86112cbb";

test("the newest engine answers, and old ones stay callable", () => {
  const registry = createRegistry([adder("1.2.0"), adder("1.10.0"), adder("0.9.9")]);
  expect(registry.find("add")?.id).toBe("add@1.10.0");
  expect(registry.find("add", "1.2.0")?.id).toBe("add@1.2.0");
  expect(registry.find("add", "1.3.0")).toBeNull();
  expect(registry.find("subtract")).toBeNull();
});

test("the catalogue names the newest engine and lists all", () => {
  const registry = createRegistry([adder("1.2.0"), adder("1.10.0")]);
  expect(registry.catalog).toEqual([
    {
      id: "add",
      model_id: "add@1.10.0",
      description: "adds, 1.10.0",
      engines: ["1.10.0", "1.2.0"],
      input_schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: "svc:process/add/1.10.0/input",
        type: "object",
        required: ["a"],
        properties: { a: { type: "integer", maximum: 100 } },
        additionalProperties: false,
      },
    },
  ]);
});

test("two engines cannot share an id", () => {
  expect(() => createRegistry([adder("1.0.0"), adder("1.0.0")])).toThrow("add@1.0.0");
});

test("an unknown process and an unknown engine are told apart", () => {
  const registry = createRegistry([adder("1.0.0")]);
  const codeOf = (slug: string, version: string | undefined): string => {
    try {
      return registry.resolve(slug, version, "/p").id;
    } catch (error) {
      return error instanceof ProcessInputError ? `${error.code} ${error.pointer}` : "?";
    }
  };
  expect(codeOf("add", undefined)).toBe("add@1.0.0");
  expect(codeOf("add", "2.0.0")).toBe("unknown_engine /p");
  expect(codeOf("sub", undefined)).toBe("unknown_process /p");
});

test("the self-test names engines whose output is not the golden one", () => {
  const golden = (input: { a: number }): Golden => ({ name: "two", input, outputHash: SUM_3 });
  const good = createRegistry([adder("1.0.0", [golden({ a: 2 })])]);
  expect(good.selfTest()).toEqual([]);
  const bad = createRegistry([adder("1.0.0", [golden({ a: 3 }), golden({ a: 101 })])]);
  expect(bad.selfTest()).toMatchObject([
    { engine: "add@1.0.0", golden: "two", reason: expect.stringContaining("output_hash") },
    { engine: "add@1.0.0", golden: "two", reason: expect.stringContaining("<= 100") },
  ]);
});

test("a run has the hashes of FORMAT.md", () => {
  const run = runProcess(adder("1.0.0"), { a: 2 });
  // sha256sum of the bytes {"plus":1}, {"a":2} and {"sum":3}.
  const tables = "2f0966603a55d98df00255c76b504eca64a015a7ad68d6261bba0ca4680e8139";
  const input = "7e8059f495589fcd981232cc11d00b00da3802c01d688fa1cf1f6bed6e5bb33c";
  expect(run).toMatchObject({ engine: "add@1.0.0", inputHash: input, outputHash: SUM_3 });
  const lines = ["svc-process/1", "add@1.0.0", tables, input, SUM_3];
  expect(run.deterministicHash).toBe(sha256Hex(lines.join("\n")));
});
