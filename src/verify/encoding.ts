/** Bytes and text, strictly: every decoder here takes exactly one spelling of each value. */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const ENCODER = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** @returns null for bytes that are not well-formed UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** One character for each byte, so that positions in the text are positions in the bytes. */
export function latin1(bytes: Uint8Array): string {
  // For plain ASCII, which nearly everything is, decoding as UTF-8 is several times faster.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return text.length === bytes.byteLength ? text : new TextDecoder("latin1").decode(bytes);
}

export function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes);
}

/** @param text hex digits that a pattern has accepted: an even number, lower case. */
export function fromHex(text: string): Uint8Array {
  return hexToBytes(text);
}

/** Padded base64 (RFC 4648 section 4). @returns null for any other spelling. */
export function fromBase64(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return toBase64(bytes) === text ? bytes : null;
}

export function toBase64(bytes: Uint8Array): string {
  let characters = "";
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/** Base64url without padding. @returns null for any other spelling. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const padding = "=".repeat((4 - (text.length % 4)) % 4);
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index]);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.byteLength;
  }
  return joined;
}

/** Canonical JSON (RFC 8785). */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** @returns null unless the text is the canonical JSON of an object. */
export function parseCanonicalObject(text: string): Readonly<Record<string, JsonValue>> | null {
  try {
    const value = JSON.parse(text) as JsonValue;
    const isObject = value !== null && typeof value === "object" && !isArray(value);
    return isObject && canonicalJson(value) === text ? value : null;
  } catch {
    return null;
  }
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
