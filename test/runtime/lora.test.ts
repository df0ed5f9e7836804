import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGguf } from "../../src/gguf/read.ts";
import type { GgufValue } from "../../src/gguf/types.ts";
import { type TensorSource, writeGguf } from "../../src/gguf/write.ts";
import { MANIFEST_PATH } from "../../src/runtime/manifest.ts";
import { openTestEngine, readAnswer, request } from "../helpers/engine.ts";

const directory = mkdtempSync(join(tmpdir(), "svc-lora-"));
afterAll(() => rmSync(directory, { recursive: true }));

const RANK = 4;

/** An adapter that disturbs every layer's queries. */
async function writeAdapter(path: string, modelPath: string): Promise<void> {
  const model = await readGguf(modelPath);
  const tensors: TensorSource[] = [];
  for (const { name, dimensions } of model.tensors) {
    const [width = 0, height = 0] = dimensions;
    if (!name.endsWith("attn_q.weight")) continue;
    const add = (part: string, dims: readonly number[]) =>
      tensors.push({
        name: `${name}.${part}`,
        type: "F32",
        dimensions: dims,
        data: function* () {
          const count = dims.reduce((product, each) => product * each, 1);
          const wave = Float32Array.from({ length: count }, (_, at) => Math.sin(at * 1.7));
          yield new Uint8Array(wave.buffer);
        },
      });
    add("lora_a", [width, RANK]);
    add("lora_b", [RANK, height]);
  }
  const metadata = new Map<string, GgufValue>([
    ["general.type", { type: "string", value: "adapter" }],
    ["general.architecture", { type: "string", value: "llama" }],
    ["adapter.type", { type: "string", value: "lora" }],
    ["adapter.lora.alpha", { type: "float32", value: RANK }],
  ]);
  writeGguf(path, { metadata, tensors });
}

const sha256 = (path: string) =>
  new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");

test("an adapter belongs to its tier alone, by its digest and scale", async () => {
  const [base, adapter] = [join(directory, "base.gguf"), join(directory, "adapter.gguf")];
  copyFileSync(join(MANIFEST_PATH, "..", "svc-tiny.gguf"), base);
  await writeAdapter(adapter, base);
  const entry = { file: "base.gguf", sha256: sha256(base), contextTokens: 256 };
  const lora = { file: "adapter.gguf", sha256: sha256(adapter) };
  const manifestPath = join(directory, "manifest.json");
  writeFileSync(
    manifestPath,
    JSON.stringify({
      plain: entry,
      tuned: { ...entry, lora: { ...lora, scale: 1 } },
      silent: { ...entry, lora: { ...lora, scale: 0 } },
      wrong: { ...entry, lora: { ...lora, sha256: "0".repeat(64) } },
    }),
  );
  const open = (second: string) =>
    openTestEngine("plain", {
      ...{ manifestPath, rows: 1 },
      tiers: { "svc-tier-a": "plain", "svc-tier-b": second },
    });
  const tuned = await open("tuned");
  const ask = async (engine: typeof tuned, tier: "svc-tier-a" | "svc-tier-b") =>
    (await readAnswer(await engine.complete(request("Hello there", { tier })))).text;
  const plain = await ask(tuned, "svc-tier-a");
  expect(await ask(tuned, "svc-tier-b")).not.toBe(plain);
  expect(await ask(tuned, "svc-tier-a")).toBe(plain);
  const [a, b] = [tuned.tiers.get("svc-tier-a"), tuned.tiers.get("svc-tier-b")];
  expect(b?.digest).toBe(a?.digest ?? "");
  expect(b?.fingerprint).not.toBe(a?.fingerprint ?? "");
  expect(b?.fingerprintParts.lora).toBe(`${sha256(adapter)} 1`);
  await tuned.close();
  const silent = await open("silent");
  expect(await ask(silent, "svc-tier-b")).toBe(plain);
  await silent.close();
  await expect(open("wrong")).rejects.toMatchObject({ code: "digest_mismatch" });
}, 60_000);
