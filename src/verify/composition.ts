/**
 * A saved answer of `POST /v1/compose`: that its steps are one chain, that every output that is
 * shown is the one that was chained, and, with the request, that every step's input follows from
 * the request and the steps before it. The formulas are in `process/FORMAT.md`. What a process
 * computes is not computed again here: `svc compose` does that.
 */
import { canonicalJson, type JsonValue, textOf, utf8 } from "./encoding.ts";
import { HASH } from "./fields.ts";
import { check, type Finding, VerifyError } from "./finding.ts";
import { type Hashing, NOBLE } from "./primitives.ts";

export interface CompositionReport {
  readonly ok: boolean;
  /** The first check that failed. */
  readonly finding: Finding | null;
  readonly steps: number;
  readonly status: string | null;
  readonly chainHash: string | null;
  /** What was not checked, and why. */
  readonly notes: readonly string[];
}

export interface SavedComposition {
  /** The body as received, or what `svc compose` printed. */
  readonly answer: Uint8Array;
  readonly request?: Uint8Array | undefined;
}

type Members = Readonly<Record<string, JsonValue>>;

interface Step {
  readonly at: string;
  readonly id: string;
  readonly members: Members;
  readonly output: JsonValue | undefined;
}

/** @returns a report; whatever the bytes hold, it does not throw. */
export function verifyComposition(
  { answer, request }: SavedComposition,
  hashing: Hashing = NOBLE,
): CompositionReport {
  const notes: string[] = [];
  const seen = { steps: 0, status: null as string | null, chainHash: null as string | null };
  try {
    const members = membersOf(parsed(answer, "answer"), "");
    const steps = verifyChain(members, hashing);
    Object.assign(seen, { steps: steps.length, status: members["status"] });
    seen.chainHash = String(members["chain_hash"]);
    verifyReceipt(members, hashing, notes);
    if (request === undefined) notes.push("without the request, inputs and start were not derived");
    else
      verifyRequest(membersOf(parsed(request, "request"), ""), { members, steps }, hashing, notes);
    return { ok: true, finding: null, ...seen, notes };
  } catch (error) {
    if (!(error instanceof VerifyError)) throw error;
    return { ok: false, finding: error.finding, ...seen, notes };
  }
}

/** Every step follows the one before it, and shows the output that its hash is over. */
function verifyChain(answer: Members, hashing: Hashing): readonly Step[] {
  expect(answer["object"] === "composition", "/object", "is not a composition");
  const steps = listOf(answer["steps"], "/steps").map((value, index): Step => {
    const at = `/steps/${index}`;
    const members = membersOf(value, at);
    return { at, id: String(members["id"]), members, output: members["output"] };
  });
  expect(steps.length > 0, "/steps", "is empty");
  let previous = text(steps[0]?.members ?? {}, "prev_hash", "/steps/0", HASH);
  for (const [index, { at, id, members, output }] of steps.entries()) {
    expect(members["index"] === index, `${at}/index`, "is not the step's place");
    equal(`${at}/prev_hash`, previous, members["prev_hash"]);
    const outputHash = text(members, "output_hash", at, HASH);
    if (output !== undefined) equal(`${at}/output_hash`, hashOf(output, hashing), outputHash);
    const slug = text(members, "process", at, /^[a-z][a-z0-9-]*$/);
    const engine = `${slug}@${text(members, "engine_version", at, /^[0-9.]+$/)}`;
    const inputHash = text(members, "input_hash", at, HASH);
    expect(STEP_ID.test(id), `${at}/id`, "has another form than specified");
    const lines = [previous, String(index), id, engine, inputHash, outputHash];
    previous = hashing.sha256Hex(utf8(lines.join("\n")));
    equal(`${at}/step_hash`, previous, members["step_hash"]);
  }
  equal("/chain_hash", previous, answer["chain_hash"]);
  const isHalted = answer["status"] === "halted";
  expect(isHalted || answer["status"] === "completed", "/status", "is no status of a composition");
  if (isHalted)
    expect(answer["halted_at"] === steps.length - 1, "/halted_at", "is not the last step");
  return steps;
}

