/**
 * An export: everything of one tenant that the offline verifier needs, in one tar archive whose
 * signed manifest covers every file. Frozen: see FORMAT.md, "Exports".
 *
 * The heads are captured first. Rows and checkpoints up to them never change, so the archive can be
 * sent piece by piece while new rows arrive, with a few thousand rows in memory at a time.
 */
import { canonicalJson, canonicalJsonBytes } from "../bytes/canonical-json.ts";
import { toHex } from "../bytes/hex.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { Sha256, sha256Hex } from "../crypto/hash.ts";
import { signNote } from "../crypto/signed-note.ts";
import type { AttestationKeys } from "./attestation-keys.ts";
import type { StoredRow } from "./chain-check.ts";
import { type CheckpointFilesDeps, checkpointFiles } from "./checkpoint-files.ts";
import type { Checkpoint } from "./checkpoint-record.ts";
import type { HeadLeaf } from "./checkpoint-tree.ts";
import type { ChainState } from "./heads.ts";
import type { Ledger } from "./ledger.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

export interface ExportDeps extends CheckpointFilesDeps {
  readonly ledger: Ledger;
  readonly keys: AttestationKeys;
  /** Signs a chain's head: `receipt/chain-head.ts`. */
  readonly signHead: (head: {
    readonly tenantId: string;
    readonly headHash: string;
    readonly height: number;
    readonly asOfMs: number;
  }) => SignedHead;
}

interface SignedHead {
  readonly tenant_id: string;
  readonly head_hash: string;
  readonly height: number;
  readonly as_of: string;
  readonly signature: string;
  readonly attestation_kid: string;
}

/** Rows in one file of an export: about 2 MB. */
const ROWS_PER_FILE = 2000;
/** Checkpoints read at a time. */
const CHECKPOINTS_PER_READ = 200;

/**
 * The archive's bytes, in pieces. What is captured is captured now: every iteration gives the same
 * bytes, so a body of any size can be digested before it is sent.
 */
export function exportArchive(deps: ExportDeps, tenantId: string): AsyncIterable<Uint8Array> {
  const captured: Captured = {
    tenantId,
    chains: deps.ledger.heads.ofTenant(tenantId).filter((state) => state.position.seq > 0),
    latest: deps.checkpoints.latest(),
    asOfMs: deps.ledger.clock.nowMs(),
    keyRecords: deps.keys.records(),
    anchorFiles: remembered(deps.anchorFiles),
  };
  return { [Symbol.asyncIterator]: () => pieces(deps, captured) };
}

/** A promise of a calendar may be replaced by its proof between two iterations. */
function remembered(anchorFiles: ExportDeps["anchorFiles"]): ExportDeps["anchorFiles"] {
  const known = new Map<number, ReadonlyMap<string, Uint8Array>>();
  return (n) => {
    const found = known.get(n) ?? anchorFiles(n);
    known.set(n, found);
    return found;
  };
}

async function* pieces(deps: ExportDeps, captured: Captured): AsyncGenerator<Uint8Array> {
  const { keys } = deps;
  const { asOfMs, tenantId } = captured;
  const entries: ManifestEntry[] = [];

  for (const file of files(deps, captured)) {
    entries.push(file.entry);
    yield* tarFile(file.entry.name, file.bytes);
  }
  const manifest = canonicalJsonBytes({
    as_of: new Date(asOfMs).toISOString(),
    files: entries.map((entry) => ({ ...entry })),
    kid: keys.current.kid,
    origin: keys.origin,
    t: "svc.export",
    tenant_id: tenantId,
    v: 1,
  });
  yield* tarFile("manifest.json", manifest);
  const text = `${keys.origin}/export\nsvc-export 1 ${sha256Hex(manifest)}\n`;
  const note = signNote(keys.current, `${keys.origin}/export`, text);
  yield* tarFile("manifest.note", utf8Encode(note));
  yield tarEnd();
}

/** How the manifest covers a file: by its bytes, or, for rows, by the digest of `rowsFile`. */
type ManifestEntry =
  | { readonly name: string; readonly size: number; readonly sha256: string }
  | {
      readonly name: string;
      readonly size: number;
      readonly rows: number;
      readonly digest: string;
    };

interface ExportedFile {
  readonly entry: ManifestEntry;
  readonly bytes: Uint8Array;
}

