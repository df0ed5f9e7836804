/**
 * What a write would do: pure, from the request and the current versions. All or nothing: one
 * refused record refuses the whole request. Formulas over the bytes are in FORMAT.md.
 */
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { parseDate } from "../process/civil-date.ts";
import { checkShape } from "../process/definition.ts";
import { ProcessInputError } from "../process/input-error.ts";
import { checkPlainJson } from "../process/plain-json.ts";
import { closed } from "../process/schema-parts.ts";
import { MATTER, MATTER_ID, type Matter } from "./matter-schema.ts";
import { mergePatch } from "./merge-patch.ts";
import { type RecordRefusal, StateError } from "./state-error.ts";

export const NO_HASH = "0".repeat(64);

/** More records than this are a migration, done in several calls. */
const RECORDS_MAX = 500;

/** The newest version of a matter. */
export interface Current {
  readonly version: number;
  readonly contentHash: string;
  readonly deleted: boolean;
  readonly body: JsonValue;
}

type Op = "created" | "updated" | "unchanged" | "deleted";

export interface Change {
  readonly matterId: string;
  readonly op: Op;
  readonly version: number;
  readonly contentHash: string;
  readonly prevHash: string;
  /** Canonical JSON of the record, or of the tombstone. */
  readonly text: string;
  /** Null for a tombstone. */
  readonly matter: Matter | null;
}

export interface WritePlan {
  readonly changes: readonly Change[];
  readonly dryRun: boolean;
}

const IF_VERSION = Type.Optional(Type.Integer({ minimum: 0 }));

const BATCH = closed({
  matters: Type.Array(Type.Object({ matter_id: MATTER_ID, if_version: IF_VERSION }), {
    minItems: 1,
    maxItems: RECORDS_MAX,
  }),
  mode: Type.Optional(Type.Enum(["replace", "merge"])),
  dry_run: Type.Optional(Type.Boolean()),
});

const SINGLE = Compile(Type.Object({ matter_id: MATTER_ID, if_version: IF_VERSION }));
const REQUEST = Compile(BATCH);
const RECORD = Compile(MATTER);
const TOMBSTONE = Compile(closed({ matter_id: MATTER_ID, deleted: Type.Literal(true) }));

type Source = Static<typeof BATCH>["matters"][number];

/**
 * @param ifMatch the request's `If-Match` header; only a single record may have one.
 * @throws ProcessInputError for a body that is no write; StateError for a precondition that fails.
 */
export function planWrite(
  body: JsonValue,
  ifMatch: string | null,
  currentOf: (matterId: string) => Current | null,
): WritePlan {
  checkPlainJson(body);
  const isBatch = typeof body === "object" && body !== null && "matters" in body;
  const request = isBatch ? checkShape(REQUEST, body) : { matters: [checkShape(SINGLE, body)] };
  if (ifMatch !== null && isBatch) {
    const message = "If-Match is for a single record; give each record of a batch its if_version";
    throw new ProcessInputError("conflicting_input", "/matters", message);
  }
  const at = (index: number): string => (isBatch ? `/matters/${index}` : "");
  checkUnique(request.matters, at);
  const isMerge = "mode" in request && request.mode === "merge";
  const refusals: RecordRefusal[] = [];
  const changes = request.matters.map((source, index) => {
    const current = currentOf(source.matter_id);
    const refusal = refusalOf(source, current, ifMatch);
    if (refusal) refusals.push(refusal);
    return changeOf(source, current, isMerge, at(index));
  });
  for (const change of changes) {
    const refusal = holdRefusal(change, currentOf(change.matterId));
    if (refusal) refusals.push(refusal);
  }
  if (refusals.length > 0) throw new StateError(refusals);
  return { changes, dryRun: "dry_run" in request && request.dry_run === true };
}

function checkUnique(matters: readonly Source[], at: (index: number) => string): void {
  const seen = new Set<string>();
  for (const [index, { matter_id: id }] of matters.entries()) {
    if (seen.has(id)) {
      const message = `${id} is in the batch twice`;
      throw new ProcessInputError("duplicate_id", `${at(index)}/matter_id`, message);
    }
    seen.add(id);
  }
}

