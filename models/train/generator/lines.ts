/**
 * Classification of many short texts at once: numbered lines, a label for each. The labels stand in the
 * prompt once, so that one sample decides ten times as much as a text with one question.
 */
import { type AnswerValue, Label, NumberLiteral } from "./answer.ts";
import type { GeneratorData } from "./data-files.ts";
import { capital } from "./names.ts";
import {
  type Extraction,
  objectSchema,
  objectValue,
  type Property,
  type Schema,
} from "./properties.ts";
import type { Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";

/** A label, the properties that ask for it, and texts that have it. */
interface Kind {
  readonly names: readonly string[];
  readonly properties: readonly string[];
  readonly write: () => string;
}

export function byLine(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const kinds = drawKinds(renderer, data);
  const spaced = rng.chance(0.4);
  const labels = kinds.map(({ names }) => {
    const name = rng.chance(0.6) ? (names[0] ?? "") : rng.pick(names);
    return spaced ? capital(name.replaceAll("_", " ")) : name;
  });
  const drawn = Array.from({ length: rng.int(3, 11) }, () => {
    const i = rng.int(0, kinds.length - 1);
    return { text: kinds[i]?.write() ?? "", label: new Label(labels[i] ?? "") };
  });
  const lines = [...new Map(drawn.map((line) => [line.text, line])).values()];
  const choice = { type: "string", enum: rng.shuffle([...new Set(labels)]) };
  const asked = rng.pick(kinds[0]?.properties ?? ["label"]);
  const list = rng.chance(0.3)
    ? plainLabels(choice, lines)
    : numberedLabels(rng, asked, choice, lines);
  const name = rng.pick(["items", "results", "labels", "lines", "messages", `${asked}s`]);
  const property = { name, ...list, isOptional: false };
  return {
    text: lines.map(({ text }, i) => `${i + 1}. ${text}`).join("\n"),
    schema: objectSchema([property]),
    value: objectValue([property]),
  };
}

/** Two to six labels of one group. */
function drawKinds(renderer: Renderer, data: GeneratorData): Kind[] {
  const { rng } = renderer;
  const source = rng.weighted([
    ["messages", 4],
    ["choices", 4],
    ["lexicon", 4],
  ] as const);
  const all = { messages: ofMessages, choices: ofChoices, lexicon: ofLexicon };
  return rng.sample(all[source](renderer, data), rng.int(2, 6));
}

function ofMessages(renderer: Renderer, { messages }: GeneratorData): Kind[] {
  const { rng } = renderer;
  const groups = [...new Set(messages.map(({ group }) => group))];
  const group = rng.pick(groups);
  return messages
    .filter((one) => one.group === group)
    .map(({ names, properties, texts }) => ({
      names,
      properties,
      write: () => capital(renderer.render(rng.pick(texts), new Map())),
    }));
}

function ofChoices(renderer: Renderer, data: GeneratorData): Kind[] {
  const { rng } = renderer;
  const topical = data.phrases.get("topical") ?? [];
  const worded = [...data.choices.values()].filter(
    ({ name, labels }) =>
      topical.includes(name) && !/^(true|false|\d+)$/.test(labels[0]?.names[0] ?? ""),
  );
  const { labels, properties } = rng.pick(worded);
  return labels.map(({ names, phrases }) => ({
    names,
    properties,
    write: () => capital(renderer.render(rng.pick(phrases), new Map())),
  }));
}

function ofLexicon({ rng }: Renderer, { lexicon }: GeneratorData): Kind[] {
  const own = rng.pick(lexicon.filter(({ group }) => group !== "thing"));
  const { group } = rng.chance(0.75) ? own : rng.pick(lexicon);
  return lexicon
    .filter((one) => one.group === group)
    .map(({ names, properties, words }) => ({
      names,
      properties,
      write: () => rng.sample(words, rng.int(1, 3)).join(" "),
    }));
}

interface Line {
  readonly text: string;
  readonly label: Label;
}

/** Of each item of a list, whose values are drawn apart. */
export const column = (name: string, schema: Schema): Property => ({
  name,
  schema,
  value: null,
  isOptional: false,
});

/** The labels alone. */
export const plainLabels = (
  choice: Schema,
  lines: readonly Line[],
): { readonly schema: Schema; readonly value: AnswerValue } => ({
  schema: { type: "array", items: choice },
  value: lines.map(({ label }) => label),
});

function numberedLabels(
  rng: Rng,
  asked: string,
  choice: Schema,
  lines: readonly Line[],
): { readonly schema: Schema; readonly value: AnswerValue } {
  const number = rng.pick(["id", "nr", "line", "number", "no"].filter((name) => name !== asked));
  return {
    schema: {
      type: "array",
      items: objectSchema([column(number, { type: "integer" }), column(asked, choice)]),
    },
    value: lines.map(
      ({ label }, i) =>
        new Map<string, AnswerValue>([
          [number, new NumberLiteral(String(i + 1))],
          [asked, label],
        ]),
    ),
  };
}
