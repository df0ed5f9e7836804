/**
 * The offline verifier: takes an export, derives everything in it again, and names the first thing
 * that is wrong. It shares no code with the service, needs no network and no database, and runs in
 * a browser. What it checks is specified in `ledger/FORMAT.md` and `receipt/FORMAT.md`.
 */
import { type AnchorReport, readAnchor } from "./anchors.ts";
import { CheckpointChain } from "./checkpoints.ts";
import { textOf } from "./encoding.ts";
import { APP_ID, HASH } from "./fields.ts";
import { check, type Finding, VerifyError } from "./finding.ts";
import { type ChainClaim, verifyHeadFile } from "./heads.ts";
import { Input } from "./input.ts";
import { type KeyChain, verifyKeys } from "./keys.ts";
import { readManifest, verifyFiles, verifyManifestNote } from "./manifest.ts";
import { type Hashing, macKey, NOBLE } from "./primitives.ts";
import {
  type SavedResponse,
  type SealedResponse,
  verifyHeadOf,
  verifyRowOf,
  verifySeal,
} from "./responses.ts";
import { type CheckedRows, checkRowFile, type RowFile, type RowFileContext } from "./row-file.ts";
import type { RowText } from "./row-pattern.ts";
import { Chain, RowsVerifier } from "./rows.ts";
import { type ArchiveFile, readTar } from "./tar.ts";

export interface VerifyOptions {
  /** Native hashing, where there is one; by default @noble's. */
  readonly hashing?: Hashing;
  /** The root key to insist on: its public half, 64 hex digits. */
  readonly rootKey?: string;
  /** The tenant's HMAC secrets as they were shown, the oldest first: then MACs are checked too. */
  readonly hmacSecrets?: readonly string[];
  /** Heads that the caller saw earlier: each must be the row at its height. */
  readonly heldHeads?: readonly HeldHead[];
  /** Checkpoints that the caller saw earlier, by number: SHA-256 of the record, hex. */
  readonly heldCheckpoints?: ReadonlyMap<number, string>;
  readonly responses?: readonly SavedResponse[];
  /** Merkle roots of Bitcoin blocks by height, as block explorers print them. */
  readonly blockRoots?: ReadonlyMap<number, string>;
  /** Checks files of rows on other threads, where there are some; by default on this one. */
  readonly rowCheckers?: RowCheckers;
}

export interface RowCheckers {
  /** How many files may be with them at a time. */
  readonly filesMax: number;
  check(context: RowFileContext, file: RowFile): Promise<CheckedRows>;
}

const THIS_THREAD: RowCheckers = {
  filesMax: 0,
  check: async (context, file) => checkRowFile(context, file),
};

export interface HeldHead {
  readonly appId: string;
  readonly height: number;
  /** Hex. */
  readonly headHash: string;
}

export interface Report {
  readonly ok: boolean;
  /** The first check that failed. */
  readonly finding: Finding | null;
  /** After a failure: files whose bytes are not those that the manifest names. */
  readonly damagedFiles: readonly string[];
  readonly summary: Summary;
  /** What was not checked, and why. */
  readonly notes: readonly string[];
}

/** What was verified: after a failure, what came before it. */
export interface Summary {
  readonly tenantId: string | null;
  readonly asOf: string | null;
  readonly rootKid: string | null;
  readonly keys: number;
  readonly checkpoints: number;
  readonly globalHead: string | null;
  readonly rows: number;
  readonly chains: readonly HeldHead[];
  readonly anchors: readonly AnchorReport[];
  readonly responses: number;
}

/**
 * Verifies an export's archive, from whatever it comes in pieces: `file.stream()` of a file that
 * the user picked, or a response's body. Works in a browser.
 */
export function verifyArchive(
  chunks: AsyncIterable<Uint8Array>,
  options: VerifyOptions = {},
): Promise<Report> {
  return verifyExport(readTar(chunks), options);
}

