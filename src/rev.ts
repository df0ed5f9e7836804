/** Which build this is: the version, and the revision that attestations and rows name. */
import { readFileSync } from "node:fs";
import { Glob } from "bun";
import packageJson from "../package.json" with { type: "json" };
import { assert } from "./bytes/assert.ts";
import { Sha256 } from "./crypto/hash.ts";

export const VERSION: string = packageJson.version;

const ROOT = new URL("../", import.meta.url).pathname;

/**
 * The commit, with `-dirty` where tracked files differ from it; without a repository of its own,
 * `src-` and a digest of the source tree.
 */
export function buildRev(): string {
  return commitOf(ROOT) ?? `src-${treeDigest(ROOT).slice(0, 40)}`;
}

function commitOf(root: string): string | null {
  const git = (...args: string[]): string | null => {
    try {
      const run = Bun.spawnSync(["git", "-C", root, ...args], { stderr: "ignore" });
      return run.success ? run.stdout.toString().trim() : null;
    } catch {
      // There is no git.
      return null;
    }
  };
  // Installed into another project, the repository around it is not this program's.
  if (`${git("rev-parse", "--show-toplevel")}/` !== root) return null;
  return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*");
}

/** @param root with a slash at its end. */
export function treeDigest(root: string): string {
  const digest = new Sha256();
  // One by one: a pattern with slashes between braces finds nothing.
  const paths = ["src/**/*", "models/manifest.json", "bun.lock"]
    .flatMap((pattern) => [...new Glob(pattern).scanSync(root)])
    .sort();
  assert(paths.length > 0, "a build consists of files");
  for (const path of paths) {
    const bytes = readFileSync(`${root}${path}`);
    digest.update(Buffer.from(`${path}\n${bytes.byteLength}\n`));
    digest.update(bytes);
  }
  return digest.digestHex();
}
