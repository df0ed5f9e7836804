/** The verifier as one file for a browser: no node imports, and it runs with web globals alone. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { inPieces } from "../trust-export.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";
import { keep } from "./fixture.ts";

const ENTRY = new URL("../../src/verify/verify.ts", import.meta.url).pathname;

/** Bundled as a page would load it: one script that leaves its functions in a global. */
async function bundle(): Promise<string> {
  const directory = temporaryDirectory(onFileEnd);
  const page = join(directory, "page.ts");
  writeFileSync(
    page,
    `import { verifyArchive } from ${JSON.stringify(ENTRY)};
     Object.assign(globalThis, { verifyArchive });`,
  );
  const built = await Bun.build({ entrypoints: [page], target: "browser", format: "iife" });
  expect(built.success).toBe(true);
  expect(built.outputs).toHaveLength(1);
  return (await built.outputs[0]?.text()) ?? "";
}

/** What a page has, and nothing of Bun's or Node's. */
function page(script: string): { verify(archive: Uint8Array, options: object): Promise<unknown> } {
  const { TextDecoder, TextEncoder, atob, btoa, crypto } = globalThis;
  const context = createContext({ TextDecoder, TextEncoder, atob, btoa, crypto });
  runInContext(script, context);
  expect(runInContext("typeof process + typeof Bun + typeof require", context)).toBe(
    "undefined".repeat(3),
  );
  const run: unknown = runInContext(
    `async (archive, options) => {
      async function* chunks() {
        for (let at = 0; at < archive.length; at += 65536) yield archive.slice(at, at + 65536);
      }
      return JSON.stringify(await verifyArchive(chunks(), options));
    }`,
    context,
  );
  const call = run as (archive: Uint8Array, options: object) => Promise<string>;
  return { verify: async (...args) => JSON.parse(await call(...args)) };
}

test("the bundle names no module, and verifies and refuses in a page as the command line does", async () => {
  const script = await bundle();
  expect(script).not.toMatch(/\bfrom\s*["']|\brequire\(|node:|\bimport\(/);
  const { verify } = page(script);
  const { archive, hmacSecret, heldHeads, rootKey } = await keep(3);
  const options = { hmacSecrets: [hmacSecret], heldHeads, rootKey };
  expect(await verify(archive, options)).toMatchObject({
    ok: true,
    finding: null,
    summary: { rows: 9, keys: 2 },
  });
  const at = Buffer.from(archive).indexOf('"completion_tokens":12');
  const damaged = archive.slice();
  damaged[at + 20] = 0x33;
  expect(await verify(damaged, options)).toMatchObject({
    ok: false,
    finding: { file: "rows/billing/0000000001.txt", height: 1, field: "row_hash" },
    damagedFiles: [],
  });
});

test("the bundle is small enough to be read", async () => {
  const script = await bundle();
  expect(script.length).toBeLessThan(150_000);
});

test("bun run verifier writes one module that verifies", async () => {
  const path = join(temporaryDirectory(onFileEnd), "verifier.js");
  const cwd = new URL("../../", import.meta.url).pathname;
  const built = Bun.spawnSync([process.execPath, "run", "verifier", path], { cwd });
  expect(built.exitCode).toBe(0);
  // One cast: a module's exports have no type before they are loaded.
  const { verifyArchive } = (await import(path)) as typeof import("../../src/verify/verify.ts");
  const { archive } = await keep(1);
  expect(await verifyArchive(inPieces(archive))).toMatchObject({ ok: true, finding: null });
});
