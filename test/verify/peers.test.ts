/**
 * An export and its seals, judged by programs that share nothing with ours: a verifier in Python
 * written from FORMAT.md, Go's own note and tlog packages, openssl. Where one is not installed its
 * test is skipped, and the report says so.
 */
import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";
import { type Kept, keep } from "./fixture.ts";
import { unpack } from "./forge.ts";

const GO_SOURCES = "/usr/share/gocode/src/golang.org/x/mod/sumdb";

function has(...command: readonly string[]): boolean {
  try {
    return Bun.spawnSync([...command]).exitCode === 0;
  } catch {
    return false;
  }
}

const hasPython = has("python3", "--version");
const hasGo = has("go", "version") && has("test", "-d", GO_SOURCES);
const hasOpenssl = has("openssl", "version");

let kept: Kept;
let folder: string;

beforeAll(async () => {
  kept = await keep(6);
  folder = temporaryDirectory(onFileEnd);
  for (const [name, bytes] of await unpack(kept.archive)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
});

function run(command: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    env: { ...process.env, ...env },
  });
  return { exitCode, text: `${stdout}${stderr}`.trim() };
}

/** Runs `check` with one byte of a file changed. */
function withChanged<T>(name: string, at: (bytes: Buffer) => number, check: () => T): T {
  const path = join(folder, name);
  const bytes = Buffer.from(readFileSync(path));
  const changed = Buffer.from(bytes);
  const index = at(changed);
  changed[index] = changed[index] === 0x31 ? 0x32 : 0x31;
  writeFileSync(path, changed);
  try {
    return check();
  } finally {
    writeFileSync(path, bytes);
  }
}

test.skipIf(!hasPython)("a verifier in Python, written from FORMAT.md, agrees", () => {
  const auditor = new URL("auditor.py", import.meta.url).pathname;
  const audit = () => run(["python3", auditor, folder, kept.hmacSecret]);
  // Keys, checkpoints, rows, and heads under checkpoints.
  expect(audit()).toEqual({ exitCode: 0, text: "2 6 18 10" });
  for (const name of ["rows/default/0000000001.txt", "checkpoints/00000002.json", "keys.txt"]) {
    const found = withChanged(name, (bytes) => bytes.indexOf('"ts":') + 6 || 60, audit);
    expect(found.exitCode).toBe(1);
  }
});

test.skipIf(!hasGo)(
  "Go's note and tlog accept every checkpoint and proof, and refuse changed ones",
  () => {
    const keys = kept.service.keys.history().keys.map((key) => key.verifier_key);
    const program = join(folder, "..", `${folder.split("/").at(-1)}-witness`);
    onFileEnd(() => rmSync(program, { force: true }));
    const source = new URL("witness.go", import.meta.url).pathname;
    const env = { GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOCACHE: temporaryDirectory() };
    const built = run(["go", "build", "-o", program, source], env);
    expect(built).toEqual({ exitCode: 0, text: "" });
    const witness = () => run([program, folder, ...keys]);
    // Notes, proofs of consistency, proofs of inclusion.
    expect(witness()).toEqual({ exitCode: 0, text: "6 4 10" });
    const anywhere = (bytes: Buffer): number => bytes.length >> 1;
    const inProof = (bytes: Buffer): number => bytes.indexOf('"proof":["') + 15;
    for (const [name, at] of [
      ["checkpoints/00000004.note", anywhere],
      ["checkpoints/00000005.consistency", anywhere],
      ["heads/default.jsonl", inProof],
    ] as const) {
      expect(withChanged(name, at, witness)).toMatchObject({ exitCode: 1 });
    }
  },
  60_000,
);

test.skipIf(!hasOpenssl)("openssl verifies an attestation and a response's signature", () => {
  const [response] = kept.responses;
  const { attestation, signature, responseBody } = response ?? {};
  const [payload = "", signed = ""] = (attestation ?? "").split(".");
  const directory = temporaryDirectory();
  const put = (name: string, bytes: Uint8Array | string): string => {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    return path;
  };
  const [first] = kept.service.keys.history().keys;
  const spki = `302a300506032b6570032100${first?.public_key}`;
  const der = put("key.der", Buffer.from(spki, "hex"));
  const token = put("payload", Buffer.from(payload, "base64url"));
  const sig = put("signature", Buffer.from(signed, "base64url"));
  const verify = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", der];
  const check = [...verify, "-rawin", "-in", token, "-sigfile", sig];
  expect(run(check)).toMatchObject({ exitCode: 0 });
  put("payload", Buffer.concat([Buffer.from(payload, "base64url"), Buffer.from(" ")]));
  expect(run(check)).toMatchObject({ exitCode: 1 });

  const body = put("body", responseBody ?? new Uint8Array());
  const mac = run(["openssl", "dgst", "-sha256", "-hmac", kept.hmacSecret, "-r", body]);
  expect(mac.text.split(" ")[0]).toBe(signature ?? "");
});
