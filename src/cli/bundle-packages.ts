/** Which packages the program runs with, on this machine's platform: what `svc bundle` packs. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** Relative to the root, such as `node_modules/a/node_modules/b`. */
  readonly path: string;
}

interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly license?: unknown;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Everything that `dependencies` of the root lead to, resolved as the runtime resolves it: packages
 * that only development needs, or another platform, are left out.
 * @param root a folder with package.json and node_modules.
 * @throws Error for a dependency that is not installed.
 */
export function installedPackages(root: string): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const { dependencies = {} } = readPackage(root, "");
  const visit = (name: string, from: string, isNeeded: boolean): void => {
    const path = resolvePackage(root, from, name);
    if (path === null) {
      if (isNeeded) throw new Error(`${name} is not installed; run bun install --production`);
      return;
    }
    if (found.has(path)) return;
    const about = readPackage(root, path);
    if (!isForHere(about)) return;
    const { version = "", license } = about;
    const licence = typeof license === "string" ? license : "see its files";
    found.set(path, { name, version, licence, path });
    for (const needed of Object.keys(about.dependencies ?? {})) visit(needed, path, true);
    const others = { ...about.optionalDependencies, ...about.peerDependencies };
    for (const other of Object.keys(others)) visit(other, path, false);
  };
  for (const name of Object.keys(dependencies)) visit(name, "", !name.includes("node-llama-cpp/"));
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The texts that a package's licence asks to be handed on. */
export function licenceText(root: string, { path }: InstalledPackage): string {
  const folder = join(root, path);
  const files = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort();
  return files.map((name) => readFileSync(join(folder, name), "utf8").trim()).join("\n\n");
}

/** Some binaries name more processors than they were built for; their names do not. */
function isForHere({ cpu, name, os }: PackageJson): boolean {
  if (name?.startsWith("@node-llama-cpp/")) {
    return name.startsWith(`@node-llama-cpp/${process.platform}-${process.arch}`);
  }
  return (os?.includes(process.platform) ?? true) && (cpu?.includes(process.arch) ?? true);
}

/** From the package's own node_modules upwards. */
function resolvePackage(root: string, from: string, name: string): string | null {
  const parts = from === "" ? [] : from.split("/node_modules/");
  for (let depth = parts.length; depth >= 0; depth--) {
    const folder = parts.slice(0, depth).join("/node_modules/");
    const path = depth === 0 ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (existsSync(join(root, path, "package.json"))) return path;
  }
  return null;
}

function readPackage(root: string, path: string): PackageJson {
  return JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as PackageJson;
}
