/** The schema and the value of a label or a yes or no that a case has (`case-data.ts`). */
import { type AnswerValue, Label, NumberLiteral } from "./answer.ts";
import type { Judgement } from "./case-data.ts";
import type { GeneratorData } from "./data-files.ts";
import { capital, inWords } from "./names.ts";
import { isFigure, nullable, type PropertyContext, type Schema } from "./properties.ts";
import type { Rng } from "./rng.ts";
import { strangers } from "./strangers.ts";

/** How often labels of other sets stand among a set's own. */
const STRANGERS_SHARE = 0.35;

/** Mostly all labels, in any order; now and then under other names, or with some of other sets. `text` is the case's. */
export function labelsOf(
  { rng, data }: PropertyContext,
  { labels, values, names }: Judgement,
  text: string,
): { readonly schema: Schema; readonly print: (value: string | boolean | null) => AnswerValue } {
  const isNullable = values.includes(null) || rng.chance(0.08);
  const typeOf = (schema: Schema) => (isNullable ? nullable(schema) : schema);
  if (labels === null) {
    return { schema: typeOf({ type: "boolean" }), print: (value) => value as boolean | null };
  }
  if (labels.every(isFigure) && rng.chance(0.6)) {
    const numbers = labels.map(Number);
    const bounds = { minimum: Math.min(...numbers), maximum: Math.max(...numbers) };
    return {
      schema: typeOf({ type: "integer", ...bounds }),
      print: (value) => (value === null ? null : new NumberLiteral(String(value))),
    };
  }
  const style = rng.weighted([
    ["as-is", 17],
    ["upper", 1],
    ["title", 1],
    ["other", 1],
  ] as const);
  const called = rng.chance(0.35) ? otherNames(rng, data, labels) : new Map<string, string>();
  const print = (written: string): string => {
    const label = called.get(written) ?? written;
    if (style === "upper") return label.toUpperCase();
    if (style === "title") return capital(label);
    if (style === "other") {
      return label.includes("_") ? label.replaceAll("_", " ") : label.replaceAll(" ", "_");
    }
    return label;
  };
  const isWanted = (label: string) => values.includes(label);
  const others = labels.filter((label) => !isWanted(label));
  const added = rng.chance(STRANGERS_SHARE) ? othersFrom(rng, data, text, { values, names }) : [];
  const all = [...labels, ...added.map((label) => inStyleOf(labels[0] ?? "", labels, label))];
  const least = added.length > 0 ? 0 : 1;
  const dropped = new Set(
    others.length > least && rng.chance(added.length > 0 ? 0.7 : 0.3)
      ? rng.sample(others, rng.int(1, others.length - least))
      : [],
  );
  const kept = all.filter((label) => !dropped.has(label));
  const printed = (rng.chance(0.85) ? rng.shuffle(kept) : kept).map(print);
  return {
    schema: typeOf({ type: "string", enum: [...new Set(printed)] }),
    print: (value) => (value === null ? null : new Label(print(String(value)))),
  };
}

/** Whether one of the labels is the right one, instead of which one is: `is_worried` of `mood : worried | calm`. */
export function asYesOrNo(rng: Rng, judgement: Judgement): Judgement {
  const { labels, values, names } = judgement;
  const [right] = values;
  if (labels === null || typeof right !== "string") return judgement;
  const asked = rng.chance(0.5) ? right : rng.pick(labels);
  const word = inWords(asked).replaceAll(" ", "_");
  if (!/^[a-z]{3}[a-z_]*$/.test(word)) return judgement;
  const own = [`is_${word}`, word, `${names[0]}_${word}`, `${rng.pick(names)}_is_${word}`];
  return { ...judgement, names: own, labels: null, values: [asked === right] };
}

/** Of one text's label, wrong ones that other texts have under a name of it; none of a list's. */
function othersFrom(
  rng: Rng,
  { labelPools }: GeneratorData,
  text: string,
  { values, names }: Pick<Judgement, "values" | "names">,
): string[] {
  const [right] = values;
  const pools = names.flatMap((name) => labelPools.get(name) ?? []);
  if (values.length > 1 || typeof right !== "string" || pools.length === 0) return [];
  return strangers(rng, pools, text, right, rng.int(1, 4)).map(inWords);
}

/** For some labels of a set others that say the same, as `labels.txt` has them. */
export function otherNames(
  rng: Rng,
  { labels: known }: Pick<GeneratorData, "labels">,
  labels: readonly string[],
): Map<string, string> {
  const renamed = new Map<string, string>();
  const alike = (label: string) => known.get(inWords(label)) ?? [];
  for (const label of labels) {
    const others = alike(label);
    if (others.length === 0 || rng.chance(0.3)) continue;
    const other = rng.pick(others);
    // Not if the name, or one that says the same, is another label's.
    const isClear = labels.every(
      (one) =>
        one === label ||
        (![inWords(one), ...alike(one)].includes(other) && !others.includes(inWords(one))),
    );
    if (isClear) renamed.set(label, inStyleOf(label, labels, other));
  }
  return renamed;
}

function inStyleOf(label: string, labels: readonly string[], other: string): string {
  const isSnake = labels.some((one) => one.includes("_"));
  const words = isSnake ? other.replaceAll(" ", "_") : other;
  if (label.length > 1 && label === label.toUpperCase()) return words.toUpperCase();
  return /^\p{Lu}/u.test(label) ? capital(words) : words;
}
