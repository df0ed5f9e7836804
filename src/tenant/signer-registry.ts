/**
 * Registration of keys that sign requests. Whoever registers a public key proves to hold its
 * private half: it signs a challenge that was made for its tenant, good once and for five minutes.
 */
import { toBase64Url } from "../bytes/base64url.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { verifySignature } from "../crypto/ed25519.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";
import { isSafePublicKey } from "./signed-request.ts";
import { TenantError } from "./tenant-error.ts";
import type { Tenants } from "./tenants.ts";

export interface SignerRegistryDeps {
  readonly tenants: Tenants;
  readonly randomBytes: RandomBytes;
  readonly nowMs: () => number;
}

const CHALLENGE_MS = 300_000;
/** Challenges that wait at one time, over all tenants. */
const CHALLENGES_MAX = 10_000;

export class SignerRegistry {
  readonly #deps: SignerRegistryDeps;
  /** Until when each is good, by tenant and challenge; oldest first. */
  readonly #challenges = new Map<string, number>();

  constructor(deps: SignerRegistryDeps) {
    this.#deps = deps;
  }

  /** @returns what the new key must sign, as `registrationText` puts it. */
  challenge(tenantId: string): { readonly challenge: string; readonly expiresMs: number } {
    const { nowMs, randomBytes } = this.#deps;
    const [oldest] = this.#challenges.keys();
    if (oldest !== undefined && this.#challenges.size >= CHALLENGES_MAX) {
      this.#challenges.delete(oldest);
    }
    const challenge = toBase64Url(randomBytes(24));
    const expiresMs = nowMs() + CHALLENGE_MS;
    this.#challenges.set(`${tenantId} ${challenge}`, expiresMs);
    return { challenge, expiresMs };
  }

  /**
   * @param signature over `registrationText`, by the key that is registered.
   * @returns the new key's id.
   * @throws TenantError `invalid_public_key`, `invalid_app_name`, `unknown_tenant`.
   */
  register(given: {
    readonly tenantId: string;
    readonly appId: string;
    readonly publicKey: Uint8Array;
    readonly challenge: string;
    readonly signature: Uint8Array;
  }): string {
    const { appId, challenge, publicKey, signature, tenantId } = given;
    const name = `${tenantId} ${challenge}`;
    const untilMs = this.#challenges.get(name) ?? 0;
    this.#challenges.delete(name);
    if (untilMs <= this.#deps.nowMs()) throw invalid("the challenge is unknown, used or too old");
    if (!isSafePublicKey(publicKey)) throw invalid("this is no safe Ed25519 public key");
    const text = utf8Encode(registrationText(tenantId, appId, challenge));
    if (!verifySignature(publicKey, text, signature)) {
      throw invalid("the key did not sign the challenge");
    }
    return this.#deps.tenants.change((changes) => changes.addSigner(tenantId, appId, publicKey));
  }
}

/** The text whose UTF-8 bytes are signed to register a key. */
export function registrationText(tenantId: string, appId: string, challenge: string): string {
  return `svc-key-registration/v1\n${tenantId}\n${appId}\n${challenge}\n`;
}

function invalid(message: string): TenantError {
  return new TenantError("invalid_public_key", message);
}
