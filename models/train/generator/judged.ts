/** Classification of one text in several ways at once: how urgent, whose matter, whether somebody was hurt. */
import type { GeneratorData } from "./data-files.ts";
import {
  type Extraction,
  labelProperty,
  objectSchema,
  objectValue,
  styleName,
} from "./properties.ts";
import type { Renderer } from "./render.ts";

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
    return [labelProperty(rng, name, aspect, label)];
  });
  return {
    text: renderer.alternatives(text),
    schema: objectSchema(asked),
    value: objectValue(asked),
  };
}
