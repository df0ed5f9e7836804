/**
 * Runs processes one after the other and chains their hashes. Pure: the same request gives the
 * same bytes from the API and offline. The formulas are frozen in FORMAT.md.
 */
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { forEachReference, resolveReferences, type Sources } from "./compose-reference.ts";
import {
  checkShape,
  type JsonObject,
  type ProcessEngine,
  type ProcessRun,
  runProcess,
} from "./definition.ts";
import { ProcessInputError } from "./input-error.ts";
import { checkPlainJson } from "./plain-json.ts";
import { parsePointer, printPointer, resolvePointer } from "./pointer.ts";
import type { Registry } from "./registry.ts";
import { closed } from "./schema-parts.ts";

/** The longest chain that a person can still read. */
const STEPS_MAX = 16;

/** Characters of canonical JSON: one step takes what a whole request may hold (32 MiB). */
const STEP_INPUT_MAX = 33_554_432;

/** All steps together; more than this is a file, not an answer. */
const OUTPUTS_MAX = 67_108_864;

const EXPECTATION = closed({
  pointer: Type.String({ maxLength: 512, pattern: "^(/([^~/]|~0|~1)*)*$" }),
  equals: Type.Union([Type.String(), Type.Integer(), Type.Boolean(), Type.Null()]),
});

const STEP = closed({
  id: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9_-]{0,31}$" })),
  process: Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$" }),
  engine: Type.Optional(Type.String({ pattern: "^[0-9]+\\.[0-9]+\\.[0-9]+$" })),
  input: Type.Object({}),
  expect: Type.Optional(Type.Array(EXPECTATION, { maxItems: 16 })),
});

const COMPOSE_REQUEST = closed({
  input: Type.Optional(Type.Unknown()),
  steps: Type.Array(STEP, { minItems: 1, maxItems: STEPS_MAX }),
  output: Type.Optional(Type.Unknown()),
  include: Type.Optional(Type.Enum(["all", "last", "hashes"])),
});

const REQUEST = Compile(COMPOSE_REQUEST);

type Request = Static<typeof COMPOSE_REQUEST>;

export interface Composition {
  /** The whole answer without its receipt. */
  readonly output: JsonObject;
  readonly inputHash: string;
  readonly outputHash: string;
  /** The hash of the last step that ran; also the receipt's `deterministic_hash`. */
  readonly chainHash: string;
  /** `slug@version` of the steps that ran. */
  readonly engines: readonly string[];
}

interface Step {
  readonly index: number;
  readonly id: string;
  readonly engine: ProcessEngine;
  readonly input: JsonValue;
  readonly expect: readonly Static<typeof EXPECTATION>[];
}

interface StepRun {
  readonly step: Step;
  readonly run: ProcessRun;
  readonly previousHash: string;
  readonly stepHash: string;
}

interface Halt {
  readonly step: Step;
  readonly expectation: Static<typeof EXPECTATION>;
  readonly actual: JsonValue | undefined;
}

/**
 * @throws ProcessInputError `invalid_step` before anything runs, or `step_input_invalid` when a
 *   step cannot take what the steps before it made.
 */
export function compose(registry: Registry, body: JsonValue): Composition {
  const { request, steps } = readRequest(registry, body);
  const sources = { values: new Map(), sizes: new Map(), sizeMax: STEP_INPUT_MAX };
  sources.values.set("input", (request.input ?? null) as JsonValue);
  const runs: StepRun[] = [];
  let previousHash = startHash(request, steps);
  let halt: Halt | null = null;
  let outputsLeft = OUTPUTS_MAX;
  for (const step of steps) {
    const run = runStep(step, sources);
    outputsLeft -= canonicalJson(run.output).length;
    if (outputsLeft < 0) {
      const message = `the outputs grow past ${OUTPUTS_MAX} characters`;
      throw new ProcessInputError("output_too_large", `/steps/${step.index}`, message);
    }
    const stepHash = hashOfStep(previousHash, step, run);
    runs.push({ step, run, previousHash, stepHash });
    sources.values.set(step.id, run.output);
    previousHash = stepHash;
    halt = firstUnmet(step, run.output);
    if (halt) break;
  }
  const output = composedOutput(request, runs, halt, sources);
  return {
    output,
    inputHash: sha256Hex(canonicalJson(body)),
    outputHash: sha256Hex(canonicalJson(output)),
    chainHash: previousHash,
    engines: runs.map(({ run }) => run.engine),
  };
}

