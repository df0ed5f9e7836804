/** Classification of one text in several ways at once: how urgent, whose matter, whether somebody was hurt. */
import { Label, NumberLiteral } from "./answer.ts";
import type { Aspect, GeneratorData } from "./data-files.ts";
import {
  drawLabels,
  type Extraction,
  objectSchema,
  objectValue,
  type Property,
  styleName,
} from "./properties.ts";
import type { Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";

export function byAspects(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const group = rng.weighted(data.judged.map((one) => [one, one.texts.length] as const));
  const { labels, text } = rng.pick(group.texts);
  const said = group.aspects.flatMap((aspect, i) => {
    const label = labels[i];
    return label === undefined || label === null ? [] : [{ aspect, label }];
  });
  const count = rng.weighted([
    [1, 3],
    [2, 4],
    [3, 2],
    [4, 1],
  ]);
  const camel = rng.chance(0.1);
  const taken = new Set<string>();
  const asked = rng.sample(said, count).flatMap(({ aspect, label }) => {
    const names = aspect.properties.map((name) => styleName(name, camel));
    const free = names.filter((name) => !taken.has(name));
    if (free.length === 0) return [];
    const name = rng.pick(free);
    taken.add(name);
    return [propertyOf(rng, name, aspect, label)];
  });
  return {
    text: renderer.alternatives(text),
    schema: objectSchema(asked),
    value: objectValue(asked),
  };
}

function propertyOf(rng: Rng, name: string, aspect: Aspect, label: string): Property {
  if (label === "true" || label === "false") {
    return { name, schema: { type: "boolean" }, value: label === "true", isOptional: false };
  }
  const numbers = aspect.labels.map(({ names }) => Number(names[0]));
  if (numbers.every(Number.isInteger)) {
    const bounds = { minimum: Math.min(...numbers), maximum: Math.max(...numbers) };
    const schema = { type: "integer", ...bounds };
    return { name, schema, value: new NumberLiteral(label), isOptional: false };
  }
  const { names, own } = drawLabels(rng, aspect, [label]);
  const schema = { type: "string", enum: names };
  return { name, schema, value: new Label(own[0] ?? ""), isOptional: false };
}
