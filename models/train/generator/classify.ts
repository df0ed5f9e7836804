/** Samples of classification: enum labels, booleans, scores in a range, several labels at once. */
import { type AnswerValue, Label } from "./answer.ts";
import type { ChoiceDefinition, GeneratorData } from "./data-files.ts";
import { capital } from "./names.ts";
import {
  drawLabels,
  type Extraction,
  isFigure,
  labelProperty,
  objectSchema,
  objectValue,
  type Property,
  type Schema,
} from "./properties.ts";
import { asMessage, joinParts, type Renderer } from "./render.ts";

const OPAQUE_LABELS = [
  ["A", "B", "C", "D", "E"],
  ["1", "2", "3", "4", "5"],
  ["X", "Y", "Z", "W", "V"],
];

/** What is asked for most often. */
const USUAL_CHOICES = new Set(
  (
    "sentiment news_topic department urgency language spam intent stars emotion satisfaction " +
    "urgency_score is_urgent is_positive is_complaint"
  ).split(" "),
);

export function classify(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const topical = [...data.choices.values()].filter(({ name }) => isTopical(data, name));
  const usual = topical.filter(({ name }) => USUAL_CHOICES.has(name));
  const choice = rng.pick(weightedByPhrases(rng.chance(0.6) ? usual : topical));
  const properties =
    rng.chance(0.08) && choice.labels.length >= 3 ? null : single(renderer, choice);
  const made = properties ?? several(renderer, choice);
  const parts = [...made.parts];
  const all = [...made.properties];
  if (rng.chance(0.2)) {
    const second = rng.pick(topical.filter(({ name }) => name !== choice.name));
    const other = single(renderer, second);
    // Two moods in one text would contradict each other.
    if (
      !/sentiment|score|praise/.test(`${choice.name} ${second.name}`) &&
      !shareNames(all, other.properties)
    ) {
      parts.splice(rng.int(0, parts.length), 0, ...other.parts);
      all.splice(rng.int(0, all.length), 0, ...other.properties);
    }
  }
  const said = parts.map(sentence);
  // What is asked of some texts a greeting or a signature would decide.
  const isBare = all.length > 1 || (data.phrases.get("bare") ?? []).includes(choice.name);
  return {
    text: joinParts(rng, isBare ? said : asMessage(renderer, data, said)),
    schema: objectSchema(all),
    value: objectValue(all),
  };
}

interface Part {
  readonly parts: readonly string[];
  readonly properties: readonly Property[];
}

/** Choices whose phrases stand on their own; those of extraction are parts of a sentence. */
const isTopical = (data: GeneratorData, name: string): boolean =>
  (data.phrases.get("topical") ?? []).includes(name);

/** A sentence or two more of a document, and the label that they decide. */
export function choiceRemark(
  renderer: Renderer,
  data: GeneratorData,
): { readonly text: string; readonly property: Property } {
  const { rng } = renderer;
  const said = [...data.choices.values()].filter(({ isSaidInSentences }) => isSaidInSentences);
  const { parts, properties } = single(renderer, rng.pick(said));
  const [property] = properties;
  if (property === undefined) throw new Error("a choice has a property");
  return { text: parts.slice(0, rng.int(1, 2)).join(" "), property };
}

/** Choices with more phrases teach more, so they are drawn more often. */
function weightedByPhrases(choices: readonly ChoiceDefinition[]): ChoiceDefinition[] {
  return choices.flatMap((choice) => {
    const phrases = choice.labels.reduce((sum, { phrases: all }) => sum + all.length, 0);
    return Array.from({ length: Math.max(1, Math.round(Math.sqrt(phrases))) }, () => choice);
  });
}

const shareNames = (a: readonly Property[], b: readonly Property[]): boolean =>
  a.some(({ name }) => b.some((other) => other.name === name));

function sentence(text: string): string {
  return capital(/[.!?)"…]$/.test(text) ? text : `${text}.`);
}

function phrasesOf(renderer: Renderer, choice: ChoiceDefinition, label: string): string[] {
  const { rng } = renderer;
  const found = choice.labels.find(({ names }) => names[0] === label);
  const count = rng.weighted([
    [1, 4],
    [2, 4],
    [3, 2],
    [4, 1],
  ]);
  const phrases = rng.sample(found?.phrases ?? [], count);
  return phrases.map((phrase) => renderer.render(phrase, new Map()));
}

function single(renderer: Renderer, choice: ChoiceDefinition): Part {
  const { rng } = renderer;
  const label = rng.pick(choice.labels).names[0] ?? "";
  const parts = phrasesOf(renderer, choice, label);
  const name = rng.pick(choice.properties);
  const plain = (share: number): Part => {
    const property = labelProperty(rng, name, choice, label);
    const note =
      rng.chance(share) && choice.descriptions.length > 0
        ? { description: rng.pick(choice.descriptions) }
        : {};
    return { parts, properties: [{ ...property, schema: { ...property.schema, ...note } }] };
  };
  if (label === "true" || label === "false") return plain(0.25);
  if (isFigure(label)) return plain(0.15);
  const draw = rng.next();
  if (draw < 0.1) return { parts, properties: [asBoolean(renderer, choice, label)] };
  if (draw < 0.16) return { parts, properties: [withLegend(renderer, choice, name, label)] };
  return plain(0.06);
}

const bare = (name: string, schema: Schema, value: AnswerValue): Property => ({
  name,
  schema,
  value,
  isOptional: false,
});

/** `is_LABEL`: whether it is this label, or another one. */
function asBoolean({ rng }: Renderer, choice: ChoiceDefinition, label: string): Property {
  const asked = rng.chance(0.5) ? label : (rng.pick(choice.labels).names[0] ?? "");
  const names = choice.labels.find((one) => one.names[0] === asked)?.names ?? [asked];
  const word = rng.pick(names).toLowerCase();
  const name = rng.pick([`is_${word}`, `is_${word}`, word, `about_${word}`]);
  return bare(name, { type: "boolean" }, asked === label);
}

/** Labels that only the description explains: `A = complaint, B = question`. */
function withLegend(
  { rng }: Renderer,
  choice: ChoiceDefinition,
  name: string,
  label: string,
): Property {
  const { names, own } = drawLabels(rng, choice, [label]);
  const letters = rng.pick(OPAQUE_LABELS).slice(0, names.length);
  const shown = names.slice(0, letters.length);
  const right = own[0] ?? "";
  if (!shown.includes(right)) shown[0] = right;
  const legend = shown.map((word, i) => `${letters[i]} = ${word.replaceAll("_", " ")}`).join(", ");
  const answer = letters[shown.indexOf(right)] ?? "";
  return bare(name, { type: "string", enum: letters, description: legend }, new Label(answer));
}

/** A list of labels, in the order in which the text brings them. */
function several(renderer: Renderer, choice: ChoiceDefinition): Part {
  const { rng } = renderer;
  const labels = rng
    .sample(
      choice.labels,
      rng.weighted([
        [1, 1],
        [2, 4],
        [3, 1],
      ]),
    )
    .map(({ names }) => names[0] ?? "");
  const { names, own } = drawLabels(rng, choice, labels);
  const parts = labels.map((label) => phrasesOf(renderer, choice, label)[0] ?? "");
  const name = rng.pick([
    "labels",
    "tags",
    "topics",
    "categories",
    ...choice.properties.map((word) => `${word}s`),
  ]);
  const schema = { type: "array", items: { type: "string", enum: names } };
  return {
    parts,
    properties: [
      bare(
        name,
        schema,
        own.map((word) => new Label(word)),
      ),
    ],
  };
}
