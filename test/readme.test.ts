/**
 * Runs what the README tells people to paste: its `sh` blocks one after the other in one shell,
 * against a server that was started as it says, and its `ts` blocks as programs.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, startServer } from "./cli/kit.ts";

// Models load and programs start: seconds on a busy machine.
setDefaultTimeout(30_000);

const root = new URL("..", import.meta.url).pathname;
const readme = await Bun.file(join(root, "README.md")).text();
const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind = "", text = ""]) => ({
  kind,
  text,
}));
const textsOf = (kind: string): string[] =>
  blocks.filter((block) => block.kind === kind).map(({ text }) => text);

const directory = mkdtempSync(join(tmpdir(), "svc-readme-"));
const tools = ["bash", "curl", "openssl"].filter((name) => Bun.which(name) === null);
let server: RunningServer;
let environment: Record<string, string>;

beforeAll(async () => {
  server = await startServer({ directory });
  environment = {
    ...(process.env as Record<string, string>),
    URL: server.url,
    KEY: String(server.firstKey?.["api_key"]),
    SECRET: String(server.firstKey?.["hmac_secret"]),
  };
});

afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** `svc`, as the README means it. */
const SVC = `svc() { "${process.execPath}" "${join(root, "src/main.ts")}" "$@"; }\nset -e\n`;

async function runIn(command: readonly string[]): Promise<string> {
  const run = Bun.spawn([...command], { cwd: directory, env: environment, stderr: "pipe" });
  const [out, err] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  // `bun test` reports on standard error.
  const said = command.includes("test") ? "" : err.replace(/^npm warn .*\n/gm, "");
  expect([await run.exited, said]).toEqual([0, ""]);
  return out;
}

if (tools.length > 0) {
  process.stderr.write(`README's shell blocks are NOT tested: no ${tools.join(", ")} here\n`);
}

test.skipIf(tools.length > 0)(
  "the shell blocks of the README work as they are pasted",
  async () => {
    const out = await runIn(["bash", "-c", SVC + textsOf("sh").join("\n")]);
    const { choices, svc } = JSON.parse(await Bun.file(join(directory, "answer.json")).text());
    expect(svc.schema_enforced).toBe(true);
    expect(JSON.parse(choices[0].message.content)).toMatchObject({ invoice_number: "INV-2041" });
    for (const text of ["signature OK", "Signature Verified Successfully", "answer OK"]) {
      expect(out).toContain(text);
    }
    expect(out).toMatch(/"sentiment\\":\\"(positive|neutral|negative)\\"/);
    expect(out).toContain("nightly");
  },
);

test("the programs of the README work as they are pasted", async () => {
  const [first = "", tool = "", suite = "", ...others] = textsOf("ts");
  expect(others).toEqual([]);
  expect(await runProgram(first)).toBe("INV-2041\n");
  expect(await runProgram(tool)).toBe('weather [ "city" ]\n');
  expect(await runProgram(suite, "test")).toStartWith("bun test");
});

/** Beside the sources, where a program finds the packages that the README says to install. */
async function runProgram(text: string, ...command: readonly string[]): Promise<string> {
  const path = join(root, "test", `.readme-${process.pid}.test.ts`);
  writeFileSync(path, text);
  try {
    return await runIn([process.execPath, ...command, path]);
  } finally {
    rmSync(path);
  }
}

test("every block is of a kind that is run, or is a transcript", () => {
  expect([...new Set(blocks.map(({ kind }) => kind))].sort()).toEqual(["console", "sh", "ts"]);
});

test("every command and every folder that the README names exists", async () => {
  const commands = new Set(
    [...readme.matchAll(/`(?:bun run )?svc ([a-z]+)/g)].map(([, name]) => name),
  );
  const { run } = await import("./cli/kit.ts");
  for (const name of commands) {
    expect((await run({ directory }, String(name), "--help")).out).toContain(`svc ${name}`);
  }
  const layout = readme.slice(readme.indexOf("## Layout"), readme.indexOf("## Development"));
  const folders = [...layout.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`([a-z.]+)`/g)].map(([, name = ""]) => name),
  );
  expect(folders.filter((name) => !existsSync(join(root, "src", name)))).toEqual([]);
  expect(folders.length).toBeGreaterThan(10);
});