interface Captured {
  readonly tenantId: string;
  readonly chains: readonly ChainState[];
  readonly latest: Checkpoint | null;
  readonly asOfMs: number;
  readonly keyRecords: ReturnType<AttestationKeys["records"]>;
  readonly anchorFiles: ExportDeps["anchorFiles"];
}

/** All files but the manifest, in the order that FORMAT.md fixes. */
function* files(deps: ExportDeps, captured: Captured): Generator<ExportedFile> {
  const { keys } = deps;
  yield plainFile("root.pub", utf8Encode(`${toHex(keys.rootPublicKey)}\n`));
  const lines = captured.keyRecords.map(({ signature, record }) => `${signature} ${record}\n`);
  yield plainFile("keys.txt", utf8Encode(lines.join("")));
  yield* allCheckpointFiles(deps, captured);
  const treeSize = captured.latest?.treeSize ?? 0;
  for (const state of captured.chains) yield headFile(deps, state, captured, treeSize);
  for (const state of captured.chains) yield* rowFiles(deps, state);
}

function* allCheckpointFiles(
  deps: ExportDeps,
  { latest, anchorFiles }: Captured,
): Generator<ExportedFile> {
  const newest = latest?.n ?? 0;
  let before: Checkpoint | null = null;
  for (let next = 1; next <= newest; next += CHECKPOINTS_PER_READ) {
    for (const checkpoint of deps.checkpoints.from(next, CHECKPOINTS_PER_READ)) {
      if (checkpoint.n > newest) return;
      for (const { name, bytes } of checkpointFiles({ ...deps, anchorFiles }, checkpoint, before)) {
        yield plainFile(`checkpoints/${name}`, bytes);
      }
      before = checkpoint;
    }
  }
}

/** The signed head of a chain, then each of its leaves with the proof in the newest tree. */
function headFile(
  deps: ExportDeps,
  { chain, position }: ChainState,
  { asOfMs }: Captured,
  treeSize: number,
): ExportedFile {
  const { tenantId, appId } = chain;
  const signed = deps.signHead({
    tenantId,
    headHash: position.rowHash,
    height: position.seq,
    asOfMs,
  });
  const { tree } = deps.checkpoints;
  const leafLine = (leaf: HeadLeaf): string =>
    canonicalJson({
      head_hash: toHex(leaf.headHash),
      height: leaf.height,
      leaf: leaf.leaf,
      proof: tree.inclusionProof(leaf.leaf, treeSize).map(toBase64),
    });
  const lines = [canonicalJson({ ...signed }), ...tree.leavesOf(chain.id, treeSize).map(leafLine)];
  return plainFile(`heads/${appId}.jsonl`, utf8Encode(lines.map((line) => `${line}\n`).join("")));
}

function* rowFiles(deps: ExportDeps, { chain, position }: ChainState): Generator<ExportedFile> {
  for (let seq = 1; seq <= position.seq; seq += ROWS_PER_FILE) {
    const count = Math.min(ROWS_PER_FILE, position.seq - seq + 1);
    const rows = deps.ledger.reader.rowsFrom(chain.id, seq, count);
    yield rowsFile(`rows/${chain.appId}/${String(seq).padStart(10, "0")}.txt`, rows);
  }
}

/**
 * A line per row: `row_hash row_mac row`. The digest is over hash and MAC of each row, 64 raw
 * bytes, not over the lines: the hashes cover the rows already, and hashing those twice would halve
 * the verifier's speed.
 */
function rowsFile(name: string, rows: readonly StoredRow[]): ExportedFile {
  const digest = new Sha256();
  const pieces: Uint8Array[] = [];
  for (const row of rows) {
    digest.update(row.rowHash);
    digest.update(row.rowMac);
    pieces.push(utf8Encode(`${toHex(row.rowHash)} ${toHex(row.rowMac)} `), row.body, NEWLINE);
  }
  const bytes = Buffer.concat(pieces);
  const size = bytes.byteLength;
  return { entry: { name, size, rows: rows.length, digest: digest.digestHex() }, bytes };
}

const NEWLINE = Uint8Array.of(10);

function plainFile(name: string, bytes: Uint8Array): ExportedFile {
  return { entry: { name, size: bytes.byteLength, sha256: sha256Hex(bytes) }, bytes };
}

function* tarFile(name: string, bytes: Uint8Array): Generator<Uint8Array> {
  yield Buffer.concat([tarHeader(name, bytes.byteLength), bytes, tarPadding(bytes.byteLength)]);
}

function toBase64(hash: Uint8Array): string {
  return Buffer.from(hash).toString("base64");
}
