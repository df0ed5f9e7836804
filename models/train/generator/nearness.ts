/**
 * Classification of any text by what it is nearest to: a word that it says, or a neighbour of its words in
 * the vectors, among words that are far from all of it. Nobody wrote these labels, and so there is no end of them.
 */
import type { GeneratorData } from "./data-files.ts";
import { capital } from "./names.ts";
import type { Extraction } from "./properties.ts";
import { asMessage, joinParts, type Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import { isAlike, labelled, type Named, PROPERTIES } from "./topics.ts";
import { cosine, type Nearness, nearness, unitVectors, type Vector } from "./vectors.ts";

type Word = readonly [string, Vector];

let known: ReadonlyMap<string, Vector> | undefined;

/** The vectors of words that can be labels. */
function vectorsOf(data: GeneratorData): ReadonlyMap<string, Vector> {
  if (known !== undefined) return known;
  const wanted = new Set(data.words.get("anything") ?? []);
  known = new Map([...unitVectors()].filter(([word]) => wanted.has(word)));
  return known;
}

const NAMES = [
  ...PROPERTIES,
  ..."sector shelf queue folder subsystem stream route_to area_of_work component series".split(" "),
];

/** Words that are drawn to find labels among. */
const POOL = 1000;
/** Cosines above which a word is near a text, and below which it is far. */
const NEAR = 0.52;
const FAR = 0.3;

export function byNearness(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  const vectors = vectorsOf(data);
  const all: readonly Word[] = [...vectors];
  for (;;) {
    values.newDocument();
    const said = drawText(renderer, data);
    const keys = new Set(
      said
        .toLowerCase()
        .match(/[a-z]{3,}/g)
        ?.filter((one) => vectors.has(one)),
    );
    if (keys.size < 2) continue;
    const pool = Array.from({ length: POOL }, () => rng.pick(all)).filter(
      ([one]) => !keys.has(one),
    );
    const heard = [...keys].map((key): Word => [key, vectors.get(key) as Vector]);
    const its = heard.map(([, vector]) => vector);
    const ranked = pool.map((word) => ({ word, ...nearness(word[1], its) }));
    const own = rng.chance(0.25) ? heard : nearest(ranked);
    if (own.length === 0) continue;
    const far = ranked.filter(({ best }) => best < FAR).map(({ word }) => word);
    const isPaired = rng.chance(0.25);
    const named = (words: readonly Word[]): Named => ({
      names: words.map((word) => (isPaired ? paired(rng, word, pool) : word[0])),
    });
    const right = named(rng.sample(own, 3));
    const others = rng
      .sample(far, 12)
      .map((word) => named([word]))
      .filter((one) => !isAlike(one, right));
    if (others.length < 6) continue;
    const parts = rng.chance(0.3) ? asMessage(renderer, data, [said]) : [said];
    return labelled(renderer, joinParts(rng, parts), right, others, NAMES);
  }
}

interface Ranked extends Nearness {
  readonly word: Word;
}

const nearest = (ranked: readonly Ranked[]): readonly Word[] =>
  ranked
    .filter(({ score }) => score > NEAR)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ word }) => word);

/** A word and its neighbour, as labels of two words are: `winter_snow`. */
function paired(rng: Rng, [word, vector]: Word, pool: readonly Word[]): string {
  const some = rng.sample(pool.slice(0, 200), 100);
  const cosines = some.map(([other, its]) => (other === word ? -1 : cosine(vector, its)));
  const [neighbour] = some[cosines.indexOf(Math.max(...cosines))] ?? [word];
  return rng.chance(0.5) ? `${word}_${neighbour}` : `${neighbour}_${word}`;
}

/** Any text that people send: what is written for other kinds of samples. */
function drawText(renderer: Renderer, data: GeneratorData): string {
  const { rng } = renderer;
  const draw = {
    message: () => rng.pick(rng.pick(data.messages).texts),
    judged: () => rng.pick(rng.pick(data.judged).texts).text,
    template: () => rng.pick(rng.pick([...data.templates.values()])),
    fact: () => rng.pick(rng.pick(data.facts).statements),
  };
  const kind = rng.weighted([
    ["message", 4],
    ["judged", 4],
    ["template", 3],
    ["fact", 1],
  ] as const);
  return capital(renderer.render(draw[kind](), new Map()).trim());
}