const STEP_ID = /^[a-z][a-z0-9_-]{0,31}$/;

function verifyReceipt(answer: Members, hashing: Hashing, notes: string[]): void {
  const { receipt: receiptMember, ...output } = answer;
  if (receiptMember === undefined) {
    notes.push("there is no receipt: the answer was made offline");
    return;
  }
  const receipt = membersOf(receiptMember, "/receipt");
  equal("/receipt/output_hash", hashOf(output, hashing), receipt["output_hash"]);
  equal("/receipt/deterministic_hash", String(answer["chain_hash"]), receipt["deterministic_hash"]);
}

/** What the caller asked for is what was chained. */
function verifyRequest(
  request: Members,
  { members: answer, steps }: { readonly members: Members; readonly steps: readonly Step[] },
  hashing: Hashing,
  notes: string[],
): void {
  const asked = listOf(request["steps"], "/steps", "request").map((value, index) => {
    const step = membersOf(value, `/steps/${index}`);
    return { id: String(step["id"] ?? `s${index}`), step };
  });
  const isWhole = answer["status"] === "completed";
  const isCount = isWhole ? steps.length === asked.length : steps.length <= asked.length;
  expect(isCount, "/steps", "are not as many as were asked for");
  const usesState = asked.some(({ step }) => isFromState(step["input"]));
  if (usesState)
    notes.push("records came from the state: the start hash covers them, and was not derived");
  else {
    const start = {
      input: request["input"] ?? null,
      steps: asked.map(({ id, step }) => ({
        id,
        process: step["process"] ?? null,
        input: step["input"] ?? null,
      })),
    };
    const startHash = hashing.sha256Hex(utf8(`svc-compose/1\n${canonicalJson(start)}`));
    equal("/steps/0/prev_hash", startHash, steps[0]?.members["prev_hash"]);
  }
  const values = new Map<string, JsonValue | undefined>([["input", request["input"] ?? null]]);
  for (const [index, made] of steps.entries()) {
    const { id, step } = asked[index] ?? { id: "", step: {} };
    equal(`${made.at}/id`, id, made.id);
    equal(`${made.at}/process`, String(step["process"]), made.members["process"]);
    if (step["engine"] !== undefined)
      equal(`${made.at}/engine_version`, String(step["engine"]), made.members["engine_version"]);
    verifyInput(made, step["input"] ?? null, { values, hashing, notes });
    values.set(id, made.output);
    const isLast = index === steps.length - 1;
    verifyExpectations(made, step["expect"], isLast && !isWhole, notes);
  }
  verifyOutput(request["output"], answer, values, notes);
}

interface Known {
  readonly values: ReadonlyMap<string, JsonValue | undefined>;
  readonly hashing: Hashing;
  readonly notes: string[];
}

function verifyInput(made: Step, template: JsonValue, { values, hashing, notes }: Known): void {
  if (isFromState(template)) return;
  const input = resolved(template, values);
  if (input === HIDDEN) notes.push(`${made.at}: its input is made of outputs that are not shown`);
  else equal(`${made.at}/input_hash`, hashOf(input, hashing), made.members["input_hash"]);
}

function verifyExpectations(
  { at, output }: Step,
  expectations: JsonValue | undefined,
  isHalt: boolean,
  notes: string[],
): void {
  if (expectations === undefined && !isHalt) return;
  if (output === undefined) {
    notes.push(`${at}: its expectations are about an output that is not shown`);
    return;
  }
  const isMet = listOf(expectations ?? [], `${at}/expect`, "request").every((value, index) => {
    const { pointer, equals } = membersOf(value, `${at}/expect/${index}`);
    return valueAt(output, String(pointer)) === equals;
  });
  const message = isHalt ? "halted where every expectation is met" : "does not meet an expectation";
  expect(isMet !== isHalt, `${at}/output`, message);
}

