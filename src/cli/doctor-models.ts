/** What `svc doctor` looks at of the models: their digests, and that each tier's file is a GGUF. */
import { readGguf } from "../gguf/read.ts";
import { checkDigest, type ModelEntry, readManifest, resolveModel } from "../runtime/manifest.ts";
import { readShape } from "../runtime/shape.ts";
import type { Check } from "./check.ts";
import { cliErrorFrom } from "./cli-error.ts";

/** @param tiers names or paths, as configured. */
export async function checkModels(
  manifestPath: string,
  tiers: readonly string[],
): Promise<Check[]> {
  const checks: Check[] = [];
  const attempt = async (name: string, action: () => Promise<string>): Promise<void> => {
    try {
      checks.push({ name, status: "ok", detail: await action(), fix: null });
    } catch (error) {
      checks.push(failed(name, error));
    }
  };
  const entries = new Map<string, ModelEntry>();
  await attempt("manifest", async () => {
    const manifest = await readManifest(manifestPath);
    for (const [name, entry] of manifest) entries.set(name, entry);
    return `${manifestPath}, ${manifest.size} ${manifest.size === 1 ? "model" : "models"}`;
  });
  for (const [name, entry] of entries) await attempt(`model ${name}`, () => digestOf(entry));
  for (const tier of new Set(tiers)) {
    if (entries.has(tier)) continue;
    await attempt(`model ${tier}`, async () => {
      const { path } = resolveModel(entries, tier);
      const shape = readShape(await readGguf(path, { skip: isMerges }));
      return `${shape.architecture}, ${shape.contextTokens} tokens; not in the manifest: no digest`;
    });
  }
  return checks;
}

/** Long, and of no interest here. */
const isMerges = (key: string): boolean => key === "tokenizer.ggml.merges";

async function digestOf({ path, sha256 }: ModelEntry): Promise<string> {
  const digest = await checkDigest(path, sha256);
  return `SHA-256 ${digest.slice(0, 16)}… as the manifest says`;
}

function failed(name: string, error: unknown): Check {
  const known = cliErrorFrom(error);
  const detail = known?.message ?? String(error);
  return { name, status: "fail", detail, fix: known?.hint ?? null };
}
