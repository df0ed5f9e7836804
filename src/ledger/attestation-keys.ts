/**
 * Attestation keys: a new one at each start, whose private half exists only in memory. A record of
 * it, certified by the long-lived root key, is durable before the key signs anything, and the
 * records form a chain whose head every checkpoint contains: no key can be slipped in later.
 *
 * The root key signs these records and nothing else, once per start; nothing keeps it in memory
 * afterwards. See FORMAT.md, "Attestation keys".
 */
import { join } from "node:path";
import { asc, desc } from "drizzle-orm";
import { toBase64Url } from "../bytes/base64url.ts";
import { canonicalJsonBytes } from "../bytes/canonical-json.ts";
import { toHex } from "../bytes/hex.ts";
import { utf8Decode } from "../bytes/utf8.ts";
import {
  generateSigningKey,
  keyIdOf,
  type SigningKey,
  signingKeyFromSeed,
} from "../crypto/ed25519.ts";
import { sha256 } from "../crypto/hash.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";
import { verifierKey } from "../crypto/signed-note.ts";
import { parseKey, readKeyFile, writeKeyFile } from "../store/key-file.ts";
import type { Store } from "../store/store.ts";
import { parseMembers } from "./chain-check.ts";
import type { LedgerClock } from "./clock.ts";
import { LedgerError } from "./ledger-error.ts";
import { ZERO_HASH } from "./row.ts";
import { attestationKeyTable } from "./tables.ts";

export interface AttestationKeysDeps {
  readonly store: Store;
  readonly clock: LedgerClock;
  readonly randomBytes: RandomBytes;
  /** The root key's seed, 64 lowercase hex digits; null: the file `root.key`, made at first. */
  readonly configuredRoot: string | null;
  /** The build that starts. */
  readonly rev: string;
}

/** A key record as `GET /attestation/keys` and exports give it. */
export interface KeyRecord {
  readonly kid: string;
  /** The certified bytes: canonical JSON, as text. */
  readonly record: string;
  /** base64url of the root key's signature over `record`. */
  readonly signature: string;
}

/** The response of `GET /attestation/keys`. */
export interface KeyHistory {
  readonly root: { readonly kid: string; readonly public_key: string };
  /** Oldest first. Each key is in use from its `not_before` until the next one's. */
  readonly keys: readonly (KeyRecord & {
    readonly public_key: string;
    readonly not_before: number;
    /** For stock verifiers of C2SP notes. */
    readonly verifier_key: string;
  })[];
}

export class AttestationKeys {
  /** Signs attestations, chain heads and checkpoints of this start. */
  readonly current: SigningKey;
  /** Unix milliseconds from which `current` is in use. */
  readonly notBeforeMs: number;
  /** 32 bytes. */
  readonly rootPublicKey: Uint8Array;
  /** The name under which this data directory's checkpoints are signed: `svc.local/<root kid>`. */
  readonly origin: string;
  readonly #store: Store;

  /**
   * Makes this start's key and records it durably.
   * @throws LedgerError `wrong_root_key`, `clock_behind`; KeyFileError; StoreError.
   */
  constructor(deps: AttestationKeysDeps) {
    const { store } = deps;
    const last = newestKey(store);
    const lastMembers = last === undefined ? null : keyMembers(last.record);
    const root = openRootKey(deps, lastMembers?.root_kid ?? null);
    if (lastMembers !== null) deps.clock.observe(lastMembers.not_before);
    const key = generateSigningKey();
    const notBefore = deps.clock.stamp();
    const n = (last?.n ?? 0) + 1;
    const record = canonicalJsonBytes({
      kid: key.kid,
      n,
      not_before: notBefore,
      prev: last === undefined ? ZERO_HASH : toHex(last.recordHash),
      public_key: toHex(key.publicKey),
      rev: deps.rev,
      root_kid: root.kid,
      t: "svc.key",
      v: 1,
    });
    const signature = Buffer.from(root.sign(record));
    const recordHash = Buffer.from(sha256(record));
    const row = { n, kid: key.kid, record: Buffer.from(record), recordHash, signature };
    store.transact(() => store.db.insert(attestationKeyTable).values(row).run());
    // A crash here: the record names a key that never signed anything. That is harmless.
    deps.clock.observe(notBefore);
    this.#store = store;
    this.current = key;
    this.notBeforeMs = notBefore;
    this.rootPublicKey = root.publicKey;
    this.origin = `svc.local/${root.kid}`;
  }

  /** How many keys there have been, and the hash of the newest one's record in hex. */
  chainHead(): { readonly count: number; readonly hash: string } {
    const last = newestKey(this.#store);
    return { count: last?.n ?? 0, hash: last === undefined ? ZERO_HASH : toHex(last.recordHash) };
  }

  /** All records, oldest first. */
  records(): KeyRecord[] {
    return this.#store.reads
      .select()
      .from(attestationKeyTable)
      .orderBy(asc(attestationKeyTable.n))
      .all()
      .map(({ kid, record, signature }) => ({
        kid,
        record: utf8Decode(record) ?? "",
        signature: toBase64Url(signature),
      }));
  }

  history(): KeyHistory {
    const root = { kid: keyIdOf(this.rootPublicKey), public_key: toHex(this.rootPublicKey) };
    const keys = this.records().map((entry) => {
      const { public_key, not_before } = keyMembers(Buffer.from(entry.record));
      const verifier_key = verifierKey(this.origin, Buffer.from(public_key, "hex"));
      return { ...entry, public_key, not_before, verifier_key };
    });
    return { root, keys };
  }
}

function newestKey(store: Store): typeof attestationKeyTable.$inferSelect | undefined {
  return store.reads.select().from(attestationKeyTable).orderBy(desc(attestationKeyTable.n)).get();
}

/** @param expectedKid the key that certified the history so far; null at the first start. */
function openRootKey(deps: AttestationKeysDeps, expectedKid: string | null): SigningKey {
  const path = join(deps.store.dataDir, "root.key");
  const seed =
    deps.configuredRoot === null
      ? readKeyFile(path)
      : parseKey(deps.configuredRoot, "the root key variable");
  if (seed !== null) {
    const root = signingKeyFromSeed(seed);
    if (expectedKid === null || root.kid === expectedKid) return root;
    const message = `the key history belongs to root key ${expectedKid}, not ${root.kid}`;
    throw new LedgerError("wrong_root_key", message);
  }
  if (expectedKid !== null) {
    throw new LedgerError("wrong_root_key", `${path} with root key ${expectedKid} is missing`);
  }
  const made = deps.randomBytes(32);
  writeKeyFile(path, made);
  return signingKeyFromSeed(made);
}

interface KeyMembers {
  readonly root_kid: string;
  readonly not_before: number;
  readonly public_key: string;
}

/** The members of a record that this program wrote. */
function keyMembers(record: Uint8Array): KeyMembers {
  const members = parseMembers(record) as Partial<KeyMembers> | null;
  const { root_kid, not_before, public_key } = members ?? {};
  if (root_kid === undefined || not_before === undefined || public_key === undefined) {
    throw new LedgerError("damaged", "a stored attestation key record is damaged");
  }
  return { root_kid, not_before, public_key };
}
