/** What an attacker with this or that could try, and where the verifier says it shows. */
import { beforeAll, expect, test } from "bun:test";
import { toHex } from "../../src/bytes/hex.ts";
import { generateSigningKey } from "../../src/crypto/ed25519.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { signChainHead } from "../../src/receipt/chain-head.ts";
import type { Finding } from "../../src/verify/finding.ts";
import type { VerifyOptions } from "../../src/verify/verify.ts";
import { collect, inPieces, verifyArchive } from "../trust-export.ts";
import { callOf, countingBytes } from "../trust-lab.ts";
import { openService } from "../trust-service.ts";
import { type Kept, keep } from "./fixture.ts";
import { edited, type Files, pack, remanifested, textIn, unpack } from "./forge.ts";

let kept: Kept;
let files: Files;
let memory: Required<Pick<VerifyOptions, "hmacSecrets" | "heldHeads" | "responses" | "rootKey">>;

beforeAll(async () => {
  kept = await keep(5);
  files = await unpack(kept.archive);
  const { hmacSecret, heldHeads, responses, rootKey } = kept;
  memory = { hmacSecrets: [hmacSecret], heldHeads, responses, rootKey };
});

const verify = (changed: Files, options: VerifyOptions = {}) =>
  verifyArchive(inPieces(pack(changed)), options);

const ROWS = "rows/billing/0000000001.txt";
const lines = (name: string): string[] => textIn(files, name).trimEnd().split("\n");
const withLines = (name: string, changed: readonly string[]): Files =>
  edited(files, name, () => changed.map((line) => `${line}\n`).join(""));

test("the untouched export verifies, alone and with everything that its tenant kept", async () => {
  const alone = await verify(files);
  expect(alone.finding).toBeNull();
  expect(alone.notes).toEqual([
    "the root key was taken from the export itself",
    "row MACs were not checked: no HMAC secret was given",
    "no earlier head was given: a cut-off end would not show",
    "some rows are newer than the newest checkpoint",
  ]);
  const report = await verify(files, memory);
  expect(report.finding).toBeNull();
  expect(report.notes).toEqual(["some rows are newer than the newest checkpoint"]);
  expect(report.summary).toMatchObject({
    tenantId: kept.tenantId,
    keys: 2,
    checkpoints: 5,
    rows: 15,
    responses: 7,
    globalHead: kept.service.checkpoints.globalHead(),
  });
  expect(report.summary.chains.map(({ appId, height }) => [appId, height])).toEqual([
    ["billing", 10],
    ["default", 5],
  ]);
  expect(report.summary.anchors).toHaveLength(2);
});