/** Everything that can be wrong without running a step is found here. */
function readRequest(
  registry: Registry,
  body: JsonValue,
): { readonly request: Request; readonly steps: readonly Step[] } {
  checkPlainJson(body);
  const request = asInvalidStep(() => checkShape(REQUEST, body));
  const known = new Set(["input"]);
  const steps = request.steps.map((source, index): Step => {
    const at = `/steps/${index}`;
    const id = source.id ?? `s${index}`;
    const input = source.input as JsonValue;
    if (known.has(id))
      throw new ProcessInputError(
        "invalid_step",
        `${at}/id`,
        `${id} is already the name of a value`,
      );
    const pointer = source.engine === undefined ? `${at}/process` : `${at}/engine`;
    const engine = asInvalidStep(() => registry.resolve(source.process, source.engine, pointer));
    const references = checkReferences(input, ["steps", index, "input"], known);
    // What depends on no earlier step can be checked at once.
    if (references === 0) asInvalidStep(() => engine.check(input), `${at}/input`);
    known.add(id);
    return { index, id, engine, input, expect: source.expect ?? [] };
  });
  if (request.output !== undefined) checkReferences(request.output as JsonValue, ["output"], known);
  return { request, steps };
}

/** @returns how many references there are, all of them to values that exist by then. */
function checkReferences(
  template: JsonValue,
  path: readonly (string | number)[],
  known: ReadonlySet<string>,
): number {
  let count = 0;
  forEachReference(template, path, (id, at) => {
    count += 1;
    if (known.has(id)) return;
    const message = `refers to ${id || "nothing"}, which is no earlier step`;
    throw new ProcessInputError("invalid_step", printPointer([...at, "$from"]), message);
  });
  return count;
}

/** Whatever is wrong before the first step runs has one code. */
function asInvalidStep<T>(check: () => T, prefix = ""): T {
  return withCode("invalid_step", prefix, check);
}

function withCode<T>(
  code: "invalid_step" | "step_input_invalid",
  prefix: string,
  action: () => T,
): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ProcessInputError) throw error.within(prefix, code);
    throw error;
  }
}

function runStep(step: Step, sources: Sources): ProcessRun {
  const input = resolveReferences(step.input, ["steps", step.index, "input"], sources);
  return withCode("step_input_invalid", `/steps/${step.index}/input`, () =>
    runProcess(step.engine, input),
  );
}

/** H0: what was asked for, before anything ran. */
function startHash(request: Request, steps: readonly Step[]): string {
  const asked = {
    input: (request.input ?? null) as JsonValue,
    steps: steps.map(({ id, engine, input }) => ({ id, process: engine.slug, input })),
  };
  return sha256Hex(`svc-compose/1\n${canonicalJson(asked)}`);
}

function hashOfStep(previousHash: string, step: Step, run: ProcessRun): string {
  const parts = [
    previousHash,
    String(step.index),
    step.id,
    run.engine,
    run.inputHash,
    run.outputHash,
  ];
  return sha256Hex(parts.join("\n"));
}

function firstUnmet(step: Step, output: JsonValue): Halt | null {
  for (const expectation of step.expect) {
    const tokens = parsePointer(expectation.pointer) ?? [];
    const actual = resolvePointer(output, tokens);
    if (actual !== expectation.equals) return { step, expectation, actual };
  }
  return null;
}

function composedOutput(
  request: Request,
  runs: readonly StepRun[],
  halt: Halt | null,
  sources: Sources,
): JsonObject {
  const include = request.include ?? "all";
  const shown = (index: number): boolean =>
    include === "all" || (include === "last" && index === runs.length - 1);
  const template = request.output as JsonValue | undefined;
  return {
    object: "composition",
    status: halt ? "halted" : "completed",
    ...(halt ? haltOutput(halt) : {}),
    steps: runs.map(({ step, run, previousHash, stepHash }, index) => ({
      index,
      id: step.id,
      process: step.engine.slug,
      engine_version: step.engine.version,
      input_hash: run.inputHash,
      output_hash: run.outputHash,
      prev_hash: previousHash,
      step_hash: stepHash,
      ...(shown(index) ? { output: run.output } : {}),
    })),
    // The template may refer to steps that did not run.
    ...(template === undefined || halt
      ? {}
      : { output: resolveReferences(template, ["output"], sources) }),
    chain_hash: runs.at(-1)?.stepHash ?? "",
  };
}

function haltOutput({ step, expectation, actual }: Halt): JsonObject {
  const scalar = actual === undefined || typeof actual === "object" ? null : actual;
  return {
    halted_at: step.index,
    halted_on: { pointer: expectation.pointer, equals: expectation.equals, actual: scalar },
  };
}
