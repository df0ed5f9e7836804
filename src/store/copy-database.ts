/** Copies the database of a data directory as of one moment, also while another process writes. */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { storeErrorFrom } from "./store-error.ts";

const NAME = "svc.sqlite";

export function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, NAME));
}

/** @param folder where the copy goes, under the same name. @throws StoreError. */
export function copyDatabase(dataDir: string, folder: string): void {
  const database = new Database(join(dataDir, NAME), { readonly: true });
  try {
    database.query("VACUUM INTO ?").run(join(folder, NAME));
  } catch (error) {
    throw storeErrorFrom(error);
  } finally {
    database.close();
  }
}
