/** The keys that sign an app's requests, as the app itself manages them. */
import { fromBase64 } from "../bytes/base64.ts";
import type { SignerRegistry } from "../tenant/signer-registry.ts";
import { TenantError } from "../tenant/tenant-error.ts";
import type { Identity, KeyFacts, Tenants } from "../tenant/tenants.ts";
import { badRequest } from "./api-error.ts";

export interface SigningKeysDeps {
  readonly tenants: Tenants;
  readonly registry: SignerRegistry;
}

/** Keys of one app that sign at the same time. */
const ACTIVE_KEYS_MAX = 100;

export class SigningKeys {
  readonly #deps: SigningKeysDeps;

  constructor(deps: SigningKeysDeps) {
    this.#deps = deps;
  }

  challenge({ tenantId }: Identity): { readonly challenge: string; readonly expiresMs: number } {
    return this.#deps.registry.challenge(tenantId);
  }

  /**
   * @param given.publicKey the raw 32 bytes, base64.
   * @param given.signature by that key over `registrationText`, base64.
   * @throws ApiError, TenantError `invalid_public_key`, `too_many_keys`.
   */
  register(
    { appId, tenantId }: Identity,
    given: { readonly publicKey: string; readonly challenge: string; readonly signature: string },
  ): KeyFacts {
    const active = this.ofApp({ appId, tenantId }).filter(({ revokedTs }) => revokedTs === null);
    if (active.length >= ACTIVE_KEYS_MAX) {
      const message = `this app has ${ACTIVE_KEYS_MAX} signing keys: revoke one first`;
      throw new TenantError("too_many_keys", message);
    }
    const { challenge } = given;
    const publicKey = bytesOf("public_key", given.publicKey, 32);
    const signature = bytesOf("signature", given.signature, 64);
    const made = { tenantId, appId, publicKey, challenge, signature };
    return this.#find({ appId, tenantId }, this.#deps.registry.register(made));
  }

  /** Of the caller's app, the oldest first, revoked ones included. */
  ofApp({ appId, tenantId }: Pick<Identity, "appId" | "tenantId">): KeyFacts[] {
    return this.#deps.tenants
      .listKeys()
      .filter((key) => key.tenantId === tenantId && key.appId === appId && key.publicKey !== null);
  }

  /** @throws TenantError `unknown_key`, also for keys of others. */
  revoke(identity: Identity, keyId: string): void {
    this.#deps.tenants.revokeKey(this.#find(identity, keyId).keyId);
  }

  #find(app: Pick<Identity, "appId" | "tenantId">, keyId: string): KeyFacts {
    const found = this.ofApp(app).find((key) => key.keyId === keyId);
    if (found !== undefined) return found;
    throw new TenantError("unknown_key", `this app has no signing key ${keyId}`);
  }
}

function bytesOf(param: string, text: string, length: number): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes?.byteLength === length) return bytes;
  throw badRequest("invalid_value", param, `${param} must be ${length} bytes as padded base64`);
}
