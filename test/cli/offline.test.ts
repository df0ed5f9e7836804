/** Commands that need neither a server nor a data directory. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkClock, checkDataDir, checkPort } from "../../src/cli/doctor-data.ts";
import { checkBun, checkCores, checkGpu } from "../../src/cli/doctor-machine.ts";
import type { GgufValue } from "../../src/gguf/types.ts";
import { writeGguf } from "../../src/gguf/write.ts";
import { temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run } from "./kit.ts";

function worldWith(files: Readonly<Record<string, string>>): { readonly directory: string } {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return { directory };
}

test("help says what each command does, with examples; no command is a mistake", async () => {
  const world = { directory: "/" };
  expect((await run(world)).code).toBe(2);
  for (const args of [["--help"], ["keys", "--help"], ["verify", "--help"], ["help", "grammar"]]) {
    const { code, err, out } = await run(world, ...args);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toStartWith("Usage: svc");
    if (args[0] !== "--help") expect(out).toContain("Examples:\n  ");
  }
  expect((await run(world, "--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("grammar compiles a schema from a file or from standard input", async () => {
  const schema = '{"type":"object","properties":{"a":{"type":"integer","minimum":1}}}';
  const fromFile = await run(worldWith({ "s.json": schema }), "grammar", "s.json", "--json");
  expect(fromFile.code).toBe(0);
  expect(jsonOf(fromFile)).toMatchObject({
    ok: true,
    gbnf: expect.stringContaining("root ::="),
    gbnf_exact: expect.any(Boolean),
    annotations: [],
  });
  const world = { directory: "/", stdin: schema };
  expect(jsonOf(await run(world, "grammar", "-", "--json"))).toEqual(jsonOf(fromFile));
  const open = await run(world, "grammar", "-", "--json", "--objects", "open");
  expect(jsonOf(open)["id"]).not.toBe(jsonOf(fromFile)["id"]);
});

test("a refused schema is named with its pointer, and its line and column in the file", async () => {
  const schema = '{\n  "type": "object",\n  "properties": {\n    "a": { "minimum": "x" }\n  }\n}';
  const world = worldWith({ "s.json": schema });
  const text = await run(world, "grammar", "s.json");
  expect([text.code, text.out]).toEqual([1, ""]);
  expect(text.err).toContain("s.json:4:12: refused");
  expect(text.err).toContain("/properties/a/minimum");
  const { error } = jsonOf(await run(world, "grammar", "s.json", "--json"));
  expect(error).toMatchObject({
    code: "invalid_schema",
    keyword: "minimum",
    pointer: "/properties/a/minimum",
    line: 4,
    column: 12,
  });
});

test("a file that is not JSON is named with line and column", async () => {
  const world = worldWith({ "s.json": '{\n  "a": 1,\n}' });
  const { code, err } = await run(world, "grammar", "s.json");
  expect([code, err]).toEqual([2, expect.stringContaining("s.json:3:1: not JSON")]);
  const missing = await run(world, "grammar", "t.json");
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringContaining("there is no file t.json"),
  ]);
});

test("compose runs a workflow offline, and says by its exit code that it halted", async () => {
  const input = { client: 1 };
  const bad = worldWith({ "w.json": JSON.stringify({ steps: [{ process: "nope", input }] }) });
  const refused = await run(bad, "compose", "w.json", "--json");
  expect(refused.code).toBe(1);
  expect(jsonOf(refused)).toMatchObject({ ok: false, error: { code: "invalid_step" } });
});

test("verify names what is wrong with a folder that is no export", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "x"));
  writeFileSync(join(directory, "x", "root.pub"), "no key\n");
  const result = await run({ directory }, "verify", "x", "--json");
  expect(result.code).toBe(1);
  expect(jsonOf(result)).toMatchObject({ ok: false, finding: { file: "keys.txt" } });
  const text = await run({ directory }, "verify", "x");
  expect(text.err).toStartWith("does not verify: keys.txt");
  const missing = await run({ directory }, "verify", "y");
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("check the path")]);
  const badHead = await run({ directory }, "verify", "x", "--head", "default:0:1");
  expect([badHead.code, badHead.err]).toEqual([2, expect.stringContaining("APP:HEIGHT:HASH")]);
});

test("colours appear on a terminal only, and not against NO_COLOR", async () => {
  const { directory } = worldWith({ "s.json": "{}" });
  const args = ["verify", "s.json"];
  const colour = String.fromCharCode(27);
  const coloured = await run({ directory, isTerminal: true }, ...args);
  expect(coloured.err).toContain(`${colour}[31m`);
  const environment = { NO_COLOR: "1" };
  for (const world of [{ directory }, { directory, isTerminal: true, environment }]) {
    expect((await run(world, ...args)).err).not.toContain(colour);
  }
});

test("doctor is content with this machine, and fails with what to do where it is not", async () => {
  const world = { directory: temporaryDirectory(), environment: { SVC_PORT: "0" } };
  const good = await run(world, "doctor", "--json", "--threads", "1", "--rows", "1");
  expect([good.code, jsonOf(good)["ok"]]).toEqual([0, true]);
  const checks = jsonOf(good)["checks"] as { readonly name: string; readonly detail: string }[];
  const engine = checks.filter(({ name }) => name.startsWith("engine"));
  expect(engine).toEqual([
    expect.objectContaining({
      name: "engine svc-tiny",
      detail: expect.stringMatching(
        /CPU \(.*\), 1 thread, llama\.cpp v.*; 1 × 1024 tokens; .*row class 1; about [1-9]\d* tokens\/s.*fp_/,
      ),
    }),
  ]);
  // Nothing is made where no server has been.
  expect(existsSync(join(world.directory, "data"))).toBe(false);
  const bad = await run(world, "doctor", "--tier-a", "nope");
  expect(bad.code).toBe(1);
  expect(bad.out).toContain("FAIL  model nope");
});

test("doctor says why the models cannot be loaded, and warns of more threads than cores", async () => {
  const world = { directory: temporaryDirectory(), environment: { SVC_PORT: "0" } };
  const path = join(world.directory, "empty.gguf");
  const sizes = ["context_length", "embedding_length", "block_count"];
  writeGguf(path, {
    metadata: new Map<string, GgufValue>([
      ["general.architecture", { type: "string", value: "oddball" }],
      ...sizes.map((key) => [`oddball.${key}`, { type: "uint32", value: 8 }] as const),
    ]),
    tensors: [],
  });
  const { code, out } = await run(world, "doctor", "--tier-a", path, "--tier-b", path);
  expect(code).toBe(1);
  expect(out).toMatch(/FAIL {2}engine .* the architecture oddball/);
  expect(checkCores(4, 2)).toMatchObject({ status: "warn", fix: "--threads 2, or leave it out" });
  expect(checkCores(2, 2).status).toBe("ok");
});

test("doctor names the command that adds binaries for a GPU that is there", () => {
  const facts = { hasNvidia: true, hasOther: false, isInstalled: () => false };
  expect(checkGpu(false, facts)).toMatchObject({
    status: "warn",
    fix: expect.stringMatching(
      /^bun add @node-llama-cpp\/\S+-cuda@\S+ @node-llama-cpp\/\S+-cuda-ext@/,
    ),
  });
  expect(checkGpu(true, facts).status).toBe("ok");
  expect(checkGpu(false, { ...facts, isInstalled: () => true }).fix).toBeNull();
  const other = { hasNvidia: false, hasOther: true, isInstalled: () => false };
  expect(checkGpu(false, other).fix).toContain("-vulkan@");
  expect(checkGpu(false, { ...other, hasOther: false }).status).toBe("ok");
});

test("doctor finds an old runtime, a data directory from the future, and one open to others", () => {
  expect(checkBun("1.2.0").status).toBe("fail");
  expect(checkBun("1.10.0").status).toBe("ok");
  const dataDir = temporaryDirectory();
  writeFileSync(join(dataDir, "svc.sqlite"), "");
  expect(checkClock(dataDir, Date.now()).status).toBe("ok");
  expect(checkClock(dataDir, Date.now() - 86_400_000).status).toBe("fail");
  expect(checkDataDir(dataDir).status).toBe("ok");
  const shared = join(dataDir, "shared");
  mkdirSync(shared);
  expect(checkDataDir(shared)).toMatchObject({ status: "warn", fix: `chmod 700 ${shared}` });
  expect(checkDataDir(join(dataDir, "new")).detail).toContain("made at the first start");
});

test("the doctor knows its own server from another program on its port", async () => {
  const service = (name: string) =>
    Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ service: name }) });
  for (const [name, status] of [
    ["svc", "ok"],
    ["other", "warn"],
  ] as const) {
    const server = service(name);
    expect((await checkPort("127.0.0.1", server.port ?? 0)).status).toBe(status);
    await server.stop(true);
  }
});
