/** The files of an export as they come, each remembered as the manifest should name it. */
import { fromHex, latin1 } from "./encoding.ts";
import { check, VerifyError } from "./finding.ts";
import { damagedFiles, type FileEntry } from "./manifest.ts";
import type { Hashing } from "./primitives.ts";
import type { ArchiveFile } from "./tar.ts";

export class Input {
  /** Every file taken so far, the manifest's own excepted. */
  readonly entries: FileEntry[] = [];
  readonly #files: AsyncIterator<ArchiveFile>;
  readonly #hashing: Hashing;
  #next: ArchiveFile | null | undefined;
  readonly #unremembered: ArchiveFile[] = [];
  #manifest: Uint8Array | null = null;

  constructor(files: AsyncIterable<ArchiveFile>, hashing: Hashing) {
    this.#files = files[Symbol.asyncIterator]();
    this.#hashing = hashing;
  }

  /** The next file; null at the end. */
  async peek(): Promise<ArchiveFile | null> {
    if (this.#next !== undefined) return this.#next;
    const result = await this.#files.next();
    this.#next = result.done === true ? null : result.value;
    return this.#next;
  }

  /** Takes the next file if it is in this folder; null when the folder has no more. */
  async takeFrom(folder: string): Promise<ArchiveFile | null> {
    const file = await this.peek();
    return file?.name.startsWith(`${folder}/`) === true ? this.#take(file) : null;
  }

  /** The same for files of rows, whose checks make their entries: `remember` them in order. */
  async takeRowsFrom(folder: string): Promise<ArchiveFile | null> {
    const file = await this.peek();
    if (file?.name.startsWith(`${folder}/`) !== true) return null;
    this.#next = undefined;
    this.#unremembered.push(file);
    return file;
  }

  remember(entry: FileEntry): void {
    this.entries.push(entry);
    this.#unremembered.shift();
  }

  /** Takes the next file. @throws VerifyError when it is not this one. */
  async take(name: string): Promise<ArchiveFile> {
    const file = await this.peek();
    const found = file === null ? "the end" : file.name;
    const message = "is missing, or another file stands in its place";
    check(file?.name === name, { file: name, field: "name", message, expected: name, found });
    return this.#take(file);
  }

  /** @throws VerifyError when there is another file. */
  async assertEnd(): Promise<void> {
    const file = await this.peek();
    const message = "is not a file that an export has at this place";
    check(file === null, { file: file?.name ?? "", field: "name", message });
  }

  /**
   * Reads the rest without checking it, and compares every file with the manifest as it stands.
   * @returns the names of those that differ: where to look for damage.
   */
  async locateDamage(): Promise<readonly string[]> {
    for (const file of this.#unremembered) this.entries.push(this.#entryOf(file));
    try {
      for (let file = await this.peek(); file !== null; file = await this.peek()) this.#take(file);
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
    }
    return this.#manifest === null ? [] : damagedFiles(this.entries, this.#manifest);
  }

  #take(file: ArchiveFile): ArchiveFile {
    this.#next = undefined;
    if (file.name === "manifest.json") this.#manifest = file.bytes;
    else if (file.name !== "manifest.note") this.entries.push(this.#entryOf(file));
    return file;
  }

  #entryOf({ name, bytes }: ArchiveFile): FileEntry {
    const size = bytes.byteLength;
    const rows = name.startsWith("rows/") ? rowHashes(bytes) : null;
    if (rows === null) return { name, size, sha256: this.#hashing.sha256Hex(bytes) };
    return { name, size, rows: rows.byteLength / 64, digest: this.#hashing.sha256Hex(rows) };
  }
}

/**
 * Hash and MAC of every row, 32 raw bytes each: what the manifest's digest of rows is over. The
 * rows themselves are covered by their hashes.
 * @returns null when a line begins with anything else.
 */
function rowHashes(bytes: Uint8Array): Uint8Array | null {
  const text = latin1(bytes);
  const line = /([0-9a-f]{64}) ([0-9a-f]{64}) [^\n]*\n/y;
  let hexes = "";
  while (line.lastIndex < text.length) {
    const parts = line.exec(text);
    if (parts === null) return null;
    hexes += parts[1] ?? "";
    hexes += parts[2] ?? "";
  }
  return fromHex(hexes);
}
