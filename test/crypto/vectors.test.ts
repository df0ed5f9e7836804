import { expect, test } from "bun:test";
import { fromHex, toHex } from "../../src/bytes/hex.ts";
import { utf8Encode } from "../../src/bytes/utf8.ts";
import {
  generateSigningKey,
  keyIdOf,
  signingKeyFromSeed,
  verifySignature,
} from "../../src/crypto/ed25519.ts";
import { hmacSha256Hex, secretsEqual, sha256Hex } from "../../src/crypto/hash.ts";
import { NATIVE } from "../../src/verify/native-hashing.ts";
import { NOBLE, verifyEd25519 } from "../../src/verify/primitives.ts";

const bytes = (hex: string): Uint8Array => {
  const value = fromHex(hex);
  if (value === null) throw new Error("vector is not hex");
  return value;
};

test("SHA-256 reproduces the vectors of FIPS 180-4", () => {
  expect(sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

// RFC 4231 sections 4.2 to 4.8; the one of 4.6 is truncated, which no one here does.
test.each([
  [
    "0b".repeat(20),
    toHex(utf8Encode("Hi There")),
    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
  ],
  [
    toHex(utf8Encode("Jefe")),
    toHex(utf8Encode("what do ya want for nothing?")),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  [
    "aa".repeat(20),
    "dd".repeat(50),
    "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
  ],
  [
    "0102030405060708090a0b0c0d0e0f10111213141516171819",
    "cd".repeat(50),
    "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
  ],
  [
    "aa".repeat(131),
    toHex(utf8Encode("Test Using Larger Than Block-Size Key - Hash Key First")),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
  [
    "aa".repeat(131),
    toHex(
      utf8Encode(
        "This is a test using a larger than block-size key and a larger than block-size data. " +
          "The key needs to be hashed before being used by the HMAC algorithm.",
      ),
    ),
    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
  ],
])("HMAC-SHA-256 reproduces RFC 4231: key %s", (key, data, mac) => {
  expect(hmacSha256Hex(bytes(key), bytes(data))).toBe(mac);
  expect(toHex(NATIVE.hmacSha256(bytes(key), bytes(data)))).toBe(mac);
  expect(toHex(NOBLE.hmacSha256(bytes(key), bytes(data)))).toBe(mac);
});

// RFC 8032 section 7.1: TEST 1, TEST 2, TEST 3, TEST SHA(abc).
test.each([
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
  [
    "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  ],
])("Ed25519 reproduces RFC 8032: seed %s", async (seed, publicKey, message, signature) => {
  const key = signingKeyFromSeed(bytes(seed));
  expect(toHex(key.publicKey)).toBe(publicKey);
  expect(toHex(key.sign(bytes(message)))).toBe(signature);
  expect(verifySignature(key.publicKey, bytes(message), bytes(signature))).toBe(true);
  expect(toHex(key.exportSeed())).toBe(seed);
  // The offline verifier's own.
  const isValid = (text: string): Promise<boolean> =>
    verifyEd25519(bytes(publicKey), bytes(text), bytes(signature));
  expect([await isValid(message), await isValid(`${message}00`)]).toEqual([true, false]);
});

test("the verifier refuses a key of small order, for which one signature fits every message", async () => {
  const identity = Uint8Array.of(1, ...new Uint8Array(31));
  const signature = Uint8Array.of(...identity, ...new Uint8Array(32));
  expect(await verifyEd25519(identity, utf8Encode("anything"), signature)).toBe(false);
});

test("Ed25519 refuses another message, another key and a malformed signature", () => {
  const key = generateSigningKey();
  const message = utf8Encode("m");
  const signature = key.sign(message);
  expect(verifySignature(key.publicKey, utf8Encode("n"), signature)).toBe(false);
  expect(verifySignature(generateSigningKey().publicKey, message, signature)).toBe(false);
  expect(verifySignature(key.publicKey, message, signature.subarray(1))).toBe(false);
  expect(keyIdOf(key.publicKey)).toBe(key.kid);
});

test("secrets are compared whole", () => {
  expect(secretsEqual("abc", "abc")).toBe(true);
  expect(secretsEqual("abc", "abd")).toBe(false);
  expect(secretsEqual("abc", "abcd")).toBe(false);
});