function verifyOutput(
  template: JsonValue | undefined,
  answer: Members,
  values: Known["values"],
  notes: string[],
): void {
  if (template === undefined || answer["status"] === "halted") {
    expect(answer["output"] === undefined, "/output", "was not asked for");
    return;
  }
  const output = resolved(template, values);
  if (output === HIDDEN) notes.push("/output: is made of outputs that are not shown");
  else equal("/output", canonicalJson(output), canonicalJson(answer["output"] ?? null));
}

/** Stands for what cannot be told: an output that the answer does not show. */
const HIDDEN = Symbol("hidden");

type Resolved = JsonValue | typeof HIDDEN;

/** The template with its references replaced (`{"$from": "id#/pointer"}`, `{"$literal": …}`). */
function resolved(template: JsonValue, values: Known["values"]): Resolved {
  if (typeof template !== "object" || template === null) return template;
  if (isList(template)) return whole(template.map((item) => resolved(item, values)));
  const keys = Object.keys(template);
  const [key = ""] = keys;
  if (keys.length === 1 && key === "$literal") return template[key] ?? null;
  if (keys.length === 1 && key === "$from") return referred(String(template[key]), values);
  const items = whole(keys.map((name) => resolved(template[name] ?? null, values)));
  if (items === HIDDEN) return HIDDEN;
  return Object.fromEntries(keys.map((name, index) => [name, items[index] ?? null]));
}

function whole(items: readonly Resolved[]): readonly JsonValue[] | typeof HIDDEN {
  const shown = items.filter((item) => item !== HIDDEN);
  return shown.length === items.length ? shown : HIDDEN;
}

function referred(reference: string, values: Known["values"]): Resolved {
  const hash = reference.indexOf("#");
  const id = reference.slice(0, hash);
  const root = values.get(id);
  expect(hash > 0 && values.has(id), "/steps", `refer to ${reference}, which is no earlier step`);
  if (root === undefined) return HIDDEN;
  const value = valueAt(root, reference.slice(hash + 1));
  expect(value !== undefined, "/steps", `refer to ${reference}, where there is nothing`);
  return value ?? null;
}

/** JSON Pointer (RFC 6901). */
function valueAt(root: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null) return undefined;
    const isIndex = !isList(value) || /^(?:0|[1-9][0-9]*)$/.test(key);
    if (!isIndex || !Object.hasOwn(value, key)) return undefined;
    value = (value as Members)[key];
  }
  return value;
}

function isFromState(input: JsonValue | undefined): boolean {
  const records = isMembers(input) ? input["records"] : undefined;
  return isMembers(records) && records["from"] === "state" && Object.keys(records).length === 1;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isMembers(value: JsonValue | undefined): value is Members {
  return typeof value === "object" && value !== null && !isList(value);
}

function parsed(bytes: Uint8Array, file: string): JsonValue {
  try {
    return JSON.parse(textOf(bytes) ?? "") as JsonValue;
  } catch (cause) {
    throw new VerifyError({ file, field: "json", message: "is not JSON" }, { cause });
  }
}

function membersOf(value: JsonValue | undefined, field: string): Members {
  if (isMembers(value)) return value;
  throw new VerifyError({ file: FILE, field, message: "is no object" });
}

function listOf(value: JsonValue | undefined, field: string, file = FILE): readonly JsonValue[] {
  if (value !== undefined && isList(value)) return value;
  throw new VerifyError({ file, field, message: "is no list" });
}

const FILE = "composition";

function text(members: Members, key: string, at: string, form: RegExp): string {
  const value = members[key];
  if (typeof value === "string" && form.test(value)) return value;
  throw new VerifyError({
    file: FILE,
    field: `${at}/${key}`,
    message: "has another form than specified",
  });
}

function hashOf(value: JsonValue, hashing: Hashing): string {
  return hashing.sha256Hex(utf8(canonicalJson(value)));
}

function expect(condition: boolean, field: string, message: string): void {
  check(condition, { file: FILE, field, message });
}

function equal(field: string, expected: string, found: JsonValue | undefined): void {
  const shown = typeof found === "string" ? found : JSON.stringify(found ?? null);
  const finding = { file: FILE, field, message: "does not follow", expected, found: shown };
  check(found === expected, finding);
}
