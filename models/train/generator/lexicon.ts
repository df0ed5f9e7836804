/**
 * Classification by words: a few words of a label among others that decide nothing, in sentences that are
 * never the same twice. What is to be learned is which of the labels is nearest to the words.
 */
import type { GeneratorData, LexiconEntry } from "./data-files.ts";
import { capital } from "./names.ts";
import type { Extraction, Property } from "./properties.ts";
import { asMessage, joinParts, type Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import { choiceOf, isAlike, isOfThem, labelled, type Named } from "./topics.ts";

/** Groups of labels that are asked for most, as often as all others together. */
const USUAL = new Set("valence valence newsroom newsroom desk desk feeling want speed".split(" "));
/** A neutral text has no word of an opinion in it. */
const NEUTRAL: Named = { names: ["neutral", "none", "factual", "objective"] };
const OTHER: Named = { names: ["other", "other", "misc", "general", "none", "unknown"] };

export function byWords(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const { lexicon } = data;
  const usual = lexicon.filter(({ group }) => USUAL.has(group));
  const group = rng.chance(0.4) ? rng.pick(usual).group : rng.pick(lexicon).group;
  const own = rng.pick(lexicon.filter((one) => one.group === group));
  const evidence = rng.sample(own.words, drawCount(rng));
  const others = lexicon.filter((one) => one.group === group && one !== own);
  const near = rng.chance(0.7) || group === "valence";
  const wrong = near ? others : lexicon.filter((one) => !isRelated(one, own, evidence));
  const clear = wrong.filter(({ words }) => evidence.every((word) => !words.includes(word)));
  if (group === "valence" && rng.chance(0.2)) return neutral(renderer, data, others.concat(own));
  const text = written(renderer, data, evidence, own.group);
  if (rng.chance(0.05)) return labelled(renderer, text, OTHER, clear, own.properties);
  const open = rng.chance(0.12) ? [...clear, OTHER] : clear;
  return labelled(renderer, text, own, open, own.properties);
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
    [2, 4],
    [3, 4],
    [4, 2],
    [6, 1],
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
  const parts = rng.chance(0.1) ? [rng.shuffle(evidence).join(rng.pick([" ", ", "]))] : said;
  return joinParts(rng, rng.chance(0.35) ? asMessage(renderer, data, parts) : parts);
}
