/** The processes that this build can run: every engine version, the newest one first. */
import type { ProcessEngine } from "./definition.ts";
import { runProcess } from "./definition.ts";
import { ProcessInputError } from "./input-error.ts";
import { compareText } from "./order.ts";

/** As listed by `GET /v1/process`. */
export interface CatalogEntry {
  readonly id: string;
  readonly model_id: string;
  readonly description: string;
  readonly engines: readonly string[];
  readonly input_schema: ProcessEngine["inputSchema"];
}

export interface SelfTestFailure {
  readonly engine: string;
  readonly golden: string;
  readonly reason: string;
}

export interface Registry {
  /** Newest engine of each process, by slug. */
  readonly catalog: readonly CatalogEntry[];
  /** @returns null for an unknown slug, or a version that this build does not carry. */
  find(slug: string, version?: string): ProcessEngine | null;
  /** @throws ProcessInputError `unknown_process` or `unknown_engine`, pointing at `pointer`. */
  resolve(slug: string, version: string | undefined, pointer: string): ProcessEngine;
  /** Runs every golden. Engines named in the answer must not be served. */
  selfTest(): readonly SelfTestFailure[];
}

/** @throws Error when two engines share an id: a mistake of this program, not of a caller. */
export function createRegistry(engines: readonly ProcessEngine[]): Registry {
  const bySlug = new Map<string, ProcessEngine[]>();
  for (const engine of [...engines].sort(newestFirst)) {
    const versions = bySlug.get(engine.slug) ?? [];
    if (versions.some(({ version }) => version === engine.version))
      throw new Error(`two engines are called ${engine.id}`);
    bySlug.set(engine.slug, [...versions, engine]);
  }
  const find = (slug: string, version?: string): ProcessEngine | null => {
    const versions = bySlug.get(slug) ?? [];
    const wanted =
      version === undefined ? versions[0] : versions.find((e) => e.version === version);
    return wanted ?? null;
  };
  return {
    catalog: [...bySlug.values()].flatMap(catalogEntry),
    find,
    resolve: (slug, version, pointer) => {
      const engine = find(slug, version);
      if (engine) return engine;
      if (find(slug)) {
        const message = `${slug} has no engine ${version} in this build`;
        throw new ProcessInputError("unknown_engine", pointer, message);
      }
      throw new ProcessInputError("unknown_process", pointer, `no process is called ${slug}`);
    },
    selfTest: () => [...bySlug.values()].flat().flatMap(failuresOf),
  };
}

function catalogEntry(versions: readonly ProcessEngine[]): CatalogEntry[] {
  const [newest] = versions;
  if (!newest) return [];
  return [
    {
      id: newest.slug,
      model_id: newest.id,
      description: newest.description,
      engines: versions.map(({ version }) => version),
      input_schema: newest.inputSchema,
    },
  ];
}

function failuresOf(engine: ProcessEngine): SelfTestFailure[] {
  return engine.goldens.flatMap(({ name, input, outputHash }) => {
    const failed = (reason: string): SelfTestFailure[] => [
      { engine: engine.id, golden: name, reason },
    ];
    try {
      const actual = runProcess(engine, input).outputHash;
      return actual === outputHash ? [] : failed(`output_hash ${actual} is not ${outputHash}`);
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  });
}

function newestFirst(a: ProcessEngine, b: ProcessEngine): number {
  if (a.slug !== b.slug) return compareText(a.slug, b.slug);
  const x = versionParts(a.version);
  const y = versionParts(b.version);
  const part = x.findIndex((value, index) => value !== y[index]);
  return part === -1 ? 0 : (y[part] ?? 0) - (x[part] ?? 0);
}

function versionParts(version: string): number[] {
  return version.split(".").map(Number);
}
