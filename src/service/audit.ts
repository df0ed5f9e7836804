/** What a tenant can read of its own chains, and everyone of the checkpoints. */

import type { AnchorQueue, AnchorState } from "../anchor/anchor-queue.ts";
import { toHex } from "../bytes/hex.ts";
import { utf8Decode } from "../bytes/utf8.ts";
import { parseMembers } from "../ledger/chain-check.ts";
import type { CheckpointChainStatus } from "../ledger/checkpoint-check.ts";
import { type CheckpointFilesDeps, findCheckpointFile } from "../ledger/checkpoint-files.ts";
import type { Checkpoint } from "../ledger/checkpoint-record.ts";
import { parseCursor, sliceText } from "../ledger/read-slice.ts";
import type { AuditChainHead } from "../receipt/chain-head.ts";
import { ApiError, badRequest } from "./api-error.ts";
import type { Trust } from "./open-trust.ts";

export interface SliceRequest {
  /** Unix milliseconds. */
  readonly since: number;
  readonly limit: number;
  readonly appId: string | null;
  /** `next` of the slice before. */
  readonly after: string | null;
}

/** A checkpoint as the public endpoints give it. `record` and `note` are what is signed. */
export interface CheckpointBody {
  readonly n: number;
  readonly capture_ts: number;
  readonly captured_at: string;
  /** SHA-256 of `record`. */
  readonly global_head: string;
  readonly partitions: number;
  readonly tree_size: number;
  readonly record: string;
  readonly note: string;
  /** Proofs of its age from elsewhere, and how far they are. */
  readonly anchors: readonly AnchorState[];
}

export class Audit {
  readonly #trust: Trust;
  readonly #nowMs: () => number;
  /** When the last full check ended, and how long it took. */
  #fullCheck = { endedMs: Number.NEGATIVE_INFINITY, tookMs: 0 };

  constructor(trust: Trust, nowMs: () => number) {
    this.#trust = trust;
    this.#nowMs = nowMs;
  }

  /** @returns JSON. */
  slice(tenantId: string, { since, limit, appId, after }: SliceRequest): string {
    const cursor = after === null ? undefined : parseCursor(after);
    if (cursor === null) {
      throw badRequest("invalid_value", "after", "after must be the next of an earlier slice");
    }
    const query = { tenantId, since, limit, after: cursor };
    const { ledger } = this.#trust;
    return sliceText(ledger.readSlice(appId === null ? query : { ...query, appId }));
  }

  head(tenantId: string, appId: string): AuditChainHead {
    return this.#trust.chainHead(tenantId, appId);
  }

  /** A call's row. Another tenant's is as unknown as one that never was. @throws ApiError 404. */
  receipt(
    tenantId: string,
    requestId: string,
  ): { readonly request_id: string; readonly row: object } {
    const found = this.#trust.ledger.reader.byRequestId(tenantId, requestId);
    if (found === null) {
      throw notFound("receipt_not_found", "no billable call of yours has this request id");
    }
    const { rowHash, rowMac, body } = found.row;
    const hashes = { row_hash: toHex(rowHash), row_mac: toHex(rowMac) };
    return { request_id: requestId, row: { ...parseMembers(body), ...hashes } };
  }

  /** @throws ApiError 404 before the first checkpoint. */
  latestCheckpoint(): CheckpointBody {
    const latest = this.#trust.checkpoints.latest();
    if (latest === null) throw notFound("no_checkpoint", "there is no checkpoint yet");
    return checkpointBody(latest, this.#trust.anchors);
  }

  /** The newest checkpoint captured at this time or before. @throws ApiError 404. */
  checkpointAt(ms: number): CheckpointBody {
    const found = this.#trust.checkpoints.at(ms);
    if (found === null) throw notFound("no_checkpoint", "no checkpoint is that old");
    return checkpointBody(found, this.#trust.anchors);
  }

  /** A file of a checkpoint, by the name that exports give it. @throws ApiError 404. */
  checkpointFile(name: string): Uint8Array {
    const { checkpoints, anchors } = this.#trust;
    const anchorFiles: CheckpointFilesDeps["anchorFiles"] = (n) => anchors.files(n);
    const bytes = findCheckpointFile({ checkpoints, anchorFiles }, name);
    if (bytes === null) {
      throw notFound("no_checkpoint_file", `no checkpoint has a file ${name}, or not yet`);
    }
    return bytes;
  }

  /** What the public page shows: the newest checkpoint, if any, and the names of its files. */
  checkpointFacts(): { readonly latest: CheckpointBody; readonly files: string[] } | null {
    const { checkpoints, anchors } = this.#trust;
    const latest = checkpoints.latest();
    if (latest === null) return null;
    const name = String(latest.n).padStart(8, "0");
    const proofs = [...anchors.files(latest.n).keys()].map((extension) => `json.${extension}`);
    const files = ["json", "note", ...proofs].map((extension) => `${name}.${extension}`);
    return { latest: checkpointBody(latest, anchors), files };
  }

  /**
   * Checks the chain of checkpoints: all of it, unless full checks would then take more than a
   * hundredth of the time. Between two of them, what was added since.
   */
  verifyCheckpoints(): CheckpointChainStatus {
    const { endedMs, tookMs } = this.#fullCheck;
    const startedMs = this.#nowMs();
    const isFull = startedMs - endedMs >= 100 * tookMs;
    const status = this.#trust.checkpointChecker.check(isFull);
    if (isFull) {
      const nowMs = this.#nowMs();
      this.#fullCheck = { endedMs: nowMs, tookMs: nowMs - startedMs };
    }
    return status;
  }

  /**
   * Everything of a tenant that the offline verifier needs: a tar archive in pieces, the same bytes
   * each time it is gone through.
   */
  exportOf(tenantId: string): AsyncIterable<Uint8Array> {
    const archive = this.#trust.exportOf(tenantId);
    return { [Symbol.asyncIterator]: () => givingWay(archive) };
  }
}

/** Others are served between two pieces of a long archive. */
async function* givingWay(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of archive) {
    yield piece;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function checkpointBody(
  checkpoint: Checkpoint,
  anchors: Pick<AnchorQueue, "statesOf">,
): CheckpointBody {
  const { n, captureTs, treeSize, record, recordHash, note } = checkpoint;
  const partitions = parseMembers(record)?.["partitions"];
  return {
    n,
    capture_ts: captureTs,
    captured_at: new Date(captureTs).toISOString(),
    global_head: toHex(recordHash),
    partitions: typeof partitions === "number" ? partitions : 0,
    tree_size: treeSize,
    record: utf8Decode(record) ?? "",
    note,
    anchors: anchors.statesOf(n),
  };
}

function notFound(code: string, message: string): ApiError {
  return new ApiError(message, { status: 404, type: "invalid_request_error", code, param: null });
}
