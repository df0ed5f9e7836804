/**
 * Anchors, judged by programs that are not ours: python3-opentimestamps and openssl. Where one is
 * not installed its tests are skipped, and the report says so.
 */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NO_ANCHORS } from "../../src/anchor/anchor-config.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { verifyArchive } from "../trust-export.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";
import { openService, type Service } from "../trust-service.ts";
import { startCalendar } from "./fake-calendar.ts";

const PYTHON = "/usr/bin/python3";

function succeeds(...command: readonly string[]): boolean {
  try {
    return Bun.spawnSync([...command]).exitCode === 0;
  } catch {
    return false;
  }
}

const hasOpenTimestamps = succeeds(PYTHON, "-c", "import opentimestamps");
const hasOpenssl = succeeds("openssl", "version");

function output(command: readonly string[], cwd: string): string {
  const run = Bun.spawnSync([...command], { cwd });
  const text = `${run.stdout.toString()}${run.stderr.toString()}`;
  if (run.exitCode !== 0) throw new Error(`${command.join(" ")}: ${text}`);
  return text;
}

async function checkpointed(service: Service): Promise<string> {
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  await appendCall(service.ledger, callOf(tenantId));
  service.checkpoints.run();
  await service.anchors.work();
  return tenantId;
}

/** The record of checkpoint 1 and its proofs, as files that stock tools take. */
function publish(service: Service): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "1.json"), service.checkpoints.latest()?.record ?? "");
  for (const [extension, bytes] of service.anchors.files(1)) {
    writeFileSync(join(directory, `1.json.${extension}`), bytes);
  }
  return directory;
}

/** Parses a proof, prints what it ends in, and writes it again: it must come out the same. */
const READ_OTS = `
import sys, hashlib
from opentimestamps.core.timestamp import DetachedTimestampFile
from opentimestamps.core.serialize import BytesDeserializationContext, BytesSerializationContext
from opentimestamps.core.notary import PendingAttestation, BitcoinBlockHeaderAttestation
data = open("1.json.ots", "rb").read()
proof = DetachedTimestampFile.deserialize(BytesDeserializationContext(data))
assert proof.file_digest == hashlib.sha256(open("1.json", "rb").read()).digest()
again = BytesSerializationContext()
proof.serialize(again)
assert again.getbytes() == data, "written again it differs"
for message, end in sorted(proof.timestamp.all_attestations(), key=str):
    if isinstance(end, PendingAttestation):
        print("pending", end.uri)
    elif isinstance(end, BitcoinBlockHeaderAttestation):
        print("bitcoin", end.height, message[::-1].hex())
`;

test.skipIf(!hasOpenTimestamps)(
  "python3-opentimestamps reads our proofs, pending and confirmed, and writes them the same",
  async () => {
    const asked = [startCalendar(), startCalendar(), startCalendar()];
    for (const calendar of asked) onTestEnd(() => calendar.stop());
    const calendars = asked.map(({ url }) => url);
    const service = openService({ anchors: { ...NO_ANCHORS, calendars } });
    await checkpointed(service);
    const pending = output([PYTHON, "-c", READ_OTS], publish(service)).trim().split("\n");
    expect(pending.sort()).toEqual(calendars.map((url) => `pending ${url}`).sort());

    asked[1]?.mine(800_123);
    service.clock.nowMs += 3_600_000;
    await service.anchors.work();
    const confirmed = output([PYTHON, "-c", READ_OTS], publish(service)).trim().split("\n");
    expect(confirmed.sort()).toEqual([
      `bitcoin 800123 ${asked[1]?.blockRoots.get(800_123)}`,
      ...[calendars[0], calendars[2]].map((url) => `pending ${url}`).sort(),
    ]);
  },
);

