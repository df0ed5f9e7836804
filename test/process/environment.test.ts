/**
 * One input, one output: whatever the language, the time zone, the order of the input's lists, and
 * the version of Bun, whose Unicode tables differ.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Starts of the program, on a machine that may be busy.
setDefaultTimeout(120_000);

const here = (path: string): string => JSON.stringify(new URL(path, import.meta.url).pathname);

/** Prints the hashes of all goldens, and of names in every letter, in order and in reverse. */
const SCRIPT = `
  import { PROCESS_ENGINES } from ${here("../../src/process/processes.ts")};
  import { runProcess } from ${here("../../src/process/definition.ts")};
  const hashes = [];
  const say = (engine, name, input) =>
    hashes.push([engine.id, name, runProcess(engine, input).outputHash].join(" "));
  for (const engine of PROCESS_ENGINES)
    for (const { name, input } of engine.goldens) {
      say(engine, name, input);
      say(engine, name + " reversed", reversed(input));
    }
  const conflict = PROCESS_ENGINES.find(({ slug }) => slug === "svc-conflict-check");
  const parties = [];
  for (let point = 0x80; point < 0x20000; point += 60) {
    if (point > 0xd000 && point < 0xf900) continue;
    const letters = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(point + index));
    const names = [{ name: letters.join("") }];
    parties.push({ party_id: "p" + point, kind: "person", role: "adverse_party", names });
  }
  const intake = { intake_id: "i", parties: parties.filter((_, index) => index % 400 === 7) };
  const matters = [{ matter_id: "m", status: "open",
    roles: parties.slice(0, 2000).map(({ party_id }) => ({ party_id, role: "client" })) }];
  const records = { parties: parties.map(({ role: _, ...party }) => party), matters };
  say(conflict, "letters", { as_of: "2026-07-01", intake, records });
  process.stdout.write(hashes.join("\\n"));
  /** Lists of records have no order; those of names and lines do. */
  function reversed(value, key) {
    if (Array.isArray(value)) {
      const items = value.map((item) => reversed(item));
      return UNORDERED.has(key) ? items.reverse() : items;
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).reverse().map(([k, v]) => [k, reversed(v, k)]));
  }
`;

/** Lists whose order says nothing. */
const UNORDERED = [
  ...["transactions", "entries", "client_ledgers", "outstanding", "adjustments", "deadlines"],
  ...["parties", "matters", "roles", "relationships", "waivers", "walls", "authorities"],
];

async function hashesUnder(
  environment: Readonly<Record<string, string>>,
  bun: readonly string[] = [process.execPath],
): Promise<string | null> {
  const directory = mkdtempSync(join(tmpdir(), "svc-hashes-"));
  const file = join(directory, "hashes.ts");
  writeFileSync(file, `const UNORDERED = new Set(${JSON.stringify(UNORDERED)});${SCRIPT}`);
  const child = Bun.spawn([...bun, file], {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdout: "pipe",
    stderr: bun.length === 1 ? "inherit" : "ignore",
  });
  const text = await new Response(child.stdout).text();
  const code = await child.exited;
  rmSync(directory, { recursive: true });
  return code === 0 ? text : null;
}

const PLAIN = { LANG: "C", LC_ALL: "C", TZ: "UTC" };
const ENVIRONMENTS = [
  { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Pacific/Auckland" },
  { LANG: "sv_SE.UTF-8", LC_ALL: "sv_SE.UTF-8", TZ: "America/St_Johns" },
];

test("language, time zone and the order of records change no byte", async () => {
  const plain = await hashesUnder(PLAIN);
  const lines = (plain ?? "").split("\n").map((line) => line.split(" "));
  expect(lines.length).toBeGreaterThanOrEqual(15);
  const hashOf = (engine: unknown, name: string): unknown =>
    lines.find((line) => line[0] === engine && line.slice(1, -1).join(" ") === name)?.at(-1);
  for (const [engine, ...rest] of lines) {
    const name = rest.slice(0, -1).join(" ");
    if (name.endsWith(" reversed")) continue;
    if (name !== "letters") expect(hashOf(engine, `${name} reversed`)).toBe(rest.at(-1));
  }
  for (const environment of ENVIRONMENTS) expect(await hashesUnder(environment)).toBe(plain);
});

/** Releases with other Unicode tables and another engine; fetched from the registry. */
const BUN_VERSIONS = ["1.2.0", "1.3.0", "1.4.0"];

test.skipIf(process.env["SLOW"] !== "1")("other versions of Bun give the same bytes", async () => {
  const plain = await hashesUnder(PLAIN);
  expect(plain).toContain(" letters ");
  let compared = 0;
  for (const version of BUN_VERSIONS) {
    const bun = ["npx", "-y", `bun@${version}`];
    const asked = Bun.spawnSync([...bun, "--version"], { cwd: tmpdir(), stderr: "ignore" });
    if (asked.stdout.toString().trim() === version) {
      expect([version, await hashesUnder(PLAIN, bun)]).toEqual([version, plain]);
      compared += 1;
    } else process.stderr.write(`skipped: bun@${version} cannot be had here\n`);
  }
  process.stderr.write(`compared with ${compared} other versions of Bun\n`);
});
