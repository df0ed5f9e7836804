/**
 * Classification by subject or by kind of message: any few make a set of labels, so that a label has to be
 * read and cannot be known by the company it keeps.
 */
import { Label } from "./answer.ts";
import type { GeneratorData, SubjectData } from "./data-files.ts";
import { capital } from "./names.ts";
import { type Extraction, objectSchema, objectValue, type Property } from "./properties.ts";
import { asMessage, joinParts, type Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import { isScored, scored } from "./scores.ts";

export const PROPERTIES = (
  "topic category label class section subject genre type kind area department team intent about " +
  "theme field tag group result"
).split(" ");

export function bySubject(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng } = renderer;
  // A subject with many words is a wide one, and asked for more often.
  const own = rng.weighted(data.subjects.map((one) => [one, one.words.length] as const));
  const count = rng.weighted([
    [1, 4],
    [2, 4],
    [3, 2],
    [4, 1],
  ]);
  const said = Array.from({ length: count }, () => about(renderer, data, own.words));
  const text = joinParts(rng, asMessage(renderer, data, said));
  const others = data.subjects.filter((one) => isWide(one) === isWide(own) && !isAlike(one, own));
  return labelled(renderer, text, own, others);
}

/** A message, and mostly labels of its own group. */
export function byMessage(renderer: Renderer, data: GeneratorData): Extraction {
  const { messages } = data;
  const { rng, values } = renderer;
  values.newDocument();
  const named = rng.weighted([
    [rng.pick(messages).group, 4],
    [rng.pick(messages.filter(({ marks }) => marks.isUsual)).group, 2.5],
    [rng.pick(messages.filter(({ marks }) => marks.isLong)).group, 2],
    [rng.pick(messages.filter(isYesOrNo)).group, 1.5],
  ]);
  const own = rng.pick(messages.filter((one) => one.group === named));
  const isNear = !own.marks.isOpen || rng.chance(0.8);
  const others = messages.filter((one) =>
    isNear ? one !== own && one.group === own.group : one.marks.isOpen && !isAlike(one, own),
  );
  const count = rng.weighted([
    [1, 4],
    [2, 4],
    [3, 2],
    [4, 1],
  ]);
  const drawn = rng.sample(own.texts, count);
  const isLong = drawn.join(" ").length > 160;
  const said = (isLong ? drawn.slice(0, rng.int(1, 2)) : drawn)
    .map((text) => capital(renderer.render(text, new Map())))
    .map((one, i, all) => (rng.chance(i === all.length - 1 ? 0.8 : 0.94) ? ended(one) : one));
  // What is asked of some texts a greeting or a signature would decide.
  const isBare = (data.phrases.get("bare") ?? []).includes(named);
  const text = joinParts(rng, isBare ? said : asMessage(renderer, data, said));
  if (isYesOrNo(own) && rng.chance(0.85)) return yesNoOf(rng, text, own);
  if (isScored(own.group) && rng.chance(0.15)) return scored(rng, text, own);
  return labelled(renderer, text, own, others, own.properties);
}

/** Of a group that has no labels but these: whether a text has some property. */
const isYesOrNo = ({ names }: Named): boolean => names[0] === "yes" || names[0] === "no";

const decided = (name: string, { names }: Named): Property => ({
  name,
  schema: { type: "boolean" },
  value: names[0] === "yes",
  isOptional: false,
});

function yesNoOf(rng: Rng, text: string, own: GeneratorData["messages"][number]): Extraction {
  const names = rng.sample([...new Set(own.properties)], rng.int(1, 2));
  const asked = names.map((name) => decided(name, own));
  return { text, schema: objectSchema(asked), value: objectValue(asked) };
}

/** A sentence or two of a document that decide one of its labels, or a yes or no. */
export function messageRemark(
  renderer: Renderer,
  { messages }: GeneratorData,
): { readonly text: string; readonly property: Property } {
  const { rng } = renderer;
  const isYesNo = rng.chance(0.35);
  const given = messages.filter((one) => one.marks.isGiven && isYesOrNo(one) === isYesNo);
  const { group } = rng.pick(given);
  const all = messages.filter((one) => one.group === group);
  const own = rng.pick(all);
  const texts = rng.sample(own.texts, rng.int(1, 2));
  const text = texts.map((one) => ended(capital(renderer.render(one, new Map())))).join(" ");
  const others = all.filter((one) => one !== own);
  const shown = [own, ...rng.sample(others, rng.int(1, 5))];
  const name = rng.pick(own.properties);
  if (isYesOrNo(own)) return { text, property: decided(name, own) };
  return {
    text,
    property: rng.chance(0.2) ? yesOrNo(renderer, shown) : choiceOf(renderer, name, shown),
  };
}