/** A calendar made of the reference implementation: it reads what we send and writes its answers. */
const CALENDAR = `
import sys, os, hmac, hashlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from opentimestamps.core.timestamp import Timestamp
from opentimestamps.core.op import OpSHA256, OpAppend, OpPrepend
from opentimestamps.core.notary import PendingAttestation, BitcoinBlockHeaderAttestation
from opentimestamps.core.serialize import BytesSerializationContext
kept = {}
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def answer(self, stamp):
        out = BytesSerializationContext()
        stamp.serialize(out)
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(out.getbytes())))
        self.end_headers()
        self.wfile.write(out.getbytes())
    def do_POST(self):
        assert self.path == "/digest", self.path
        digest = self.rfile.read(int(self.headers["Content-Length"]))
        assert len(digest) == 32
        stamp = Timestamp(digest)
        salted = stamp.ops.add(OpAppend(os.urandom(16))).ops.add(OpSHA256())
        leaf = salted.ops.add(OpPrepend(b"\\x65\\x00\\x00\\x01"))
        leaf = leaf.ops.add(OpAppend(b"8 bytes!"))
        leaf.attestations.add(PendingAttestation("http://127.0.0.1:%d" % self.server.server_port))
        done = Timestamp(leaf.msg)
        root = done.ops.add(OpSHA256()).ops.add(OpSHA256())
        root.attestations.add(BitcoinBlockHeaderAttestation(812345))
        kept[leaf.msg.hex()] = done
        print(root.msg[::-1].hex(), flush=True)
        self.answer(stamp)
    def do_GET(self):
        self.answer(kept[self.path.rsplit("/", 1)[1]])
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
`;

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, string> {
  let text = "";
  for await (const piece of stream) {
    text += Buffer.from(piece).toString();
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
  return text;
}

test.skipIf(!hasOpenTimestamps)(
  "a calendar made of python3-opentimestamps is submitted to, and keeps its promise",
  async () => {
    const server = Bun.spawn([PYTHON, "-c", CALENDAR], { stdout: "pipe", stderr: "ignore" });
    onTestEnd(() => server.kill(9));
    const lines = linesOf(server.stdout);
    const calendars = [`http://127.0.0.1:${(await lines.next()).value}`];
    const service = openService({ anchors: { ...NO_ANCHORS, calendars } });
    const tenantId = await checkpointed(service);
    const root = (await lines.next()).value ?? "";
    service.clock.nowMs += 3_600_000;
    await service.anchors.work();
    const blockRoots = new Map([[812_345, root]]);
    const report = await verifyArchive(service.exportOf(tenantId), { blockRoots });
    expect(report.finding).toBeNull();
    expect(report.summary.anchors).toEqual([
      { n: 1, kind: "ots", state: "confirmed", statement: "existed before Bitcoin block 812345" },
    ]);
  },
);

/** A certificate authority and a timestamping authority of one's own, for a host off the network. */
function makeAuthority(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "tsa"));
  writeFileSync(
    join(directory, "tsa.cnf"),
    [
      "[tsa]\ndefault_tsa = here",
      `[here]\nserial = ${directory}/serial\nsigner_cert = ${directory}/tsa.pem`,
      `signer_key = ${directory}/tsa.key\nsigner_digest = sha256\ndefault_policy = 1.2.3.4.1`,
      "digests = sha256\naccuracy = secs:1\nordering = no\ntsa_name = no\ness_cert_id_chain = no",
      "ess_cert_id_alg = sha256",
      "[ext]\nextendedKeyUsage = critical,timeStamping\nkeyUsage = critical,digitalSignature",
    ].join("\n"),
  );
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const run = (...args: readonly string[]): string => output(["openssl", ...args], directory);
  run("req", "-x509", ...curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA");
  run("req", "-new", ...curve, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=TSA");
  const issue = ["x509", "-req", "-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key"];
  run(...issue, "-CAcreateserial", "-out", "tsa.pem", "-extfile", "tsa.cnf", "-extensions", "ext");
  return directory;
}

test.skipIf(!hasOpenssl)(
  "a token from a local authority verifies under openssl, and not about another record",
  async () => {
    const authority = makeAuthority();
    const command = ["openssl", "ts", "-reply", "-config", `${authority}/tsa.cnf`];
    const service = openService({
      anchors: {
        ...NO_ANCHORS,
        authority: { kind: "command", command: [...command, "-queryfile", "/dev/stdin"] },
      },
    });
    const tenantId = await checkpointed(service);
    expect(service.anchors.statesOf(1)).toEqual([
      { kind: "rfc3161", target: "command", state: "confirmed" },
    ]);
    const files = publish(service);
    const verify = ["openssl", "ts", "-verify", "-in", "1.json.tsr", "-CAfile"];
    const check = [...verify, `${authority}/ca.pem`, "-data", "1.json"];
    expect(output(check, files)).toContain("Verification: OK");
    writeFileSync(join(files, "1.json"), "another record");
    expect(() => output(check, files)).toThrow("message imprint mismatch");
    const report = await verifyArchive(service.exportOf(tenantId));
    expect(report.finding).toBeNull();
    expect(report.summary.anchors[0]?.statement).toContain("signature: not checked; openssl ts");
  },
);

test.skipIf(!hasOpenssl)("a refused or a foreign token is not taken", async () => {
  const authority = makeAuthority();
  const config = `${authority}/tsa.cnf`;
  const digest = ["openssl", "ts", "-query", "-digest", "00".repeat(32), "-sha256", "-no_nonce"];
  output([...digest, "-out", "other.tsq"], authority);
  const reply = ["openssl", "ts", "-reply", "-config", config, "-queryfile"];
  const commands: readonly (readonly string[])[] = [
    [...reply, `${authority}/other.tsq`],
    ["openssl", "ts", "-reply", "-config", config, "-queryfile", "/dev/null"],
    ["cat"],
    ["false"],
    ["svc-no-such-program"],
  ];
  for (const command of commands) {
    const anchors = { ...NO_ANCHORS, authority: { kind: "command", command } as const };
    const service = openService({ anchors });
    await checkpointed(service);
    expect(service.anchors.counts()).toEqual({ queued: 1, pending: 0, confirmed: 0 });
    expect(service.logged).toContain("anchor_failed");
  }
});
