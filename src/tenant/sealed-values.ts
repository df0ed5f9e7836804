/** Named values sealed under the master key: e-mail addresses, keys that wait for their buyer. */
import { eq } from "drizzle-orm";
import type { MasterKey, RandomBytes } from "../crypto/secret-box.ts";
import type { Store } from "../store/store.ts";
import { sealedPurpose } from "./master-key.ts";
import { sealedTable } from "./tables.ts";

export interface SealedValuesDeps {
  readonly store: Store;
  readonly randomBytes: RandomBytes;
  /** The key in use; it changes when it is rotated. */
  readonly masterKey: () => MasterKey;
}

export class SealedValues {
  readonly #deps: SealedValuesDeps;

  constructor(deps: SealedValuesDeps) {
    this.#deps = deps;
  }

  /** Call it inside a transaction; a value of this name is replaced. */
  put(name: string, value: Uint8Array): void {
    const sealed = this.sealBytes(value, sealedPurpose(name));
    this.#deps.store.db
      .insert(sealedTable)
      .values({ name, sealed })
      .onConflictDoUpdate({ target: sealedTable.name, set: { sealed } })
      .run();
  }

  /** @returns null when there is none. @throws SecretBoxError when it was put there by others. */
  get(name: string): Uint8Array | null {
    const { db } = this.#deps.store;
    const row = db.select().from(sealedTable).where(eq(sealedTable.name, name)).get();
    return row === undefined ? null : this.openBytes(row.sealed, sealedPurpose(name));
  }

  /** For tables of their own: what `resealAll` of master-key.ts does not reach opens no more. */
  sealBytes(value: Uint8Array, purpose: string): Buffer {
    const { masterKey, randomBytes } = this.#deps;
    return Buffer.from(masterKey().seal(value, purpose, randomBytes));
  }

  /** @throws SecretBoxError. */
  openBytes(sealed: Uint8Array, purpose: string): Uint8Array {
    return this.#deps.masterKey().open(sealed, purpose);
  }

  /** Call it inside a transaction. */
  remove(name: string): void {
    this.#deps.store.db.delete(sealedTable).where(eq(sealedTable.name, name)).run();
  }
}