/** Without any key: the file itself is changed. Found with no help from the tenant. */
const FILE_EDITS: readonly (readonly [string, () => Files, Partial<Finding>])[] = [
  [
    "a dropped row",
    () => withLines(ROWS, lines(ROWS).toSpliced(3, 1)),
    { file: ROWS, chain: "billing", height: 4, field: "seq", expected: "4", found: "5" },
  ],
  [
    "a doubled row",
    () => withLines(ROWS, lines(ROWS).toSpliced(3, 0, lines(ROWS)[2] ?? "")),
    { file: ROWS, height: 4, field: "seq", expected: "4", found: "3" },
  ],
  [
    "two swapped rows",
    () => withLines(ROWS, lines(ROWS).toSpliced(3, 2, lines(ROWS)[4] ?? "", lines(ROWS)[3] ?? "")),
    { file: ROWS, height: 4, field: "seq" },
  ],
  [
    "a cut-off last row",
    () => withLines(ROWS, lines(ROWS).slice(0, -1)),
    { file: "heads/billing.jsonl", chain: "billing", field: "height", expected: "10", found: "9" },
  ],
  [
    "a changed count of tokens",
    () =>
      edited(files, ROWS, (text) =>
        text.replace('"completion_tokens":12', '"completion_tokens":2'),
      ),
    { file: ROWS, height: 1, field: "row_hash" },
  ],
  [
    "a row with its hash made anew",
    () =>
      withLines(
        ROWS,
        lines(ROWS).with(4, rehashed((lines(ROWS)[4] ?? "").replace('"ms":7', '"ms":8'))),
      ),
    { file: ROWS, height: 6, field: "prev_hash" },
  ],
  [
    "rows rewritten with all hashes and links made anew",
    () =>
      withLines(
        ROWS,
        relinked(lines(ROWS), 4, (row) => row.replace('"ms":7', '"ms":8')),
      ),
    { file: ROWS, height: 6, field: "row_hash", message: "is not the head that checkpoint 4 has" },
  ],
  [
    "the newest rows, which no checkpoint has, rewritten",
    () =>
      withLines(
        ROWS,
        relinked(lines(ROWS), 8, (row) => row.replace('"ms":7', '"ms":8')),
      ),
    { file: "heads/billing.jsonl", chain: "billing", field: "head_hash" },
  ],
  [
    "a chain left out",
    () => new Map([...files].filter(([name]) => !name.includes("billing"))),
    { file: "heads/billing.jsonl", field: "manifest", found: "no such file" },
  ],
  [
    "a file left out of the manifest's list",
    () => new Map([...files].filter(([name]) => name !== "checkpoints/00000002.json.ots")),
    { field: "manifest" },
  ],
  [
    "a file added",
    () => new Map([...files, ["notes.txt", new Uint8Array(3)]]),
    { file: "notes.txt", field: "name" },
  ],
  [
    "a missing checkpoint",
    () => new Map([...files].filter(([name]) => !name.startsWith("checkpoints/00000002"))),
    { file: "checkpoints/00000003.json", n: 3, field: "n" },
  ],
  [
    "the newest checkpoint left out",
    () => new Map([...files].filter(([name]) => !name.startsWith("checkpoints/00000005"))),
    { file: "heads/billing.jsonl", field: "proof" },
  ],
  [
    "a checkpoint without its note",
    () => new Map([...files].filter(([name]) => name !== "checkpoints/00000003.note")),
    { n: 3, field: "note", message: "is missing before this file" },
  ],
  [
    "a checkpoint without its proof of consistency",
    () => new Map([...files].filter(([name]) => name !== "checkpoints/00000002.consistency")),
    { n: 2, field: "consistency", message: "is missing before this file" },
  ],
  [
    "another checkpoint's note",
    () =>
      new Map(files).set("checkpoints/00000003.note", bytesOf(files, "checkpoints/00000004.note")),
    { file: "checkpoints/00000003.note", n: 3, field: "note" },
  ],
  [
    "another checkpoint's anchor",
    () => moved(files, "checkpoints/00000001.json.ots", "checkpoints/00000002.json.ots"),
    { field: "proof", message: "is about another file" },
  ],
  [
    "an attestation key's record left out",
    () => edited(files, "keys.txt", (text) => text.slice(0, text.indexOf("\n") + 1)),
    { file: "checkpoints/00000004.json", n: 4, field: "keys" },
  ],
  [
    "a head's height changed",
    () =>
      edited(files, "heads/billing.jsonl", (text) => text.replace('"height":10,', '"height":9,')),
    { file: "heads/billing.jsonl", field: "signature" },
  ],
  [
    "a head that a checkpoint has left out",
    () => withLines("heads/billing.jsonl", lines("heads/billing.jsonl").toSpliced(2, 1)),
    { file: ROWS, chain: "billing", height: 3, field: "ts" },
  ],
  [
    "the manifest's time changed",
    () => edited(files, "manifest.json", (text) => text.replace(/"as_of":"2026/, '"as_of":"2027')),
    { file: "manifest.json", field: "note" },
  ],
];

test.each(FILE_EDITS)("%s is found and located", async (_name, attack, finding) => {
  const report = await verify(attack());
  expect(report.ok).toBe(false);
  expect(report.finding).toMatchObject(finding);
});

test("rows rewritten by someone without the tenant's secret fail on the MAC", async () => {
  const changed = withLines(
    ROWS,
    relinked(lines(ROWS), 4, (row) => row.replace('"ms":7', '"ms":8')),
  );
  const { finding } = await verify(changed, { hmacSecrets: [kept.hmacSecret] });
  expect(finding).toMatchObject({ file: ROWS, chain: "billing", height: 5, field: "row_mac" });
  const wrong = await verify(files, { hmacSecrets: ["00".repeat(32)] });
  expect(wrong.finding).toMatchObject({ height: 1, field: "row_mac" });
});

/** With the running process: heads and manifest can be signed again. What the tenant kept tells. */
async function resigned(changed: Files): Promise<Files> {
  const key = kept.service.keys.current;
  return remanifested(changed, key);
}

test("a service that cuts off its newest rows is found by a head that the tenant held", async () => {
  const cut = withLines(ROWS, lines(ROWS).slice(0, 9));
  const headHash = (lines(ROWS)[8] ?? "").slice(0, 64);
  const forged = await resigned(withHead(cut, { height: 9, headHash }));
  expect((await verify(forged)).finding).toBeNull();
  const { finding } = await verify(forged, { heldHeads: kept.heldHeads });
  expect(finding).toMatchObject({ chain: "billing", height: 10, field: "held head" });
});

test("a service that forks a chain is found by a head that the tenant held", async () => {
  const rows = relinked(lines(ROWS), 9, (row) => row.replace('"ms":7', '"ms":8'));
  const headHash = (rows[9] ?? "").slice(0, 64);
  const forged = await resigned(withHead(withLines(ROWS, rows), { height: 10, headHash }));
  expect((await verify(forged)).finding).toBeNull();
  const { finding } = await verify(forged, { heldHeads: kept.heldHeads });
  expect(finding).toMatchObject({ chain: "billing", height: 10, field: "row_hash" });
  expect(finding?.message).toContain("the chain was forked");
});

test("a service that drops a whole chain is found by a response whose row is gone", async () => {
  const dropped = new Map([...files].filter(([name]) => !name.includes("default")));
  const forged = await resigned(dropped);
  expect((await verify(forged)).finding).toBeNull();
  const { finding } = await verify(forged, { responses: kept.responses });
  expect(finding).toMatchObject({ file: "responses", n: 1, field: "chain_head" });
});

test("an export of another service, whole and sound, is not the pinned root key's", async () => {
  const other = openService({ randomBytes: countingBytes("other") });
  const { tenantId } = other.tenants.createKey({ tenantName: "A" });
  await appendCall(other.ledger, callOf(tenantId));
  const archive = await collect(other.exportOf(tenantId));
  const report = await verifyArchive(inPieces(archive), { rootKey: kept.rootKey });
  expect(report.finding).toMatchObject({ file: "root.pub", field: "root key" });
});

test("a key that the root key never certified signs nothing", async () => {
  const key = generateSigningKey();
  const record = /^\S+ (.*)$/m.exec(textIn(files, "keys.txt"))?.[1] ?? "";
  const swapped = record
    .replace(/"kid":"[^"]+"/, `"kid":"${key.kid}"`)
    .replace(/"public_key":"[^"]+"/, `"public_key":"${toHex(key.publicKey)}"`);
  const signature = Buffer.from(key.sign(Buffer.from(swapped))).toString("base64url");
  const forged = edited(files, "keys.txt", (text) =>
    text.replace(/^.*\n/, `${signature} ${swapped}\n`),
  );
  const { finding } = await verify(forged);
  expect(finding).toMatchObject({ file: "keys.txt", n: 1, field: "signature" });
});

test("an earlier key of the history does not sign later checkpoints, heads or manifests", async () => {
  const kid = /"kid":"([^"]+)"/.exec(textIn(files, "keys.txt"))?.[1] ?? "";
  const head = edited(files, "heads/billing.jsonl", (text) =>
    text.replace(/"attestation_kid":"[^"]+"/, `"attestation_kid":"${kid}"`),
  );
  expect((await verify(head)).finding).toMatchObject({ field: "attestation_kid" });
  const manifest = edited(files, "manifest.json", (text) =>
    text.replace(/"kid":"[^"]+"/, `"kid":"${kid}"`),
  );
  expect((await verify(manifest)).finding).toMatchObject({ file: "manifest.json", field: "kid" });
});

