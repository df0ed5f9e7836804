/**
 * Follows the rows of every chain, file by file: each must hold by itself (`row-file.ts`), and fit
 * the signed head, the checkpoints, the other rows, and what the caller remembers.
 */
import { latin1 } from "./encoding.ts";
import { check, VerifyError } from "./finding.ts";
import { Fingerprints } from "./fingerprints.ts";
import type { ChainClaim } from "./heads.ts";
import type { FileEntry } from "./manifest.ts";
import {
  broken,
  CHAIN_START,
  type ChainPoint,
  type CheckedRows,
  lastPoint,
  type RowFile,
} from "./row-file.ts";
import { RowReader, RowText } from "./row-pattern.ts";
import type { ArchiveFile } from "./tar.ts";

export interface RowsOptions {
  /** Heads that the caller remembers, by app id: each must be the row at its height. */
  readonly heldHeads: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** Called with each row whose hash is wanted. */
  readonly onWanted: (row: RowText) => void;
  /** The capture time of the newest checkpoint, Unix milliseconds; rows after it are uncovered. */
  readonly newestCaptureTs: number;
  /** The capture time of the checkpoint before the one with this number; 0 for the first. */
  readonly captureTsBefore: (n: number) => number;
}

export class RowsVerifier {
  /** Rows that passed, over all chains. */
  count = 0;
  readonly #options: RowsOptions;
  readonly #requestIds = new Fingerprints();
  readonly #outputs = new Fingerprints();

  constructor(options: RowsOptions) {
    this.#options = options;
  }

  /** Whether doubled request ids and unequal outputs were looked for among all rows. */
  get comparedAll(): boolean {
    return !this.#requestIds.isFull && !this.#outputs.isFull;
  }

  /**
   * Takes the next file of a chain, as it was checked by itself.
   * @returns what the manifest should say about it.
   * @throws VerifyError
   */
  take(chain: Chain, file: RowFile, checked: CheckedRows): FileEntry {
    const { digest, finding, rows, wanted } = checked;
    const captured = this.#options.heldHeads.get(file.appId);
    for (let row = 0; row < rows; row++) {
      this.#coverage(chain, file, checked, row);
      if (captured !== undefined) checkHeld(captured, file, checked, row);
      this.#others(file, checked, row);
      this.count += 1;
    }
    if (finding !== null) throw new VerifyError(finding);
    for (const parts of wanted) this.#options.onWanted(new RowText(parts));
    chain.height += rows;
    if (rows > 0) chain.hash = hashOf(checked, rows - 1);
    return { name: file.name, size: file.bytes.byteLength, rows, digest };
  }

  /** Ends a chain. @throws VerifyError unless the rows lead to the signed head. */
  endChain(chain: Chain): void {
    const { appId, height, headHash } = chain.claim;
    const where = { file: `heads/${appId}.jsonl`, chain: appId, height };
    check(chain.height === height, {
      ...where,
      field: "height",
      message: "the rows end elsewhere",
      expected: String(height),
      found: String(chain.height),
    });
    const message = "is not the last row's hash";
    check(chain.hash === headHash, { ...where, field: "head_hash", message });
    for (const [held, hash] of this.#options.heldHeads.get(appId) ?? []) {
      check(held <= height, {
        ...where,
        height: held,
        field: "held head",
        message: "the chain was longer when this head was seen",
        expected: hash,
      });
    }
  }

  /** What checkpoints say about this height. */
  #coverage(chain: Chain, file: RowFile, checked: CheckedRows, row: number): void {
    const ts = checked.ts[row] ?? 0;
    const leaf = chain.claim.leaves[chain.leafIndex];
    if (leaf === undefined) {
      const { newestCaptureTs } = this.#options;
      if (ts >= newestCaptureTs) return;
      const message = "is older than the newest checkpoint, which does not have the row";
      throw broken(file, heightOf(file, row), "ts", message, `>= ${newestCaptureTs}`, String(ts));
    }
    const { checkpoint, headHash, height } = leaf;
    const from = this.#options.captureTsBefore(checkpoint.n);
    const to = checkpoint.captureTs;
    if (ts < from || ts > to) {
      const message = `does not fit the first checkpoint that has the row, ${checkpoint.n}`;
      throw broken(file, heightOf(file, row), "ts", message, `${from} to ${to}`, String(ts));
    }
    if (height !== heightOf(file, row)) return;
    const hash = hashOf(checked, row);
    if (headHash !== hash) {
      const message = `is not the head that checkpoint ${checkpoint.n} has`;
      throw broken(file, heightOf(file, row), "row_hash", message, headHash, hash);
    }
    chain.leafIndex += 1;
  }

  /** What other rows say about this one. */
  #others(file: RowFile, { outputs, requests }: CheckedRows, row: number): void {
    const first = this.#requestIds.add(
      requests[2 * row] ?? 0,
      requests[2 * row + 1] ?? 0,
      this.count,
    );
    if (first !== this.count) {
      const { request } = rowAt(file, row);
      throw broken(
        file,
        heightOf(file, row),
        "request_id",
        "occurs twice",
        "one row a call",
        request,
      );
    }
    const inputHigh = outputs[3 * row + 1] ?? 0;
    if (inputHigh === 0) return;
    const output = outputs[3 * row + 2] ?? 0;
    const known = this.#outputs.add(outputs[3 * row] ?? 0, inputHigh, output);
    if (known === output) return;
    const message = "differs from that of an equal call to the same engine";
    throw broken(
      file,
      heightOf(file, row),
      "output_hash",
      message,
      wordHex(known),
      wordHex(output),
    );
  }
}

/** Where the following of one chain stands. */
export class Chain {
  readonly claim: ChainClaim;
  /** Rows that passed, and the hash of the last. */
  height = CHAIN_START.height;
  hash = CHAIN_START.hash;
  /** The first leaf at the next height or above it. */
  leafIndex = 0;
  /** Where the files so far end, as they say themselves. */
  #claimed: ChainPoint = CHAIN_START;

  constructor(claim: ChainClaim) {
    this.claim = claim;
  }

  /** The name that the next file must have. */
  get nextName(): string {
    const height = String(this.#claimed.height + 1).padStart(10, "0");
    return `rows/${this.claim.appId}/${height}.txt`;
  }

  next({ name, bytes }: ArchiveFile): RowFile {
    const { appId, tenantId } = this.claim;
    const file = { name, bytes, appId, tenantId, from: this.#claimed };
    this.#claimed = lastPoint(file);
    return file;
  }
}

function checkHeld(
  held: ReadonlyMap<number, string>,
  file: RowFile,
  checked: CheckedRows,
  row: number,
): void {
  const expected = held.get(heightOf(file, row));
  const hash = hashOf(checked, row);
  if (expected === undefined || expected === hash) return;
  const message = "is not the head that was seen at this height: the chain was forked";
  throw broken(file, heightOf(file, row), "row_hash", message, expected, hash);
}

function heightOf({ from }: RowFile, row: number): number {
  return from.height + row + 1;
}

function hashOf({ seals }: CheckedRows, row: number): string {
  return seals.slice(128 * row, 128 * row + 64);
}

/** A row of a file, from 0, that holds by itself. */
function rowAt({ bytes }: RowFile, row: number): RowText {
  const reader = new RowReader(latin1(bytes));
  for (let before = 0; before < row; before++) reader.next();
  return reader.next() ?? new RowText([]);
}

function wordHex(word: number): string {
  return word.toString(16).padStart(8, "0");
}
