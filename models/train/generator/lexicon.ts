/**
 * Classification by words: a few words of a label among others that decide nothing, in sentences that are
 * never the same twice. What is to be learned is which of the labels is nearest to the words.
 */
import { type AnswerValue, Label } from "./answer.ts";
import type { GeneratorData, LexiconEntry } from "./data-files.ts";
import { column, plainLabels } from "./lines.ts";
import { capital } from "./names.ts";
import { type Extraction, objectSchema, objectValue, type Property } from "./properties.ts";
import { asMessage, joinParts, type Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import { isScored, scored } from "./scores.ts";
import { choiceOf, isAlike, isOfThem, labelled, type Named } from "./topics.ts";

/** Groups of labels that are asked for most. */
const USUAL = (
  "valence valence valence newsroom newsroom newsroom newsroom desk desk desk feeling want want " +
  "speed shopfloor ticket purse"
).split(" ");
/** A neutral text has no word of an opinion in it. */
const NEUTRAL: Named = { names: ["neutral", "none", "factual", "objective"] };
const OTHER: Named = { names: ["other", "other", "misc", "general", "none", "unknown"] };

export function byWords(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const { lexicon } = data;
  const group = rng.chance(0.6) ? rng.pick(USUAL) : rng.pick(lexicon).group;
  if (rng.chance(0.3)) return rows(renderer, data, group);
  const own = rng.pick(lexicon.filter((one) => one.group === group));
  const evidence = rng.sample(own.words, drawCount(rng));
  const others = lexicon.filter((one) => one.group === group && one !== own);
  const near = rng.chance(0.8) || group === "valence";
  const wrong = near ? others : lexicon.filter((one) => !isRelated(one, own, evidence));
  const clear = wrong.filter(({ words }) => evidence.every((word) => !words.includes(word)));
  if (group === "valence" && rng.chance(0.2)) return neutral(renderer, data, others.concat(own));
  const text = written(renderer, data, evidence, own.group);
  if (isScored(group) && rng.chance(0.18)) return scored(rng, text, own);
  if (rng.chance(0.05)) return labelled(renderer, text, OTHER, clear, own.properties);
  const open = rng.chance(0.12) ? [...clear, OTHER] : clear;
  return labelled(renderer, text, own, open, own.properties);
}

/** Several lines, each with a label of its own. */
function rows(renderer: Renderer, data: GeneratorData, group: string): Extraction {
  const { rng } = renderer;
  const all = data.lexicon.filter((one) => one.group === group);
  const shown = rng.sample(all, rng.int(2, 6));
  const labels = shown.map(({ names }) => (rng.chance(0.6) ? (names[0] ?? "") : rng.pick(names)));
  const lines = Array.from({ length: rng.int(2, 8) }, () => {
    const i = rng.int(0, shown.length - 1);
    const text = rng.sample(shown[i]?.words ?? [], rng.int(1, 3)).join(" ");
    return { text, label: new Label(labels[i] ?? "") };
  });
  const [text, label] = [
    rng.pick(["text", "item", "line", "comment", "entry"]),
    rng.pick(all[0]?.properties ?? []),
  ];
  const choice = { type: "string", enum: [...new Set(labels)] };
  const name = rng.pick(["items", "rows", "results", "entries", "labels", "lines"]);
  const bullet = rng.pick(["", "- ", "* ", "#"]);
  const printed = lines.map((line, i) => (bullet === "#" ? `${i + 1}. ` : bullet) + line.text);
  const list = rng.chance(0.2)
    ? plainLabels(choice, lines)
    : {
        schema: {
          type: "array",
          items: objectSchema([column(text, { type: "string" }), column(label, choice)]),
        },
        value: lines.map(
          (line) =>
            new Map<string, AnswerValue>([
              [text, line.text],
              [label, line.label],
            ]),
        ),
      };
  const property = { name, ...list, isOptional: false };
  return {
    text: printed.join("\n"),
    schema: objectSchema([property]),
    value: objectValue([property]),
  };
}

/** Groups of labels that a document is given besides what it says. */
const GIVEN = new Set("desk speed speed shopfloor purse feeling valence danger ticket".split(" "));

/** A sentence of a document that decides one of its labels. */
export function remark(
  renderer: Renderer,
  data: GeneratorData,
): { readonly text: string; readonly property: Property } {
  const { rng } = renderer;
  const own = rng.pick(data.lexicon.filter(({ group }) => GIVEN.has(group)));
  const others = data.lexicon.filter((one) => one.group === own.group && one !== own);
  const evidence = rng.sample(own.words, rng.int(2, 4));
  const text = written(renderer, data, evidence, own.group);
  const shown = [own, ...rng.sample(others, rng.int(1, 5))];
  return { text, property: choiceOf(renderer, rng.pick(own.properties), shown) };
}

/** Words that judge nothing. */
function neutral(
  renderer: Renderer,
  data: GeneratorData,
  opinions: readonly LexiconEntry[],
): Extraction {
  const { rng } = renderer;
  const judging = new Set(opinions.flatMap(({ words }) => words));
  const thing = rng.pick(data.lexicon.filter(({ group }) => group === "thing"));
  const words = thing.words.filter((word) => !judging.has(word));
  const text = written(renderer, data, rng.sample(words, drawCount(rng)), thing.group);
  return labelled(renderer, text, NEUTRAL, opinions, opinions[0]?.properties);
}

const drawCount = (rng: Rng): number =>
  rng.weighted([
    [1, 2],
    [2, 3],
    [3, 4],
    [5, 3],
    [8, 3],
  ]);

/** Whether a label of another group could be right too. */
const isRelated = (one: LexiconEntry, own: LexiconEntry, evidence: readonly string[]): boolean =>
  isAlike(one, own) ||
  one.words.some((word) => evidence.includes(word)) ||
  own.words.filter((word) => one.words.includes(word)).length > 2 ||
  isOfThem(one.names, own.words) ||
  isOfThem(own.names, one.words);

/** Sentences that hold all of the words, each `%` of a frame one or two of them. */
function written(
  renderer: Renderer,
  data: GeneratorData,
  evidence: readonly string[],
  group: string,
): string {
  const { rng } = renderer;
  const own = data.phrases.get(`words_${group}`);
  const frames = own ?? data.phrases.get("words") ?? [];
  const left = [...evidence];
  const said: string[] = [];
  while (left.length > 0) {
    const about = own === undefined && rng.chance(0.3);
    const frame = renderer.render(
      rng.pick(about ? (data.phrases.get("about") ?? []) : frames),
      new Map(),
    );
    const filled = frame.replaceAll("%", () => left.pop() ?? rng.pick(evidence));
    said.push(rng.chance(0.9) ? capital(filled) : filled);
  }
  const parts = rng.chance(0.35) ? [rng.shuffle(evidence).join(rng.pick([" ", ", "]))] : said;
  return joinParts(rng, rng.chance(0.35) ? asMessage(renderer, data, parts) : parts);
}
