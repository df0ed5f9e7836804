/**
 * Checks properties of the source tree itself: who may import whom, and how long things may get.
 * Everything a reviewer would otherwise have to remember belongs here.
 */
import { expect, test } from "bun:test";
import { Glob } from "bun";

/** What each folder of `src/` may import: sibling folders, then packages. Nothing else. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  bytes: [],
  crypto: ["bytes", "node:crypto"],
  gguf: ["bytes", "node:fs"],
  automaton: ["bytes", "@eslint-community/regexpp"],
  schema: ["automaton", "bytes"],
  grammar: ["automaton", "bytes", "crypto", "schema"],
  mask: ["automaton", "bytes", "gguf", "grammar", "schema"],
  runtime: [
    "bytes",
    "crypto",
    "gguf",
    "grammar",
    "mask",
    "node-llama-cpp",
    "@huggingface/jinja",
    "node:fs",
    "node:os",
    "node:path",
  ],
  receipt: ["bytes", "crypto"],
  store: ["bytes", "bun:sqlite", "drizzle-orm", "node:fs", "node:path"],
  ledger: ["bytes", "crypto", "store", "drizzle-orm", "node:fs", "node:path"],
  tenant: ["bytes", "crypto", "store", "drizzle-orm", "node:fs", "node:path", "stripe"],
  state: ["bytes", "crypto", "process", "store", "typebox"],
  process: ["bytes", "crypto", "typebox"],
  // Files and pages around the processes: readers and renderers, which may use libraries.
  convert: ["bytes", "crypto", "process", "ofx-js", "papaparse"],
  search: [
    "bytes",
    "crypto",
    "process",
    "store",
    "bun:sqlite",
    "htmlparser2",
    "node:dns/promises",
    "node:fs/promises",
    "node:net",
    "node:path",
    "typebox",
    "unpdf",
  ],
  anchor: ["bytes", "crypto", "store", "drizzle-orm"],
  service: [
    "bytes",
    "crypto",
    "grammar",
    "mask",
    "runtime",
    "schema",
    "receipt",
    "store",
    "ledger",
    "tenant",
    "state",
    "process",
    "search",
    "anchor",
    "node:net",
    "node:worker_threads",
  ],
  // What operators run it with.
  ops: ["runtime", "service", "prom-client"],
  cron: ["bytes", "ledger", "anchor", "@elysiajs/cron", "elysia"],
  // What the API is, as data.
  openapi: [],
  http: [
    "console",
    "openapi",
    "bytes",
    "crypto",
    "receipt",
    "tenant",
    "service",
    "elysia",
    "typebox",
  ],
  // What browsers get: the page, with the verifier and the compiler in it.
  console: [
    "grammar",
    "schema",
    "verify",
    "jsonc-parser",
    "preact",
    "uplot",
    "@noble/hashes",
    "bun",
    "node:buffer",
  ],
  // The verifier shares no code with the writer: two implementations of one written format.
  // Only read-path.ts and its threads need node; the rest also runs in a browser
  // (test/verify/browser.test.ts).
  verify: [
    "@noble/ed25519",
    "@noble/hashes",
    "node:crypto",
    "node:fs",
    "node:os",
    "node:path",
    "node:worker_threads",
  ],
  // Files directly in src/ wire everything together; these two have their own places, below and
  // above the rest.
  "config.ts": ["node:net", "node:path"],
  ".": [
    "config.ts",
    "console",
    "bytes",
    "crypto",
    "gguf",
    "grammar",
    "mask",
    "store",
    "ledger",
    "anchor",
    "tenant",
    "process",
    "runtime",
    "service",
    "cron",
    "http",
    "ops",
    "verify",
    "elysia",
    "node:crypto",
    "node:fs",
    "node:os",
    "node:path",
    "bun",
  ],
  // What people type; talks to the parts themselves where no server runs.
  cli: [
    ".",
    "config.ts",
    "console",
    "convert",
    "anchor",
    "bytes",
    "crypto",
    "gguf",
    "grammar",
    "schema",
    "store",
    "ledger",
    "tenant",
    "process",
    "search",
    "runtime",
    "service",
    "verify",
    "commander",
    "@commander-js/extra-typings",
    "jsonc-parser",
    "pino",
    "node:fs",
    "node:fs/promises",
    "node:net",
    "node:os",
    "node:path",
    "node:readline",
    "node:util",
  ],
  // The package's own exports: names, no code.
  exports: ["grammar", "mask", "schema", "verify"],
  "main.ts": ["cli"],
};

/** Modules with exactly one legitimate caller, so that an invariant has exactly one home. */
const ONLY_IMPORTED_BY: Readonly<Record<string, readonly string[]>> = {
  "ledger/append.ts": ["service/metered-call.ts"],
};

