/**
 * Brings a database to this program's schema, forward only, and refuses one whose schema is not
 * exactly that. DROP TRIGGER cannot be forbidden inside SQLite, so it is noticed here instead.
 */
import { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "drizzle-orm/bun-sqlite/migrator";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { StoreError } from "./store-error.ts";

const FOLDER = { migrationsFolder: new URL("migrations", import.meta.url).pathname };

/** @throws StoreError `schema_mismatch` for a newer, an altered or a damaged schema. */
export function migrateToLatest(db: Database): void {
  const known = readMigrationFiles(FOLDER).map((migration) => migration.hash);
  const applied = appliedMigrations(db);
  for (const [index, hash] of applied.entries()) {
    if (known[index] === hash) continue;
    const message =
      `migration ${index} of the database is not one of this version's; ` +
      "was it opened by a newer one?";
    throw new StoreError("schema_mismatch", message);
  }
  migrate(drizzle(db), FOLDER);
  assertSchema(db);
}

function appliedMigrations(db: Database): string[] {
  const table = db.query("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get();
  if (table === null) return [];
  return db
    .query<{ hash: string }, []>("SELECT hash FROM __drizzle_migrations ORDER BY created_at")
    .all()
    .map((row) => row.hash);
}

/** Compares every object of the schema with what the migrations make of an empty database. */
function assertSchema(db: Database): void {
  const fresh = new Database(":memory:");
  try {
    migrate(drizzle(fresh), FOLDER);
    const expected = schemaOf(fresh);
    const found = schemaOf(db);
    for (const name of new Set([...expected.keys(), ...found.keys()])) {
      if (expected.get(name) === found.get(name)) continue;
      const what = !found.has(name) ? "is missing" : expected.has(name) ? "differs" : "is not ours";
      throw new StoreError("schema_mismatch", `the database's ${name} ${what}`);
    }
  } finally {
    fresh.close();
  }
}

function schemaOf(db: Database): Map<string, string | null> {
  const objects = db
    .query<{ type: string; name: string; sql: string | null }, []>(
      // sqlite_stat and sqlite_sequence tables come and go with ANALYZE and AUTOINCREMENT.
      `SELECT type, name, sql FROM sqlite_schema
       WHERE name NOT LIKE 'sqlite_stat%' AND name <> 'sqlite_sequence'`,
    )
    .all();
  return new Map(objects.map((object) => [`${object.type} ${object.name}`, object.sql]));
}