/**
 * Verifies an export, given as its files in order (`readTar` makes them from an archive).
 * @returns a report; whatever the files hold, it does not throw.
 */
export async function verifyExport(
  files: AsyncIterable<ArchiveFile>,
  options: VerifyOptions = {},
): Promise<Report> {
  const input = new Input(files, options.hashing ?? NOBLE);
  const run = new Run(input, options);
  try {
    await run.verify();
    return run.report(null, []);
  } catch (error) {
    if (!(error instanceof VerifyError)) throw error;
    return run.report(error.finding, await input.locateDamage());
  }
}

/** One verification: the export from its first file to its last. */
class Run {
  readonly #input: Input;
  readonly #options: VerifyOptions;
  readonly #hashing: Hashing;
  readonly #anchors: AnchorReport[] = [];
  readonly #chains: HeldHead[] = [];
  readonly #notes: string[] = [];
  readonly #wantedRows = new Map<string, RowText>();
  #keys: KeyChain | null = null;
  #checkpoints: CheckpointChain | null = null;
  #rows: RowsVerifier | null = null;
  #sealed: readonly SealedResponse[] = [];
  #facts: { readonly asOf: string; readonly tenantId: string } | null = null;

  constructor(input: Input, options: VerifyOptions) {
    this.#input = input;
    this.#options = options;
    this.#hashing = options.hashing ?? NOBLE;
  }

