/**
 * Free keys. One for each e-mail address, whoever asks how often; without an address, one for each
 * request. How long an answer takes does not say which it is: both cost one transaction.
 */
import { eq } from "drizzle-orm";
import { utf8Encode } from "../bytes/utf8.ts";
import { hmacSha256 } from "../crypto/hash.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";
import type { Store } from "../store/store.ts";
import { signupTable } from "./tables.ts";
import type { CreatedKey } from "./tenant-changes.ts";
import { TenantError } from "./tenant-error.ts";
import type { Tenants } from "./tenants.ts";

export interface SignUpsDeps {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly randomBytes: RandomBytes;
  readonly nowMs: () => number;
}

/** `exists`: the address has a key, which is not shown again. */
export type SignUp =
  | { readonly kind: "issued"; readonly key: CreatedKey }
  | { readonly kind: "exists" };

const PACKAGE = "free";
/** Keys the hashes of addresses: without it, they could be guessed from the database file. */
const PEPPER = "signup-pepper";
const EMAIL_CHARACTERS_MAX = 254;

export class SignUps {
  readonly #deps: SignUpsDeps;
  readonly #pepper: Uint8Array;

  constructor(deps: SignUpsDeps) {
    this.#deps = deps;
    this.#pepper = openPepper(deps);
  }

  /**
   * Issues a key under the free package.
   * @param email as the form had it; empty: none.
   * @throws TenantError `invalid_email`; StoreError: then no key was made.
   */
  issue(email: string): SignUp {
    const address = email.trim() === "" ? null : normalizeEmail(email);
    const { nowMs, store, tenants } = this.#deps;
    const seenTs = nowMs();
    const emailMac =
      address === null ? null : Buffer.from(hmacSha256(this.#pepper, utf8Encode(address)));
    return tenants.change((changes) => {
      const known = emailMac !== null && this.#markSeen(emailMac, seenTs);
      if (known) return { kind: "exists" };
      const tenantName = `free ${Buffer.from(this.#deps.randomBytes(10)).toString("hex")}`;
      const key = changes.createKey({ tenantName });
      const { tenantId } = key;
      changes.setPackage(tenantId, PACKAGE);
      if (emailMac !== null && address !== null) {
        const row = { emailMac, tenantId, createdTs: seenTs, seenTs };
        store.db.insert(signupTable).values(row).run();
        tenants.sealed.put(`email/${tenantId}`, utf8Encode(address));
      }
      return { kind: "issued", key };
    });
  }

  /** A tenant's address, for support; null when it gave none. */
  emailOf(tenantId: string): string | null {
    const sealed = this.#deps.tenants.sealed.get(`email/${tenantId}`);
    return sealed === null ? null : Buffer.from(sealed).toString();
  }

  /** @returns whether the address is known. */
  #markSeen(emailMac: Buffer, seenTs: number): boolean {
    const { db } = this.#deps.store;
    const updated = db
      .update(signupTable)
      .set({ seenTs })
      .where(eq(signupTable.emailMac, emailMac))
      .returning({ tenantId: signupTable.tenantId })
      .all();
    return updated.length > 0;
  }
}

/**
 * One spelling for each address: trimmed, in lower case, in Unicode's compatibility form.
 * @throws TenantError `invalid_email`.
 */
export function normalizeEmail(text: string): string {
  const address = text.trim().normalize("NFKC").toLowerCase();
  const [name, domain, ...rest] = address.split("@");
  const isForm =
    rest.length === 0 &&
    name !== "" &&
    /^[^\s.]+(\.[^\s.]+)*$/u.test(domain ?? "") &&
    address.length <= EMAIL_CHARACTERS_MAX &&
    !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s<>,;"()]/u.test(address);
  if (isForm) return address;
  throw new TenantError("invalid_email", "that is not an e-mail address");
}

/**
 * What a sign-up limit is counted by: an IPv4 address, or an IPv6 address's first 64 bits, which
 * one customer has to itself. @param address as the socket or a trusted proxy gives it.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill("0"), ...right];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

function openPepper({ randomBytes, store, tenants }: SignUpsDeps): Uint8Array {
  const known = tenants.sealed.get(PEPPER);
  if (known !== null) return known;
  const made = randomBytes(32);
  store.transact(() => tenants.sealed.put(PEPPER, made));
  return made;
}
