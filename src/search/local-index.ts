/** Search over documents of one's own, for hosts without a network: passages, ranked by BM25. */
import type { Database } from "bun:sqlite";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { sha256Hex } from "../crypto/hash.ts";
import type { SearchProvider } from "./provider.ts";
import { DOCUMENT_EXTENSIONS, type Document, readDocument } from "./read-document.ts";
import { searchResult } from "./result.ts";

/** Larger files are archives, not documents. */
const FILE_BYTES_MAX = 67_108_864;

/** Characters of a passage: what a snippet can show, and a prompt can take ten of. */
const PASSAGE_LENGTH = 1000;

export interface IndexReport {
  readonly added: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Files that could not be read, with the reason. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Brings a collection in step with a directory: new and changed files are read, files that are
 * gone are forgotten. One transaction per file, so that readers are never in the way.
 */
export async function indexDirectory(
  db: Database,
  collection: string,
  directory: string,
): Promise<IndexReport> {
  const known = new Map(
    db
      .query<{ path: string; content_hash: string }, [string]>(
        "SELECT path, content_hash FROM document WHERE collection = ?",
      )
      .all(collection)
      .map(({ path, content_hash: hash }) => [path, hash]),
  );
  const report = { added: 0, unchanged: 0, removed: 0 };
  const failed: { path: string; reason: string }[] = [];
  for (const file of await filesBelow(directory)) {
    const path = relative(directory, file).split(sep).join("/");
    const before = known.get(path);
    known.delete(path);
    try {
      const bytes = await readFile(file);
      const hash = sha256Hex(bytes);
      if (hash === before) {
        report.unchanged += 1;
        continue;
      }
      const document = await readDocument(path, bytes);
      if (!document) continue;
      replaceDocument(db, { collection, path, hash }, document);
      report.added += 1;
    } catch (error) {
      failed.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  for (const path of known.keys()) {
    removeDocument(db, collection, path);
    report.removed += 1;
  }
  return { ...report, failed };
}

/** In code-unit order; links are not followed. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const isKnown = DOCUMENT_EXTENSIONS.some((end) => entry.name.toLowerCase().endsWith(end));
    if (entry.isFile() && isKnown && (await stat(path)).size <= FILE_BYTES_MAX) files.push(path);
  }
  return files.sort();
}

function replaceDocument(
  db: Database,
  { collection, path, hash }: { collection: string; path: string; hash: string },
  { title, text }: Document,
): void {
  db.transaction(() => {
    removeDocument(db, collection, path);
    const row = db
      .query<{ n: number }, [string, string, string, string]>(
        `INSERT INTO document (collection, path, title, content_hash) VALUES (?, ?, ?, ?)
         RETURNING n`,
      )
      .get(collection, path, title, hash);
    const insert = db.query(
      "INSERT INTO passage (title, body, document, position) VALUES (?, ?, ?, ?)",
    );
    for (const [position, body] of passagesOf(text).entries())
      insert.run(title, body, row?.n ?? 0, position);
  }).immediate();
}

function removeDocument(db: Database, collection: string, path: string): void {
  const row = db
    .query<{ n: number }, [string, string]>(
      "SELECT n FROM document WHERE collection = ? AND path = ?",
    )
    .get(collection, path);
  if (!row) return;
  db.query("DELETE FROM passage WHERE document = ?").run(row.n);
  db.query("DELETE FROM document WHERE n = ?").run(row.n);
}

/** Whole paragraphs as far as they fit; longer ones are cut after a sentence or a word. */
function passagesOf(text: string): string[] {
  const passages: string[] = [];
  let passage = "";
  const push = (): void => {
    if (passage.trim() !== "") passages.push(passage.trim());
    passage = "";
  };
  for (const paragraph of text.split(/\n{2,}/)) {
    if (passage.length + paragraph.length > PASSAGE_LENGTH) push();
    let rest = paragraph;
    while (rest.length > PASSAGE_LENGTH) {
      const cut = cutAt(rest);
      passages.push(rest.slice(0, cut).trim());
      rest = rest.slice(cut).trimStart();
    }
    passage += passage === "" ? rest : `\n\n${rest}`;
  }
  push();
  return passages;
}

function cutAt(text: string): number {
  const head = text.slice(0, PASSAGE_LENGTH);
  const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf(".\n"));
  if (sentence > PASSAGE_LENGTH / 2) return sentence + 1;
  const word = head.lastIndexOf(" ");
  if (word > PASSAGE_LENGTH / 2) return word;
  // Never between the halves of a surrogate pair.
  return /[\ud800-\udbff]$/.test(head) ? PASSAGE_LENGTH - 1 : PASSAGE_LENGTH;
}

interface Hit {
  readonly collection: string;
  readonly path: string;
  readonly title: string;
  readonly body: string;
  readonly position: number;
}

/** @param db opened for reading. */
export function localProvider(db: Database): SearchProvider {
  return {
    name: "local@1.0.0",
    search: (query, maxResults) => {
      const match = matchOf(query);
      if (match === null) return Promise.resolve([]);
      const hits = db
        .query<Hit, [string, number]>(
          `SELECT collection, path, document.title AS title, body, position
           FROM passage JOIN document ON document.n = passage.document
           WHERE passage MATCH ?
           ORDER BY bm25(passage, 3.0, 1.0), collection, path, position LIMIT ?`,
        )
        .all(match, maxResults);
      return Promise.resolve(
        hits.flatMap(({ collection, path, title, body, position }) => {
          const address = `local://${encodeURIComponent(collection)}/${encodeURI(path)}`;
          return searchResult(title, `${address}#${position + 1}`, body) ?? [];
        }),
      );
    },
  };
}

/** Words that every document has. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an and are as at be by did do does for from had has have how i in is it its me of on or " +
    "that the their this to was we were what when where which who why will with you your"
  ).split(" "),
);

const QUERY_WORDS_MAX = 32;

/** Any of the words; BM25 puts what has the rare ones first. */
function matchOf(query: string): string | null {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const chosen = (telling.length > 0 ? telling : words).slice(0, QUERY_WORDS_MAX);
  return chosen.length === 0 ? null : chosen.map((word) => `"${word}"`).join(" OR ");
}
