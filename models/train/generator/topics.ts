/**
 * Classification by subject: any few subjects make a set of labels, so that a label has to be read
 * and cannot be known by the company it keeps.
 */
import { Label } from "./answer.ts";
import type { GeneratorData } from "./data-files.ts";
import type { Extraction } from "./extract.ts";
import { capital } from "./names.ts";
import { objectSchema, objectValue, type Property } from "./properties.ts";
import { joinParts, type Renderer } from "./render.ts";

const PROPERTIES = (
  "topic category label class section subject genre type kind area department team intent about " +
  "theme field tag group result"
).split(" ");

export function bySubject(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng } = renderer;
  const shown = rng.sample(data.subjects, rng.int(2, 6));
  const [own] = shown;
  if (own === undefined) throw new Error("no subjects");
  const count = rng.weighted([
    [1, 4],
    [2, 3],
    [3, 1],
  ]);
  const text = joinParts(
    rng,
    Array.from({ length: count }, () => about(renderer, data, own.words)),
  );
  const style = rng.weighted([
    ["as-is", 6],
    ["title", 3],
    ["upper", 1],
    ["spaces", 2],
  ] as const);
  const labels = shown.map(({ names }) => {
    const name = rng.chance(0.6) ? (names[0] ?? "") : rng.pick(names);
    if (style === "upper") return name.toUpperCase();
    if (style === "spaces") return name.replaceAll("_", " ");
    return style === "title" ? capital(name.replaceAll("_", " ")) : name;
  });
  const name = rng.pick(PROPERTIES);
  const property = rng.chance(0.12)
    ? yesOrNo(renderer, shown)
    : {
        name,
        schema: { type: "string", enum: rng.shuffle([...new Set(labels)]) },
        value: new Label(labels[0] ?? ""),
        isOptional: false,
      };
  return { text, schema: objectSchema([property]), value: objectValue([property]) };
}

/** A sentence with words of a subject; each `%` of a frame is another one. */
function about(renderer: Renderer, data: GeneratorData, words: readonly string[]): string {
  const { rng } = renderer;
  const left = rng.shuffle(words);
  if (rng.chance(0.15)) return capital(left.slice(0, rng.int(1, 4)).join(", "));
  const frame = renderer.alternatives(rng.pick(data.phrases.get("about") ?? []));
  return capital(frame.replaceAll("%", () => left.pop() ?? rng.pick(words)));
}

function yesOrNo({ rng }: Renderer, shown: GeneratorData["subjects"]): Property {
  const asked = rng.chance(0.5) ? shown[0] : rng.pick(shown);
  const word = rng.pick(asked?.names ?? []).toLowerCase();
  const name = rng.pick([`is_${word}`, `is_about_${word}`, `about_${word}`, `mentions_${word}`]);
  return { name, schema: { type: "boolean" }, value: asked === shown[0], isOptional: false };
}
