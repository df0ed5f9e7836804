/**
 * The local search index: a SQLite file of its own beside the database, that a command may fill
 * while the service reads it. It can be deleted and built again at any time.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

const TABLES = `
CREATE TABLE IF NOT EXISTS document (
  n INTEGER PRIMARY KEY,
  collection TEXT NOT NULL,
  path TEXT NOT NULL,
  title TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  UNIQUE (collection, path)
) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5 (
  title, body, document UNINDEXED, position UNINDEXED, tokenize = "unicode61"
);`;

/** Opens the index for writing, making it on first use. */
export function openIndexForWriting(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA busy_timeout = 5000");
  db.run(TABLES);
  return db;
}

/** @returns null where there is no index. */
export function openIndexForReading(path: string): Database | null {
  if (!existsSync(path)) return null;
  const db = new Database(path, { readonly: true, strict: true });
  db.run("PRAGMA query_only = ON");
  db.run("PRAGMA busy_timeout = 5000");
  return db;
}
