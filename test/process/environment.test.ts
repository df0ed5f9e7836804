/** Goldens give the same hashes whatever the language, time zone and start of the program. */
import { expect, test } from "bun:test";

const SCRIPT = `
  import { PROCESS_ENGINES } from ${JSON.stringify(new URL("../../src/process/processes.ts", import.meta.url).pathname)};
  import { runProcess } from ${JSON.stringify(new URL("../../src/process/definition.ts", import.meta.url).pathname)};
  const hashes = PROCESS_ENGINES.flatMap((engine) =>
    engine.goldens.map(({ name, input }) => engine.id + " " + name + " " + runProcess(engine, input).deterministicHash));
  process.stdout.write(hashes.join("\\n"));
`;

async function hashesUnder(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], {
    env: { ...process.env, ...environment },
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text;
}

const ENVIRONMENTS = [
  { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Pacific/Auckland" },
  { LANG: "sv_SE.UTF-8", LC_ALL: "sv_SE.UTF-8", TZ: "America/St_Johns" },
] as const;

/** Three starts of the program, on a machine that may be busy. */
const TIMEOUT_MS = 60_000;

async function checkEnvironments(): Promise<void> {
  const plain = await hashesUnder({ LANG: "C", LC_ALL: "C", TZ: "UTC" });
  expect(plain.split("\n").length).toBeGreaterThanOrEqual(7);
  for (const environment of ENVIRONMENTS) expect(await hashesUnder(environment)).toBe(plain);
}

test("language and time zone change no byte", checkEnvironments, TIMEOUT_MS);
