import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromHex } from "../../src/bytes/hex.ts";
import { utf8Encode } from "../../src/bytes/utf8.ts";
import { signingKeyFromSeed, verifySignature } from "../../src/crypto/ed25519.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { attest, parseAttestation, requestHash } from "../../src/receipt/attestation.ts";
import { BodyDigest, signResponse } from "../../src/receipt/body-digest.ts";
import {
  chainHeadMessage,
  parseChainHeadMessage,
  signChainHead,
} from "../../src/receipt/chain-head.ts";
import { deterministicHash } from "../../src/receipt/receipt.ts";

const key = signingKeyFromSeed(new Uint8Array(32).fill(1));
const facts = {
  ts: 1763640000000,
  method: "POST",
  path: "/v1/chat/completions",
  requestBodyHash: sha256Hex("{}"),
  responseBodyHash: sha256Hex('{"a":1}'),
  chainHead: "0".repeat(64),
  rev: "abc123",
};

// Computed with coreutils and openssl:
//   printf 'POST\n/v1/chat/completions\n1763640000000\n%s' "$(printf '{}' | sha256sum | cut -c-64)" | sha256sum
test("a request hash is the one that a shell computes", () => {
  expect(requestHash(facts)).toBe(
    "d96cff4c52f896add90e2410173639933129460be7a4f7bee724c1d56e7b26e1",
  );
});

test("an attestation has exactly five fields in canonical order, and its signature verifies", () => {
  const token = attest(key, facts);
  const [payload = ""] = token.split(".");
  expect(Buffer.from(payload, "base64url").toString()).toBe(
    `{"chain_head":"${facts.chainHead}","req_hash":"${requestHash(facts)}",` +
      `"resp_hash":"${facts.responseBodyHash}","rev":"abc123","ts":1763640000000}`,
  );
  const parsed = parseAttestation(token);
  expect(parsed?.payload).toEqual({
    ts: facts.ts,
    reqHash: requestHash(facts),
    respHash: facts.responseBodyHash,
    chainHead: facts.chainHead,
    rev: "abc123",
  });
  if (parsed === null) throw new Error("unreachable");
  expect(verifySignature(key.publicKey, parsed.signedBytes, parsed.signature)).toBe(true);
});

test("a token spelled in any other way is refused", () => {
  const token = attest(key, facts);
  const [payload = "", signature = ""] = token.split(".");
  const json = Buffer.from(payload, "base64url").toString();
  const spelled = (text: string): string =>
    `${Buffer.from(text).toString("base64url")}.${signature}`;
  expect(parseAttestation(spelled(json))).not.toBeNull();
  for (const other of [
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    token.replace(".", ".."),
    `${payload}.${signature.slice(1)}`,
    `${payload}.${signature.slice(0, -1)}_`,
    payload,
    spelled(json.replace('{"chain_head"', '{ "chain_head"')),
    spelled(json.replace("}", ',"x":1}')),
    spelled(json.replace('"ts":1763640000000', '"ts":01763640000000')),
    spelled(json.replace('"ts":1763640000000', '"ts":1.7e12')),
    spelled(json.replace("abc123", "ABC 123")),
    spelled(json.replace('"rev":"abc123",', "")),
  ]) {
    expect(parseAttestation(other)).toBeNull();
  }
});

test("facts that a token cannot hold are a bug", () => {
  expect(() => attest(key, { ...facts, chainHead: "0" })).toThrow("chain head");
  expect(() => attest(key, { ...facts, rev: 'a"b' })).toThrow("revision");
  expect(() => attest(key, { ...facts, ts: 1.5 })).toThrow("whole number");
});

// printf 'hello' | openssl dgst -sha256 -hmac "$(printf 'ab%.0s' {1..32})"
test("the response signature is the one that openssl computes, whole or in pieces", () => {
  const secret = "ab".repeat(32);
  const expected = "1e9b8eab0fa36e341efa90c9f3ce64a036b5433f2b4cdb7c342e26a65e13555e";
  expect(signResponse(secret, utf8Encode("hello"))).toBe(expected);
  const digest = new BodyDigest(secret);
  for (const piece of ["he", "", "llo"]) digest.update(utf8Encode(piece));
  expect(digest.finish()).toEqual({ bodyHash: sha256Hex("hello"), signature: expected });
  expect(new BodyDigest(null).finish()).toEqual({ bodyHash: sha256Hex(""), signature: null });
});

const heads = fc.record({
  tenantId: fc.stringMatching(/^t_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
  headHash: fc.stringMatching(/^[0-9a-f]{64}$/),
  height: fc.nat(10 ** 9),
  asOf: fc
    .date({ min: new Date(0), max: new Date(Date.UTC(2200, 0)), noInvalidDate: true })
    .map((date) => date.toISOString()),
});

test("the concatenated text of a chain head gives its parts back: no two heads share a text", () => {
  fc.assert(
    fc.property(heads, (head) => {
      expect(parseChainHeadMessage(chainHeadMessage(head))).toEqual(head);
    }),
  );
  fc.assert(
    fc.property(heads, heads, (a, b) => {
      if (JSON.stringify(a) === JSON.stringify(b)) return;
      expect(chainHeadMessage(a)).not.toBe(chainHeadMessage(b));
    }),
  );
});

test("a chain head is signed over the concatenation of its fields", () => {
  const tenantId = "t_01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const head = signChainHead(key, { tenantId, headHash: "ab".repeat(32), height: 12, asOfMs: 0 });
  expect(head.as_of).toBe("1970-01-01T00:00:00.000Z");
  const message = utf8Encode(`${tenantId}${"ab".repeat(32)}121970-01-01T00:00:00.000Z`);
  const signature = new Uint8Array(Buffer.from(head.signature, "base64url"));
  expect(verifySignature(key.publicKey, message, signature)).toBe(true);
  expect(head.attestation_kid).toBe(key.kid);
  expect(() => chainHeadMessage({ ...head, tenantId, headHash: "A", asOf: head.as_of })).toThrow();
  expect(
    parseChainHeadMessage(`${tenantId}${"ab".repeat(32)}0121970-01-01T00:00:00.000Z`),
  ).toBeNull();
});

// printf 'svc-deterministic/1\ne@1\n%s\n%s' $(printf a | sha256sum | cut -c-64) $(printf b | sha256sum | cut -c-64) | sha256sum
test("a deterministic hash is the one that a shell computes", () => {
  const hash = deterministicHash({
    engine: "e@1",
    inputHash: sha256Hex("a"),
    outputHash: sha256Hex("b"),
  });
  expect(hash).toBe("c7860a91e0736f8b39e5f841b7a4e22a46888552c59d7abb359a30d618147c28");
  expect(fromHex(hash)).not.toBeNull();
});