const FILE_LINES_MAX = 400;
const LINE_COLUMNS_MAX = 100;

// Bun.Transpiler#scanImports drops type-only imports, and direction matters for types too.
const IMPORT =
  /^\s*(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|^\s*import\s*"([^"]+)"|\bimport\("([^"]+)"\)/gm;

const root = new URL("../src/", import.meta.url).pathname;
const paths = [...new Glob("**/*.ts").scanSync(root)].sort();
const texts = new Map(
  await Promise.all(paths.map(async (p) => [p, await Bun.file(root + p).text()] as const)),
);

const folderOf = (path: string): string => {
  if (path.includes("/")) return path.split("/")[0] ?? "";
  return path in MAY_IMPORT ? path : ".";
};

/** Resolves a specifier to a path inside src/, or to a bare package name. */
function resolve(
  from: string,
  specifier: string,
): { readonly inside: boolean; readonly name: string } {
  if (specifier.startsWith(".")) {
    return { inside: true, name: new URL(specifier, `file:///${from}`).pathname.slice(1) };
  }
  if (specifier.includes(":")) return { inside: false, name: specifier };
  const parts = specifier.split("/");
  return { inside: false, name: parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/") };
}

function* imports(): Generator<{
  readonly from: string;
  readonly inside: boolean;
  readonly name: string;
}> {
  for (const [from, text] of texts) {
    for (const [, a, b, c] of text.matchAll(IMPORT))
      yield { from, ...resolve(from, a ?? b ?? c ?? "") };
  }
}

test("every folder of src/ is in the table", () => {
  expect(paths.map(folderOf).filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
});

test("imports follow the table", () => {
  const violations: string[] = [];
  for (const { from, inside, name } of imports()) {
    const target = inside ? folderOf(name) : name;
    if (target === folderOf(from) && inside) continue;
    if (!MAY_IMPORT[folderOf(from)]?.includes(target)) violations.push(`${from} imports ${name}`);
  }
  expect(violations).toEqual([]);
});

test("the table has no cycle", () => {
  const visit = (folder: string, trail: readonly string[]): void => {
    if (trail.includes(folder)) throw new Error(`cycle: ${[...trail, folder].join(" -> ")}`);
    for (const next of MAY_IMPORT[folder] ?? [])
      if (next in MAY_IMPORT) visit(next, [...trail, folder]);
  };
  for (const folder of Object.keys(MAY_IMPORT)) visit(folder, []);
});

test("single-caller modules have a single caller", () => {
  const violations: string[] = [];
  for (const { from, inside, name } of imports()) {
    const allowed = inside ? ONLY_IMPORTED_BY[name] : undefined;
    if (allowed && !allowed.includes(from)) violations.push(`${from} imports ${name}`);
  }
  expect(violations).toEqual([]);
});

test("files and lines stay short", () => {
  const long: string[] = [];
  for (const [path, text] of texts) {
    const lines = text.trimEnd().split("\n");
    if (lines.length > FILE_LINES_MAX) long.push(`${path}: ${lines.length} lines`);
    for (const [index, line] of lines.entries()) {
      if (line.length > LINE_COLUMNS_MAX && !line.includes("https://"))
        long.push(`${path}:${index + 1}`);
    }
  }
  expect(long).toEqual([]);
});

test("nothing unfinished is left behind", () => {
  expect(
    [...texts]
      .filter(([, text]) => /\bFIXME\b|\bdebugger\b|console\.log/.test(text))
      .map(([p]) => p),
  ).toEqual([]);
});
