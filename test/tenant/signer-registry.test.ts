import { expect, test } from "bun:test";
import { generateSigningKey } from "../../src/crypto/ed25519.ts";
import { registrationText, SignerRegistry } from "../../src/tenant/signer-registry.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { countingBytes, type Lab } from "../trust-lab.ts";

const APP = "default";

function registryOf({ clock, tenants }: Lab): SignerRegistry {
  const randomBytes = countingBytes("challenges");
  return new SignerRegistry({ tenants, randomBytes, nowMs: () => clock.nowMs });
}

function proof(tenantId: string, challenge: string, key = generateSigningKey()) {
  const text = registrationText(tenantId, APP, challenge);
  const signature = key.sign(Buffer.from(text));
  return { tenantId, appId: APP, challenge, signature, publicKey: key.publicKey };
}

test("a registered key identifies its tenant until it is revoked, after a restart too", () => {
  const dataDir = temporaryDirectory();
  const first = openKit({ dataDir });
  const { tenantId } = first.tenants.createKey({ tenantName: "A" });
  const registry = registryOf(first);
  const key = generateSigningKey();
  const keyId = registry.register(proof(tenantId, registry.challenge(tenantId).challenge, key));
  const message = Buffer.from("a request");
  const signature = key.sign(message);
  const identity = { tenantId, keyId, appId: APP, scheme: "ed25519", active: true };
  expect(first.tenants.signerIdentity(keyId)).toMatchObject(identity);
  expect(first.tenants.signerOf(keyId)?.(message, signature)).toBe(true);
  first.close();
  const second = openKit({ dataDir });
  expect(second.tenants.signerIdentity(keyId)).toMatchObject(identity);
  expect(second.tenants.signerOf(keyId)?.(message, signature)).toBe(true);
  expect(second.tenants.signerOf(keyId)?.(Buffer.from("other"), signature)).toBe(false);
  second.tenants.revokeKey(keyId);
  expect(second.tenants.signerIdentity(keyId)).toBeNull();
  expect(second.tenants.signerOf(keyId)).toBeNull();
  second.close();
  const third = openKit({ dataDir });
  expect(third.tenants.signerOf(keyId)).toBeNull();
});

test("a challenge is good once, for its tenant, for five minutes", () => {
  const kit = openKit();
  const [a, b] = ["A", "B"].map((tenantName) => kit.tenants.createKey({ tenantName }).tenantId);
  if (a === undefined || b === undefined) throw new Error("no tenants were made");
  const registry = registryOf(kit);
  const refused = "the challenge is unknown, used or too old";
  const challenge = registry.challenge(a).challenge;
  expect(() => registry.register(proof(b, challenge))).toThrow(refused);
  registry.register(proof(a, challenge));
  expect(() => registry.register(proof(a, challenge))).toThrow(refused);
  const late = registry.challenge(a).challenge;
  kit.clock.nowMs += 300_000;
  expect(() => registry.register(proof(a, late))).toThrow(refused);
});

test("a key that did not sign, is unsafe, or is registered already is refused", () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const registry = registryOf(kit);
  const attempt = (changes: object, key = generateSigningKey()) =>
    registry.register({
      ...proof(tenantId, registry.challenge(tenantId).challenge, key),
      ...changes,
    });
  const { publicKey } = generateSigningKey();
  expect(() => attempt({ publicKey })).toThrow("did not sign");
  expect(() => attempt({ appId: "other" })).toThrow("did not sign");
  const identity = Buffer.from(`01${"00".repeat(31)}`, "hex");
  expect(() => attempt({ publicKey: identity })).toThrow("no safe Ed25519 public key");
  const key = generateSigningKey();
  attempt({}, key);
  expect(() => attempt({}, key)).toThrow("was registered before");
});
