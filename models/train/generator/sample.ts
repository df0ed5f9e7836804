/** One training sample: what the model reads, and what it should answer. */
import { printSketch } from "../../../src/runtime/sketch.ts";
import { type Piece, printAnswer } from "./answer.ts";
import { fromCase, judgedCase } from "./cases.ts";
import { classify } from "./classify.ts";
import { type Conversation, chat, toolCall } from "./converse.ts";
import type { GeneratorData } from "./data-files.ts";
import { extract } from "./extract.ts";
import { byGloss } from "./glosses.ts";
import { grounded } from "./grounded.ts";
import { byAspects } from "./judged.ts";
import { labelled } from "./labelled.ts";
import { byWords } from "./lexicon.ts";
import { byLine } from "./lines.ts";
import { measures } from "./measures.ts";
import { byNearness } from "./nearness.ts";
import type { Extraction } from "./properties.ts";
import { records } from "./records.ts";
import { Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import { roles } from "./roles.ts";
import { byMessage, bySubject } from "./topics.ts";
import { type Decisive, type Value, Values } from "./values.ts";

export const TASKS = ["extract", "classify", "tool", "grounded", "chat"] as const;
export type Task = (typeof TASKS)[number];

export interface Sample extends Conversation {
  readonly task: Task;
  /** Null without one. */
  readonly schema: unknown;
  /** The values that the text was made with. */
  readonly drawn: readonly Value[];
  /** What in it decides labels and booleans. */
  readonly decisive: readonly Decisive[];
}

export interface SampleOptions {
  /** Shares of the tasks; they need not add up to 1. */
  readonly shares: readonly (readonly [Task, number])[];
  /** Domains whose templates are used. */
  readonly domains: readonly string[];
}

/** Of extraction: whole cases, templates and documents, and texts that teach one thing each. */
const KINDS_OF_EXTRACTION = [
  ["case", 0.95],
  ["extract", 0.17],
  ["labelled", 0.02],
  ["records", 0.07],
  ["roles", 0.02],
  ["measures", 0.03],
] as const;
/** Of classification: where any few subjects or kinds of messages make a set of labels. */
const KINDS_OF_LABELS = [
  ["case", 2.2],
  ["choice", 0.07],
  ["subject", 0.03],
  ["message", 0.3],
  ["aspects", 0.22],
  ["words", 0.03],
  ["lines", 0.06],
  ["nearness", 0.12],
  ["glosses", 0.4],
] as const;

export const SHARES: SampleOptions["shares"] = [
  ["extract", 0.48],
  ["classify", 0.45],
  ["tool", 0.03],
  ["grounded", 0.025],
  ["chat", 0.015],
];

/**
 * Characters of a text that is always kept; of longer ones the fewer the longer they are. What people send is
 * mostly short, and two short texts teach more than a long one.
 */
const USUAL_LENGTH: Partial<Record<Task, number>> = { extract: 150, classify: 80 };

export function drawSample(rng: Rng, data: GeneratorData, options: SampleOptions): Sample {
  const task = rng.weighted(options.shares);
  for (;;) {
    const values = new Values(rng, data.words);
    const renderer = new Renderer(rng, values, data);
    const sample = drawTask(renderer, data, task, options);
    const usual = USUAL_LENGTH[task] ?? sample.user.length;
    if (!rng.chance((usual / sample.user.length) ** 1.5)) continue;
    return { ...sample, drawn: values.drawn, decisive: values.decisive };
  }
}

function drawTask(
  renderer: Renderer,
  data: GeneratorData,
  task: Task,
  options: SampleOptions,
): Omit<Sample, "drawn" | "decisive"> {
  const { rng } = renderer;
  switch (task) {
    case "extract":
      return withSchema(rng, data, task, drawExtraction(renderer, data, options));
    case "classify": {
      const draw = {
        case: judgedCase,
        choice: classify,
        subject: bySubject,
        message: byMessage,
        aspects: byAspects,
        words: byWords,
        lines: byLine,
        nearness: byNearness,
        glosses: byGloss,
      };
      return withSchema(rng, data, task, draw[rng.weighted(KINDS_OF_LABELS)](renderer, data));
    }
    case "tool":
      return { task, schema: null, ...toolCall(renderer, data) };
    case "grounded":
      return { task, schema: null, ...grounded(renderer, data) };
    case "chat":
      return { task, schema: null, ...chat(renderer, data) };
  }
}

function drawExtraction(
  renderer: Renderer,
  data: GeneratorData,
  { domains }: SampleOptions,
): Extraction {
  switch (renderer.rng.weighted(KINDS_OF_EXTRACTION)) {
    case "case":
      return fromCase(renderer, data);
    case "extract":
      return extract(renderer, data, domains);
    case "labelled":
      return labelled(renderer, data);
    case "records":
      return records(renderer, data);
    case "roles":
      return roles(renderer, data);
    case "measures":
      return measures(renderer, data);
  }
}

function withSchema(
  rng: Rng,
  data: GeneratorData,
  task: "extract" | "classify",
  { text, schema, value }: Extraction,
): Omit<Sample, "drawn" | "decisive"> {
  const sketch = printSketch(schema);
  const extra = rng.chance(0.1) ? `\n${rng.pick(data.phrases.get("system") ?? [])}` : "";
  const user = instructed(rng, data, task, text);
  const answer: readonly Piece[] = printAnswer(value);
  return { task, schema, system: sketch + extra, tools: [], user, answer };
}

/** Some users say what they want, most just send the text. */
function instructed(rng: Rng, data: GeneratorData, task: Task, text: string): string {
  const share = task === "classify" ? 0.2 : 0.22;
  if (!rng.chance(share)) return text;
  const line = rng.pick(data.phrases.get(`${task}_instruction`) ?? []);
  const instruction = new Renderer(rng, new Values(rng, data.words), data).alternatives(line);
  if (rng.chance(0.12)) return `${text}\n\n${instruction}`;
  return instruction + rng.pick([" ", "\n", "\n\n"]) + (rng.chance(0.2) ? `"${text}"` : text);
}
