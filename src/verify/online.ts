/**
 * Checks as answers arrive: one response with its keys and its row, and slices of the audit log.
 * The same checks as for an export, on what the API serves; they run in a browser too.
 */
import { canonicalJson, type JsonValue, toHex, utf8 } from "./encoding.ts";
import { HASH, ZERO_HASH } from "./fields.ts";
import { describe, VerifyError } from "./finding.ts";
import { verifyKeys } from "./keys.ts";
import { type Hashing, NOBLE } from "./primitives.ts";
import { type SavedResponse, type SealedResponse, sealOf, verifySeal } from "./responses.ts";

/** One row as `GET /v1/audit` serves it. */
export type ServedRow = Readonly<Record<string, JsonValue>>;

export interface AnswerFacts {
  readonly response: SavedResponse;
  /** The response of `GET /attestation/keys`, parsed. */
  readonly keyHistory: unknown;
  /** As it was shown; null: the signature is not checked. */
  readonly hmacSecret: string | null;
  /** The call's row, of `GET /v1/receipts/{request_id}`; null: it is not checked. */
  readonly row: ServedRow | null;
  /** When the request was sent, Unix milliseconds; null: how old the answer is is not checked. */
  readonly sentMs: number | null;
  readonly hashing?: Hashing;
}

export interface Step {
  readonly name: "keys" | "signature" | "attestation" | "row";
  readonly state: "ok" | "failed" | "not checked";
  readonly detail: string;
}

/** How far a client's clock may be from the service's. */
const CLOCKS_APART_MS = 5 * 60_000;

/** @returns one step after the other; `ok` only where none failed. */
export async function verifyAnswer(
  facts: AnswerFacts,
): Promise<{ readonly ok: boolean; readonly steps: readonly Step[] }> {
  const hashing = facts.hashing ?? NOBLE;
  const steps: Step[] = [];
  const step = async <T>(
    name: Step["name"],
    action: () => Promise<readonly [detail: string, value: T]>,
  ): Promise<T | null> => {
    try {
      const [detail, value] = await action();
      steps.push({ name, state: "ok", detail });
      return value;
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      steps.push({ name, state: "failed", detail: describe(error.finding) });
      return null;
    }
  };
  const keys = await step("keys", async () => {
    const { root, records } = keyFiles(facts.keyHistory);
    const chain = await verifyKeys(hashing, root, records);
    const count = `${chain.keys.length} attestation ${chain.keys.length === 1 ? "key" : "keys"}`;
    return [`${count}, certified by root ${chain.rootKid}`, chain];
  });
  const { hmacSecret } = facts;
  if (hmacSecret === null) {
    const detail = "needs the tenant's HMAC secret";
    steps.push({ name: "signature", state: "not checked", detail });
  } else {
    await step("signature", async () => [
      checkSignature(hashing, facts.response, hmacSecret),
      null,
    ]);
  }
  if (keys === null) return { ok: false, steps };
  const sealed = await step("attestation", async () => {
    const context = { hashing, keys, hmacSecrets: [] };
    const seal = await verifySeal(context, facts.response, 1);
    checkAge(seal, facts.sentMs);
    return [`of ${new Date(seal.ts).toISOString()}, for this request and these bytes`, seal];
  });
  const { row } = facts;
  if (row === null) {
    steps.push({ name: "row", state: "not checked", detail: "no row was given" });
  } else if (sealed !== null) {
    await step("row", async () => [checkRow(hashing, sealed, row), null]);
  }
  return { ok: steps.every(({ state }) => state !== "failed"), steps };
}

export interface SliceBreak {
  /** Which row of the slice, from 0. */
  readonly index: number;
  readonly message: string;
}

/**
 * Follows each app's chain through a slice: every row's hash, and that it names the row before.
 * @param held the last row seen of each app, by app id: then the joint between slices is checked.
 * @returns the first row that does not hold; null where all do.
 */
