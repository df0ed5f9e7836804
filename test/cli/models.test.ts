/** `svc models`: giving a GGUF a name, and finding files that changed since. */
import { expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run } from "./kit.ts";

const MODELS = new URL("../../models/", import.meta.url).pathname;
const FILE = "svc-tiny.gguf";

/** A manifest with the embedded model, in a folder of its own. */
function manifestFolder(): {
  readonly directory: string;
  readonly environment: Record<string, string>;
} {
  const directory = temporaryDirectory();
  for (const name of ["manifest.json", FILE])
    copyFileSync(join(MODELS, name), join(directory, name));
  return { directory, environment: { SVC_MANIFEST: "manifest.json" } };
}

test("list shows what each model needs", async () => {
  const world = manifestFolder();
  expect((await run(world, "models", "list")).out).toMatch(/^svc-tiny +chat +llama +7\.6 MiB/m);
  expect(jsonOf(await run(world, "models", "list", "--json"))["models"]).toMatchObject([
    {
      name: "svc-tiny",
      kind: "chat",
      architecture: "llama",
      has_chat_template: true,
      problem: null,
    },
  ]);
});

test("add names a file by its digest; it is linked, or copied on request, and never half there", async () => {
  const world = manifestFolder();
  const source = join(temporaryDirectory(), "My-Model.gguf");
  copyFileSync(join(MODELS, FILE), source);
  const linked = await run(world, "models", "add", source, "--licence", "MIT", "--json");
  expect([linked.code, jsonOf(linked)]).toMatchObject([0, { name: "my-model", licence: "MIT" }]);
  const args = ["--name", "copy", "--copy", "--context", "512", "--json"];
  const copied = await run(world, "models", "add", source, ...args);
  expect(jsonOf(copied)).toMatchObject({ name: "copy", context_tokens: 512 });
  const inode = (name: string): number => statSync(join(world.directory, name)).ino;
  expect(inode("my-model.gguf")).toBe(statSync(source).ino);
  expect(inode("copy.gguf")).not.toBe(statSync(source).ino);
  expect(readFileSync(join(world.directory, "copy.gguf")).equals(readFileSync(source))).toBe(true);
  expect(readdirSync(world.directory).filter((name) => name.includes("partial"))).toEqual([]);
  const verified = await run(world, "models", "verify", "--json");
  expect([verified.code, jsonOf(verified)["ok"]]).toEqual([0, true]);
});

test("add refuses a name that is taken or is none, and what is no model", async () => {
  const world = manifestFolder();
  writeFileSync(join(world.directory, "text.gguf"), "no model");
  const cases: readonly [readonly string[], string][] = [
    [["svc-tiny.gguf", "--name", "svc-tiny"], "has a model svc-tiny"],
    [[FILE, "--name", "No Name"], "cannot be a model's name"],
    [["text.gguf"], "does not start with GGUF"],
    [["none.gguf"], "cannot be opened"],
  ];
  const before = readFileSync(join(world.directory, "manifest.json"), "utf8");
  for (const [args, message] of cases) {
    const { code, err } = await run(world, "models", "add", ...args);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(message);
  }
  expect(readFileSync(join(world.directory, "manifest.json"), "utf8")).toBe(before);
});

test("add gives a model a chat template of its own, and refuses what is not Jinja", async () => {
  const world = manifestFolder();
  const entry = () => JSON.parse(readFileSync(join(world.directory, "manifest.json"), "utf8"));
  const args = [FILE, "--name", "other", "--chat-template", "chat.jinja", "--json"];
  writeFileSync(join(world.directory, "chat.jinja"), "{% for %}");
  const refused = await run(world, "models", "add", ...args);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("does not parse")]);
  expect(entry()["other"]).toBeUndefined();
  const template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: ";
  writeFileSync(join(world.directory, "chat.jinja"), template);
  const added = await run(world, "models", "add", ...args);
  expect([added.code, jsonOf(added)["has_chat_template"]]).toEqual([0, true]);
  expect(entry()["other"].chatTemplate).toBe(template);
});

test("verify names a file that changed, with both digests", async () => {
  const world = manifestFolder();
  const bytes = readFileSync(join(world.directory, FILE));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(world.directory, FILE), bytes);
  const { code, out } = await run(world, "models", "verify", "--json");
  expect(code).toBe(1);
  const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const [result] = JSON.parse(out).models;
  expect(result).toMatchObject({ name: "svc-tiny", ok: false });
  expect(result.message).toContain(digest);
  const manifest = JSON.parse(readFileSync(join(world.directory, "manifest.json"), "utf8"));
  expect(result.message).toContain(manifest["svc-tiny"].sha256);
  const unknown = await run(world, "models", "verify", "nope");
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("no model nope")]);
});

test("a progress bar is drawn on a terminal only, and taken away", async () => {
  const world = manifestFolder();
  const quiet = await run(world, "models", "add", FILE, "--name", "a");
  expect(quiet.err).toBe("");
  const shown = await run({ ...world, isTerminal: true }, "models", "add", FILE, "--name", "b");
  expect(shown.err).toContain("100 %");
  expect(shown.err).toEndWith("\u001b[2K");
});