test("rows of another tenant do not pass as one's own", async () => {
  const foreign = await unpack(await collect(kept.service.exportOf(kept.otherTenantId)));
  const name = "rows/default/0000000001.txt";
  const rows = new Map(files).set(name, bytesOf(foreign, name));
  const { finding } = await verify(rows);
  expect(finding).toMatchObject({ file: name, chain: "default", height: 1, field: "tenant_id" });
  const heads = await resigned(
    new Map(rows).set("heads/default.jsonl", bytesOf(foreign, "heads/default.jsonl")),
  );
  expect((await verify(heads)).finding).toMatchObject({
    file: "heads/default.jsonl",
    field: "tenant_id",
    expected: kept.tenantId,
    found: kept.otherTenantId,
  });
});

test("a checkpoint that the caller saw and that changed since is found by its number", async () => {
  const hashOf = (n: number): string =>
    sha256Hex(bytesOf(files, `checkpoints/${String(n).padStart(8, "0")}.json`));
  const seen = new Map([1, 2, 3].map((n) => [n, hashOf(n)]));
  expect((await verify(files, { heldCheckpoints: seen })).finding).toBeNull();
  const other = new Map([...seen, [2, "ab".repeat(32)]]);
  expect((await verify(files, { heldCheckpoints: other })).finding).toMatchObject({
    n: 2,
    field: "held checkpoint",
  });
  const future = new Map([[9, "ab".repeat(32)]]);
  expect((await verify(files, { heldCheckpoints: future })).finding).toMatchObject({ n: 9 });
});