export function findBreak(
  rows: readonly ServedRow[],
  held: ReadonlyMap<string, ServedRow> = new Map(),
  hashing: Hashing = NOBLE,
): SliceBreak | null {
  const last = new Map(held);
  for (const [index, row] of rows.entries()) {
    const appId = String(row["app_id"]);
    const before = last.get(appId);
    if (rowHash(hashing, row) !== row["row_hash"]) {
      return { index, message: "the row was changed: its hash is another" };
    }
    if (before !== undefined) {
      const isNext = Number(row["seq"]) === Number(before["seq"]) + 1;
      if (!isNext)
        return { index, message: `a row is missing before height ${String(row["seq"])}` };
      const isLinked = row["prev_hash"] === before["row_hash"];
      if (!isLinked) return { index, message: "it does not name the row before it" };
    } else if (row["seq"] === 1 && row["prev_hash"] !== ZERO_HASH) {
      return { index, message: "the first row names a row before it" };
    }
    last.set(appId, row);
  }
  return null;
}

/** A row's hash, derived again from what was served: SHA-256 of its canonical members. */
function rowHash(hashing: Hashing, row: ServedRow): string {
  const members = Object.entries(row).filter(([name]) => name !== "row_hash" && name !== "row_mac");
  return hashing.sha256Hex(utf8(canonicalJson(Object.fromEntries(members))));
}

/** The history as an export has it: the root key's file and the records' file. */
function keyFiles(history: unknown): { readonly root: string; readonly records: string } {
  const { keys, root } = (history ?? {}) as {
    readonly root?: { readonly public_key?: unknown };
    readonly keys?: unknown;
  };
  const publicKey = root?.public_key;
  const isForm = typeof publicKey === "string" && HASH.test(publicKey) && Array.isArray(keys);
  if (!isForm) throw failure("keys", "form", "are not what GET /attestation/keys gives");
  const lines = (
    keys as readonly { readonly record?: unknown; readonly signature?: unknown }[]
  ).map(({ record, signature }) => `${String(signature)} ${String(record)}\n`);
  return { root: `${publicKey}\n`, records: lines.join("") };
}

function checkSignature(hashing: Hashing, response: SavedResponse, secret: string): string {
  const { body, signature } = sealOf(response);
  if (signature === null) throw failure("response", "signature", "is missing");
  const expected = toHex(hashing.hmacSha256(utf8(secret), body));
  if (signature === expected) return "made with this tenant's secret over these bytes";
  throw failure("response", "signature", "is not made with this tenant's secret");
}

/** An answer from before the request answers an earlier one: someone sent it again. */
function checkAge({ ts }: SealedResponse, sentMs: number | null): void {
  if (sentMs === null || ts >= sentMs - CLOCKS_APART_MS) return;
  const field = "ts";
  const message = "is from before the request was sent, by minutes";
  const [expected, found] = [String(sentMs), String(ts)];
  throw new VerifyError({ file: "response", field, message, expected, found });
}

function checkRow(hashing: Hashing, seal: SealedResponse, row: ServedRow): string {
  const pairs: readonly (readonly [string, string, string])[] = [
    ["row_hash", rowHash(hashing, row), String(row["row_hash"])],
    ["chain_head", seal.chainHead, String(row["row_hash"])],
    ["method", seal.method, String(row["method"])],
    ["path", seal.path, String(row["path"])],
    ["in_hash", seal.requestHash, String(row["in_hash"])],
    ["out_hash", seal.responseHash, String(row["out_hash"])],
    ["ts", String(seal.ts), String(row["ts"])],
    ...(seal.requestId === null
      ? []
      : [["request_id", seal.requestId, String(row["request_id"])] as const]),
  ];
  for (const [field, expected, found] of pairs) {
    if (expected === found) continue;
    const message = "differs between the response and its row";
    throw new VerifyError({ file: "row", field, message, expected, found });
  }
  return `height ${String(row["seq"])} of chain ${String(row["app_id"])}`;
}

function failure(file: string, field: string, message: string): VerifyError {
  return new VerifyError({ file, field, message });
}
