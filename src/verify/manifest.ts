/** The signed manifest: it names every file, in order, and what each must hash to. */
import { canonicalJson, type JsonValue, parseCanonicalObject, textOf } from "./encoding.ts";
import { DATE, TENANT_ID } from "./fields.ts";
import { check } from "./finding.ts";
import { type KeyChain, keyInUse } from "./keys.ts";
import { verifyNote } from "./note.ts";
import type { Hashing } from "./primitives.ts";

/** What was read of a file: of rows, the digest over their hashes and MACs. */
export type FileEntry =
  | { readonly name: string; readonly size: number; readonly sha256: string }
  | {
      readonly name: string;
      readonly size: number;
      readonly rows: number;
      readonly digest: string;
    };

const FILE = "manifest.json";

/** What the manifest says about the whole, and about its files. */
export interface ManifestFacts {
  readonly asOf: string;
  readonly tenantId: string;
  readonly kid: string;
  readonly files: JsonValue | undefined;
}

/** Reads the manifest; its signature and its files are still to be checked. */
export function readManifest(keys: KeyChain, bytes: Uint8Array): ManifestFacts {
  const manifest = parseCanonicalObject(textOf(bytes) ?? "");
  const demand = (condition: boolean, field: string, message: string): void =>
    check(condition, { file: FILE, field, message });
  check(manifest !== null, { file: FILE, field: "json", message: "is not canonical JSON" });
  const { as_of: asOf, files, kid, origin, t, tenant_id: tenantId, v } = manifest;
  demand(Object.keys(manifest).length === 7, "form", "has other members than specified");
  demand(t === "svc.export" && v === 1, "t", "is not an export of version 1");
  demand(typeof asOf === "string" && DATE.test(asOf), "as_of", "is not a time");
  demand(typeof tenantId === "string" && TENANT_ID.test(tenantId), "tenant_id", "is no tenant");
  demand(origin === keys.origin, "origin", "does not belong to the root key");
  const isInUse = keyInUse(keys, String(kid), Date.parse(String(asOf))) !== null;
  demand(isInUse, "kid", "names a key that was not in use at as_of");
  return { asOf: String(asOf), tenantId: String(tenantId), kid: String(kid), files };
}

/**
 * Compares the manifest with what was read, entry by entry.
 * @throws VerifyError naming the first file that differs.
 */
export function verifyFiles(entries: readonly FileEntry[], { files }: ManifestFacts): void {
  const difference = firstDifference(entries, files);
  if (difference !== null) check(false, difference);
}

/** The names of files whose digests differ; used to locate damage, before anything is believed. */
export function damagedFiles(entries: readonly FileEntry[], bytes: Uint8Array): string[] {
  const { files } = parseCanonicalObject(textOf(bytes) ?? "") ?? {};
  if (!Array.isArray(files)) return [FILE];
  const said = new Map(files.map((entry: JsonValue) => [nameOf(entry), canonicalJson(entry)]));
  return entries
    .filter((entry) => said.get(entry.name) !== canonicalJson({ ...entry }))
    .map((entry) => entry.name);
}

export async function verifyManifestNote(
  hashing: Hashing,
  keys: KeyChain,
  manifest: { readonly bytes: Uint8Array; readonly kid: string },
  noteBytes: Uint8Array,
): Promise<void> {
  const keyName = `${keys.origin}/export`;
  const text = `${keyName}\nsvc-export 1 ${hashing.sha256Hex(manifest.bytes)}\n`;
  const publicKey = keys.keys.find((key) => key.kid === manifest.kid)?.publicKey;
  const note = textOf(noteBytes) ?? "";
  const isSigned =
    publicKey !== undefined && (await verifyNote(hashing, note, { text, keyName, publicKey }));
  const message = "is not signed by manifest.note: one of the two was changed";
  check(isSigned, { file: FILE, field: "note", message });
}

function firstDifference(entries: readonly FileEntry[], files: JsonValue | undefined) {
  const said: readonly JsonValue[] = Array.isArray(files) ? files : [];
  const present = new Set(entries.map((entry) => entry.name));
  for (let index = 0; index < Math.max(said.length, entries.length); index++) {
    const entry = entries[index];
    const claim = said[index];
    const isMissing = claim !== undefined && !present.has(nameOf(claim));
    const found = entry === undefined || isMissing ? "no such file" : canonicalJson({ ...entry });
    const expected = claim === undefined ? "no further file" : canonicalJson(claim);
    if (found === expected) continue;
    const file = entry === undefined || isMissing ? nameOf(claim ?? null) : entry.name;
    const message = "is not what the manifest says";
    return { file, field: "manifest", message, expected, found };
  }
  return null;
}

function nameOf(entry: JsonValue): string {
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) return FILE;
  const { name } = entry as Readonly<Record<string, JsonValue>>;
  return String(name);
}