  /** @throws VerifyError at the first thing that is wrong. */
  async verify(): Promise<void> {
    const keys = await this.#verifyKeys();
    this.#keys = keys;
    const { checkpoints } = await this.#verifyCheckpoints(keys);
    const context = { hashing: this.#hashing, keys, checkpoints };
    const claims: ChainClaim[] = [];
    for (;;) {
      const file = await this.#input.takeFrom("heads");
      if (file === null) break;
      const appId = appIdOf(file.name, /^heads\/(.*)\.jsonl$/);
      checkOrder(file.name, claims.at(-1)?.appId, appId);
      claims.push(await verifyHeadFile(context, file.name, appId, file.bytes));
    }
    this.#sealed = await this.#verifySeals(keys);
    await this.#verifyRows(claims, checkpoints);
    await this.#verifyManifest(keys, claims);
    this.#matchResponses(checkpoints);
    this.#noteWhatIsLeft(claims);
  }

  report(finding: Finding | null, damagedFiles: readonly string[]): Report {
    const summary = {
      tenantId: this.#facts?.tenantId ?? null,
      asOf: this.#facts?.asOf ?? null,
      rootKid: this.#keys?.rootKid ?? null,
      keys: this.#keys?.keys.length ?? 0,
      checkpoints: this.#checkpoints?.checkpoints.length ?? 0,
      globalHead: this.#checkpoints?.latest?.recordHash ?? null,
      rows: this.#rows?.count ?? 0,
      chains: this.#chains,
      anchors: this.#anchors,
      responses: finding === null ? this.#sealed.length : 0,
    };
    return { ok: finding === null, finding, damagedFiles, summary, notes: this.#notes };
  }

  async #verifyKeys(): Promise<KeyChain> {
    const root = textOf((await this.#input.take("root.pub")).bytes) ?? "";
    const { rootKey } = this.#options;
    const message = "is not the root key that was asked for";
    const isPinned = rootKey === undefined || root === `${rootKey}\n`;
    check(isPinned, {
      file: "root.pub",
      field: "root key",
      message,
      ...pair(rootKey, root.trim()),
    });
    const keys = textOf((await this.#input.take("keys.txt")).bytes) ?? "";
    return await verifyKeys(this.#hashing, root, keys);
  }

  async #verifyCheckpoints(keys: KeyChain): Promise<CheckpointChain> {
    const chain = new CheckpointChain(this.#hashing, keys);
    this.#checkpoints = chain;
    for (;;) {
      const file = await this.#input.takeFrom("checkpoints");
      if (file === null) break;
      await this.#checkpointFile(chain, file);
    }
    chain.assertComplete("checkpoints");
    for (const [n, hash] of this.#options.heldCheckpoints ?? []) {
      const found = chain.checkpoints[n - 1]?.recordHash;
      const message = "is not the checkpoint that was seen with this number";
      const where = { file: "checkpoints", n, field: "held checkpoint", message };
      check(found === hash, { ...where, ...pair(hash, found) });
    }
    return chain;
  }

  async #checkpointFile(chain: CheckpointChain, { name, bytes }: ArchiveFile): Promise<void> {
    const parsed = CheckpointChain.parseName(name);
    const message = "is not the name of a checkpoint's file";
    check(parsed !== null, { file: name, field: "name", message });
    const { n, kind } = parsed;
    if (kind === "json") {
      chain.record(name, n, bytes);
    } else if (kind === "note") {
      await chain.note(name, n, bytes);
    } else if (kind === "consistency") {
      chain.consistency(name, n, bytes);
    } else {
      chain.assertComplete(name);
      const { latest } = chain;
      const isOurs = latest !== null && latest.n === n;
      check(isOurs, { file: name, n, field: "name", message: "is out of place" });
      const roots = this.#options.blockRoots ?? new Map();
      this.#anchors.push(...readAnchor(this.#hashing, latest, name, bytes, roots));
    }
  }

  async #verifySeals(keys: KeyChain): Promise<SealedResponse[]> {
    const hmacSecrets = this.#options.hmacSecrets ?? [];
    const context = { hashing: this.#hashing, keys, hmacSecrets };
    const sealed: SealedResponse[] = [];
    for (const [index, response] of (this.#options.responses ?? []).entries()) {
      sealed.push(await verifySeal(context, response, index + 1));
    }
    return sealed;
  }

  async #verifyRows(
    claims: readonly ChainClaim[],
    checkpoints: CheckpointChain["checkpoints"],
  ): Promise<void> {
    const rows = new RowsVerifier({
      heldHeads: heldByApp(this.#options.heldHeads ?? []),
      onWanted: (row) => this.#wantedRows.set(row.hash, row),
      newestCaptureTs: checkpoints.at(-1)?.captureTs ?? 0,
      captureTsBefore: (n) => checkpoints[n - 2]?.captureTs ?? 0,
    });
    this.#rows = rows;
    const context = {
      hashing: this.#hashing,
      macKeys: (this.#options.hmacSecrets ?? []).map(macKey),
      wantedHashes: new Set(this.#sealed.map((response) => response.chainHead)),
    };
    for (const claim of claims) {
      const chain = new Chain(claim);
      await this.#verifyChain(rows, chain, context);
      rows.endChain(chain);
      const { appId, height, headHash } = claim;
      this.#chains.push({ appId, height, headHash });
    }
  }

  /** Some files are ahead, with the checkers; what is found is still the first thing wrong. */
  async #verifyChain(rows: RowsVerifier, chain: Chain, context: RowFileContext): Promise<void> {
    const checkers = this.#options.rowCheckers ?? THIS_THREAD;
    const ahead: { readonly file: RowFile; readonly checked: Promise<CheckedRows> }[] = [];
    const takeAllBut = async (count: number): Promise<void> => {
      for (let next = ahead[0]; next !== undefined && ahead.length > count; next = ahead[0]) {
        this.#input.remember(rows.take(chain, next.file, await next.checked));
        ahead.shift();
      }
    };
    for (;;) {
      let file: RowFile | null;
      try {
        file = await this.#nextOf(chain);
      } catch (error) {
        // What is wrong with the files before it comes first.
        await takeAllBut(0);
        throw error;
      }
      if (file === null) break;
      ahead.push({ file, checked: checkers.check(context, file) });
      await takeAllBut(checkers.filesMax);
    }
    await takeAllBut(0);
  }

  async #nextOf(chain: Chain): Promise<RowFile | null> {
    const file = await this.#input.takeRowsFrom(`rows/${chain.claim.appId}`);
    if (file === null) return null;
    const { nextName } = chain;
    const isNext = file.name === nextName;
    const where = { file: file.name, field: "name", message: "is out of place" };
    check(isNext, { ...where, ...pair(nextName, file.name) });
    return chain.next(file);
  }

  async #verifyManifest(keys: KeyChain, claims: readonly ChainClaim[]): Promise<void> {
    const { entries } = this.#input;
    const { bytes } = await this.#input.take("manifest.json");
    const facts = readManifest(keys, bytes);
    const note = await this.#input.take("manifest.note");
    // The signature first: a damaged manifest must not put the blame on the files it names.
    await verifyManifestNote(this.#hashing, keys, { bytes, kid: facts.kid }, note.bytes);
    verifyFiles(entries, facts);
    await this.#input.assertEnd();
    for (const { appId, tenantId, asOf } of claims) {
      const where = { file: `heads/${appId}.jsonl`, chain: appId };
      const message = "differs from the manifest's";
      const isTenant = tenantId === facts.tenantId;
      check(isTenant, { ...where, field: "tenant_id", message, ...pair(facts.tenantId, tenantId) });
      check(asOf === facts.asOf, { ...where, field: "as_of", message, ...pair(facts.asOf, asOf) });
    }
    this.#facts = facts;
  }

  #matchResponses(checkpoints: CheckpointChain["checkpoints"]): void {
    const hashes = new Set(checkpoints.map((checkpoint) => checkpoint.recordHash));
    const asOfMs = Date.parse(this.#facts?.asOf ?? "");
    for (const response of this.#sealed) {
      if (response.ts > asOfMs) {
        this.#notes.push(
          `response ${response.n} is newer than the export: its row was not looked for`,
        );
        continue;
      }
      verifyRowOf(response, this.#wantedRows.get(response.chainHead));
      verifyHeadOf(response, (hash) => this.#wantedRows.has(hash) || hashes.has(hash));
    }
  }

  #noteWhatIsLeft(claims: readonly ChainClaim[]): void {
    const options = this.#options;
    const note = (isLeft: boolean, text: string): void => void (isLeft && this.#notes.push(text));
    note(options.rootKey === undefined, "the root key was taken from the export itself");
    note(!options.hmacSecrets?.length, "row MACs were not checked: no HMAC secret was given");
    note(!options.heldHeads?.length, "no earlier head was given: a cut-off end would not show");
    note(
      claims.some((claim) => (claim.leaves.at(-1)?.height ?? 0) < claim.height),
      "some rows are newer than the newest checkpoint",
    );
    note(
      this.#rows?.comparedAll === false,
      "doubled request ids and unequal outputs were looked for among the first rows only",
    );
  }
}

function appIdOf(name: string, pattern: RegExp): string {
  const appId = pattern.exec(name)?.[1] ?? "";
  check(APP_ID.test(appId), { file: name, field: "name", message: "is not the name of a chain" });
  return appId;
}

function checkOrder(file: string, before: string | undefined, appId: string): void {
  const isNext = before === undefined || before < appId;
  check(isNext, { file, field: "name", message: "is out of place", chain: appId });
}

function heldByApp(heads: readonly HeldHead[]): ReadonlyMap<string, ReadonlyMap<number, string>> {
  const byApp = new Map<string, Map<number, string>>();
  for (const { appId, height, headHash } of heads) {
    const message = "a held head is not 64 hexadecimal digits";
    check(HASH.test(headHash), { file: "held heads", chain: appId, field: "hash", message });
    const heights = byApp.get(appId) ?? new Map<number, string>();
    byApp.set(appId, heights.set(height, headHash));
  }
  return byApp;
}

function pair(expected: string | undefined, found: string | undefined) {
  return { expected: expected ?? "nothing", found: found ?? "nothing" };
}