/** Preconditions look at the newest version; a tombstone counts as absent. */
function refusalOf(
  source: Source,
  current: Current | null,
  ifMatch: string | null,
): RecordRefusal | null {
  const exists = current !== null && !current.deleted;
  const version = exists ? current.version : 0;
  const refused = (code: RecordRefusal["code"], message: string): RecordRefusal => ({
    matterId: source.matter_id,
    code,
    message,
    currentVersion: version,
    currentEtag: exists ? etagOf(current) : null,
  });
  if (source.if_version !== undefined && source.if_version !== version)
    return refused("version_conflict", `if_version is ${source.if_version}, it is at ${version}`);
  if (ifMatch === null) return null;
  const matches = exists && (ifMatch === "*" || ifMatch === etagOf(current));
  return matches ? null : refused("precondition_failed", "If-Match names another version");
}

function holdRefusal(change: Change, current: Current | null): RecordRefusal | null {
  if (change.op !== "deleted" || !current) return null;
  const { confidentiality } = current.body as { confidentiality?: { legal_hold?: boolean } };
  if (confidentiality?.legal_hold !== true) return null;
  return {
    matterId: change.matterId,
    code: "legal_hold",
    message: "the matter is on legal hold: lift the hold before it is deleted",
    currentVersion: current.version,
    currentEtag: etagOf(current),
  };
}

function changeOf(
  source: Source,
  current: Current | null,
  isMerge: boolean,
  pointer: string,
): Change {
  const { if_version: _, ...rest } = source as Source & { readonly [key: string]: JsonValue };
  const isDeletion = "deleted" in rest;
  const previous = current && !current.deleted ? current.body : undefined;
  const value = isMerge && !isDeletion ? mergePatch(previous, rest) : rest;
  const matter = isDeletion ? null : checkedMatter(value, pointer);
  if (isDeletion) within(pointer, () => checkShape(TOMBSTONE, value));
  const text = canonicalJson(value);
  const contentHash = sha256Hex(text);
  const isSame = current !== null && current.contentHash === contentHash;
  const exists = previous !== undefined;
  // To delete what was never there, or is gone, changes nothing.
  if (isSame || (isDeletion && !exists)) return unchanged(source.matter_id, current, text, matter);
  return {
    matterId: source.matter_id,
    op: isDeletion ? "deleted" : exists ? "updated" : "created",
    version: (current?.version ?? 0) + 1,
    contentHash,
    prevHash: current?.contentHash ?? NO_HASH,
    text,
    matter,
  };
}

function unchanged(
  matterId: string,
  current: Current | null,
  text: string,
  matter: Matter | null,
): Change {
  return {
    matterId,
    op: "unchanged",
    version: current?.version ?? 0,
    contentHash: current?.contentHash ?? NO_HASH,
    prevHash: NO_HASH,
    text,
    matter,
  };
}

function checkedMatter(value: JsonValue, pointer: string): Matter {
  return within(pointer, () => {
    const matter = checkShape(RECORD, value);
    for (const [at, text] of datesOf(matter)) {
      if (text !== undefined && parseDate(text) === null)
        throw new ProcessInputError("invalid_date", at, `${text} is not a day of the calendar`);
    }
    return matter;
  });
}

function* datesOf(matter: Matter): Generator<readonly [pointer: string, text: string | undefined]> {
  for (const [key, text] of Object.entries(matter.dates ?? {})) yield [`/dates/${key}`, text];
  for (const list of ["people", "parties"] as const) {
    for (const [index, { from, to }] of (matter[list] ?? []).entries()) {
      yield [`/${list}/${index}/from`, from];
      yield [`/${list}/${index}/to`, to];
    }
  }
  yield ["/conflicts/last_checked_on", matter.conflicts?.last_checked_on];
  yield ["/conflicts/decided_on", matter.conflicts?.decided_on];
}

function within<T>(pointer: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ProcessInputError) throw error.within(pointer, error.code);
    throw error;
  }
}

/** A strong validator, without its quotes. */
export function etagOf({ version, contentHash }: Pick<Current, "version" | "contentHash">): string {
  return `v${version}-${contentHash.slice(0, 16)}`;
}

/** A matter's newest version, as the head sees it. */
export interface HeadEntry {
  readonly matterId: string;
  readonly version: number;
  readonly contentHash: string;
}

/** @param entries of all matters, tombstones included, by code unit of their ids. */
export function stateHead(entries: Iterable<HeadEntry>): string {
  const lines = [...entries].map(
    ({ matterId, version, contentHash }) => `${matterId} ${version} ${contentHash}\n`,
  );
  return lines.length === 0 ? NO_HASH : sha256Hex(`svc-state/1\n${lines.join("")}`);
}