/** Whether the names of two labels have a word in common, endings aside. */
export function isAlike(a: Named, b: Named): boolean {
  const stems = ({ names }: Named) =>
    new Set(names.flatMap((name) => name.split("_")).map((word) => word.slice(0, 5)));
  return !stems(a).isDisjointFrom(stems(b));
}

/** Whether a name stands among the words. */
export const isOfThem = (names: readonly string[], words: readonly string[]): boolean =>
  names.some((name) => words.includes(name));

const isQuestion = (text: string): boolean =>
  /^(What|Where|When|How|Why|Who|Which|Can|Could|Do|Does|Is|Are|Will|May|Must)\b/.test(text) &&
  !/^(Do not|What an?|How dare|How gross)\b/.test(text);

const ended = (text: string): string =>
  /[.!?]$/.test(text) ? text : `${text}${isQuestion(text) ? "?" : "."}`;

/** Football is one of the sports: labels of both widths would both be right. */
const isWide = ({ words }: SubjectData): boolean => words.length > 20;

export interface Named {
  readonly names: readonly string[];
}

/** One to three questions about a text, each with labels drawn anew, `own` being right. */
export function labelled(
  renderer: Renderer,
  text: string,
  own: Named,
  others: readonly Named[],
  names: readonly string[] = PROPERTIES,
): Extraction {
  const { rng } = renderer;
  const count = rng.weighted([
    [1, 3],
    [2, 3],
    [3, 3],
    [4, 1],
  ]);
  const properties = rng.sample([...new Set(names)], count).map((name) => {
    const shown = [own, ...rng.sample(others, rng.int(1, 6))];
    return rng.chance(0.15) ? yesOrNo(renderer, shown) : choiceOf(renderer, name, shown);
  });
  const asked = properties.filter(
    ({ name }, i) => properties.findIndex((one) => one.name === name) === i,
  );
  return { text, schema: objectSchema(asked), value: objectValue(asked) };
}

/** The first of the labels is the right one. */
export function choiceOf({ rng }: Renderer, name: string, shown: readonly Named[]): Property {
  const style = rng.weighted([
    ["as-is", 6],
    ["title", 3],
    ["upper", 0.4],
    ["spaces", 2],
  ] as const);
  const labels = shown.map(({ names }) => {
    const word = rng.chance(0.6) ? (names[0] ?? "") : rng.pick(names);
    if (style === "upper") return word.toUpperCase();
    if (style === "spaces") return word.replaceAll("_", " ");
    return style === "title" ? capital(word.replaceAll("_", " ")) : word;
  });
  const schema = { type: "string", enum: rng.shuffle([...new Set(labels)]) };
  return { name, schema, value: new Label(labels[0] ?? ""), isOptional: false };
}

/** A sentence with words of a subject; each `%` of a frame is another one. */
function about(renderer: Renderer, data: GeneratorData, words: readonly string[]): string {
  const { rng } = renderer;
  const left = rng.shuffle(words);
  if (rng.chance(0.15)) return capital(left.slice(0, rng.int(1, 4)).join(", "));
  const frame = renderer.render(rng.pick(data.phrases.get("about") ?? []), new Map());
  return capital(frame.replaceAll("%", () => left.pop() ?? rng.pick(words)));
}

function yesOrNo({ rng }: Renderer, shown: readonly Named[]): Property {
  const asked = rng.chance(0.5) ? shown[0] : rng.pick(shown);
  const word = rng.pick(asked?.names ?? []).toLowerCase();
  const name = rng.pick([
    `is_${word}`,
    `is_about_${word}`,
    `about_${word}`,
    `mentions_${word}`,
    `wants_${word}`,
    word,
  ]);
  const note = rng.chance(0.25)
    ? { description: `whether it is about ${word.replaceAll("_", " ")}` }
    : {};
  return {
    name,
    schema: { type: "boolean", ...note },
    value: asked === shown[0],
    isOptional: false,
  };
}