test("an export from before and one from now hold together, whichever is held", async () => {
  const { chains } = (await verify(files)).summary;
  await appendCall(kept.service.ledger, callOf(kept.tenantId, { appId: "billing" }));
  const later = await collect(kept.service.exportOf(kept.tenantId));
  const report = await verifyArchive(inPieces(later), { heldHeads: chains });
  expect(report.finding).toBeNull();
  const { finding } = await verify(files, { heldHeads: report.summary.chains });
  expect(finding).toMatchObject({ chain: "billing", height: 11, field: "held head" });
});

function bytesOf(from: Files, name: string): Uint8Array {
  const bytes = from.get(name);
  if (bytes === undefined) throw new Error(`the export has no ${name}`);
  return bytes;
}

/** A row's line with the hash that its bytes have now. */
function rehashed(line: string): string {
  return `${sha256Hex(line.slice(130))}${line.slice(64)}`;
}

/** All rows from `index` on made anew over an edited one: hashes and links agree again. */
function relinked(
  rows: readonly string[],
  index: number,
  edit: (line: string) => string,
): string[] {
  const changed = [...rows];
  changed[index] = rehashed(edit(changed[index] ?? ""));
  for (let next = index + 1; next < rows.length; next++) {
    const hash = (changed[next - 1] ?? "").slice(0, 64);
    const line = (changed[next] ?? "").replace(/"prev_hash":"[^"]+"/, `"prev_hash":"${hash}"`);
    changed[next] = rehashed(line);
  }
  return changed;
}

/** The head of the chain `billing` signed anew by the running service. */
function withHead(from: Files, head: { height: number; headHash: string }): Files {
  const { as_of: asOf } = JSON.parse(textIn(from, "manifest.json")) as { as_of: string };
  const { tenantId, service } = kept;
  const signed = signChainHead(service.keys.current, {
    tenantId,
    ...head,
    asOfMs: Date.parse(asOf),
  });
  const sorted = Object.fromEntries(Object.entries(signed).sort(([a], [b]) => (a < b ? -1 : 1)));
  return edited(from, "heads/billing.jsonl", (text) =>
    text.replace(/^.*\n/, `${JSON.stringify(sorted)}\n`),
  );
}

/** A file taken out, and put under another name right after that name's record. */
function moved(from: Files, name: string, to: string): Files {
  const bytes = bytesOf(from, name);
  const record = to.replace(/\.json\..*$/, ".consistency");
  return new Map(
    [...from].flatMap(([each, content]) => {
      if (each === name || each === to) return [];
      return each === record ? [[each, content] as const, [to, bytes] as const] : [[each, content]];
    }),
  );
}
