/** Classification by what words mean: the word that a definition is of, or that says the same as one of a sentence. */
import type { GeneratorData } from "./data-files.ts";
import type { Extraction } from "./properties.ts";
import { asMessage, joinParts, type Renderer } from "./render.ts";
import { isAlike, labelled, type Named, PROPERTIES } from "./topics.ts";
import { cosine, unitVectors } from "./vectors.ts";

/** Words that are nearer than this may both be right. */
const NEAR = 0.6;
const OTHERS = 16;

export function byGloss(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const { properties, glosses } = rng.weighted(
    data.glosses.map((one) => [one, Math.sqrt(one.glosses.length)] as const),
  );
  const { names, text } = rng.pick(glosses);
  const own: Named = { names };
  // Words of the same kind are the nearer ones, those of any kind the more.
  const anyOf = () => (rng.chance(0.6) ? glosses : rng.pick(data.glosses).glosses);
  const drawn = Array.from({ length: OTHERS }, () => rng.pick(rng.pick(anyOf()).names));
  const others = [...new Set(drawn)]
    .filter((name) => isOther(name, names, text))
    .map((name) => ({ names: [name] }));
  const said = rng.chance(0.15) ? asMessage(renderer, data, [text]) : [text];
  const asked = rng.chance(0.7) ? properties : PROPERTIES;
  return labelled(renderer, joinParts(rng, said), own, others, asked);
}

/** Not what the text says in so many words (mostly the kind of thing it is), nor near one of `names`. */
function isOther(name: string, names: readonly string[], text: string): boolean {
  const vectors = unitVectors();
  const its = vectors.get(name);
  const isNear = names.some((own) => {
    const vector = vectors.get(own);
    return its !== undefined && vector !== undefined && cosine(its, vector) > NEAR;
  });
  const lower = text.toLowerCase();
  const isSaid = name.split("_").some((word) => lower.includes(word.slice(0, 5)));
  return !isNear && !isSaid && !isAlike({ names: [name] }, { names });
}
