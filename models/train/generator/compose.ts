/**
 * Texts put together from clauses, each of which says one field: more ways to say several than
 * templates could list.
 */
import type { GeneratorData } from "./data-files.ts";
import { capital } from "./names.ts";
import type { Renderer, Scope } from "./render.ts";
import type { Rng } from "./rng.ts";

/** @param slots what the text may hold; some of them are said. */
export function compose(
  renderer: Renderer,
  data: GeneratorData,
  slots: readonly string[],
  scope: Scope,
): string[] {
  const { rng } = renderer;
  const known = slots.filter((slot) => data.clauses.has(slot));
  const chosen = rng.sample(known, rng.int(2, 8));
  const kinds = chosen.map((slot) => kindOf(data, slot));
  const clauses = chosen.map((slot, i) => {
    const all = data.clauses.get(slot) ?? [];
    // Two of a kind must be told apart by what is said of them.
    const isAlone = kinds.indexOf(kinds[i] ?? "") === kinds.lastIndexOf(kinds[i] ?? "");
    const telling = isAlone ? all : all.filter((clause) => /[a-z]/.test(clause));
    const clause = rng.pick(telling.length === 0 ? all : telling);
    return renderer.render(clause.replace("{}", `{${slot}}`), scope);
  });
  return sentences(rng, clauses);
}

const kindOf = (data: GeneratorData, slot: string): string =>
  data.fields.get(slot)?.kind.replace("company", "person").replace("name", "person") ?? slot;

/** One to four clauses each. */
function sentences(rng: Rng, clauses: readonly string[]): string[] {
  const mark = rng.pick([", ", ", ", "; ", " - ", " | ", " / ", "\n"]);
  const parts: string[] = [];
  const left = [...clauses];
  while (left.length > 0) {
    const group = left.splice(0, mark === "\n" ? left.length : rng.int(1, 4));
    const last = group.pop() ?? "";
    const isList = mark === ", " && rng.chance(0.4);
    const before = group.join(mark);
    const text = before === "" ? last : before + (isList ? " and " : mark) + last;
    parts.push(rng.chance(0.85) ? capital(text) : text);
  }
  const end = mark === ", " && rng.chance(0.8) ? "." : "";
  return parts.map((part) => (/[.!?]$/.test(part) ? part : part + end));
}
