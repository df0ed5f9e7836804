/** Keys as JSON, the same over the API and on the command line. */
import type { CreatedKey, KeyFacts } from "./tenants.ts";

export function keyBody(key: KeyFacts) {
  return {
    key_id: key.keyId,
    tenant_id: key.tenantId,
    tenant: key.tenantName,
    app_id: key.appId,
    scheme: key.publicKey === null ? "bearer" : "ed25519",
    public_key: key.publicKey,
    created_ts: key.createdTs,
    revoked_ts: key.revokedTs,
    active: key.revokedTs === null,
  };
}

/** With the key and the secret: shown once. */
export function createdKeyBody(key: CreatedKey) {
  return {
    api_key: key.apiKey,
    hmac_secret: key.hmacSecret,
    tenant_id: key.tenantId,
    app_id: key.appId,
    key_id: key.keyId,
  };
}
