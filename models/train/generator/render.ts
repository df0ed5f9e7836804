/**
 * Fills templates: `(one|other|)` draws an alternative, `{field}` a value, `{field@part}` the value
 * of one of several of its kind, `{choice}` a phrase that says a label, `{rows:list}` a list.
 */

import type { ChoiceDefinition, GeneratorData, ListDefinition } from "./data-files.ts";
import { capital } from "./names.ts";
import type { Rng } from "./rng.ts";
import type { Value, Values } from "./values.ts";

export type Filled =
  | { readonly kind: "value"; readonly field: string; readonly value: Value }
  | {
      readonly kind: "choice";
      readonly choice: ChoiceDefinition;
      readonly label: string;
      /** What says it. */
      readonly text: string;
    }
  | { readonly kind: "list"; readonly list: ListDefinition; readonly rows: readonly Scope[] };

/** What the slots of a text hold, by slot (`total`, `city@sender`, `rows:item`), in text order. */
export type Scope = Map<string, Filled>;

const SLOT = /\{([a-z0-9_]+)(?::([a-z0-9_]+))?(?:@([a-z0-9_]+))?\}/g;
/** The slots of a template, as they stand there: `total`, `city@sender`, `rows:item`. */
export const slotsIn = (template: string): string[] =>
  [...template.matchAll(SLOT)].map(([slot]) => slot.slice(1, -1));

const ALTERNATIVES = /\(([^()]*\|[^()]*)\)/;

export class Renderer {
  readonly rng: Rng;
  readonly values: Values;
  readonly #data: GeneratorData;
  /** At most so many rows of a list; shorter where a schema holds several lists. */
  rowsMax = 10;

  constructor(rng: Rng, values: Values, data: GeneratorData) {
    this.rng = rng;
    this.values = values;
    this.#data = data;
  }

  /** The text; slots that `scope` has keep their value, new ones are put into it. */
  render(template: string, scope: Scope): string {
    const line = this.alternatives(template.replaceAll("\\n", "\n"));
    return line.replace(SLOT, (_, name: string, list?: string, part?: string) => {
      if (name === "rows" && list !== undefined) return this.#rows(list, scope);
      const key = part === undefined ? name : `${name}@${part}`;
      const choice = this.#data.choices.get(name);
      if (choice !== undefined) return this.#choice(choice, key, scope);
      return this.#value(name, key, scope);
    });
  }

  /** Draws the innermost alternatives first. */
  alternatives(template: string): string {
    let line = template;
    for (;;) {
      const match = ALTERNATIVES.exec(line);
      if (match === null) return line;
      const drawn = this.rng.pick((match[1] ?? "").split("|"));
      line = line.slice(0, match.index) + drawn + line.slice(match.index + match[0].length);
    }
  }

  #value(field: string, key: string, scope: Scope): string {
    const known = scope.get(key);
    if (known?.kind === "value") return known.value.text;
    const definition = this.#data.fields.get(field);
    if (definition === undefined) throw new Error(`no such field: {${field}}`);
    const value = this.values.draw(definition.kind);
    scope.set(key, { kind: "value", field, value });
    return value.text;
  }

  #choice(choice: ChoiceDefinition, key: string, scope: Scope): string {
    const known = scope.get(key);
    const same = known?.kind === "choice" ? known.label : null;
    const labels = choice.labels.filter(({ names }) => same === null || names[0] === same);
    const label = this.rng.pick(labels);
    const filled = { kind: "choice", choice, label: label.names[0] ?? "", text: "" } as const;
    // Set first, as the phrase may have slots of its own, which come behind it.
    scope.set(key, filled);
    const text = this.render(this.rng.pick(label.phrases), scope);
    scope.set(key, { ...filled, text });
    return text;
  }

  #rows(name: string, scope: Scope): string {
    const list = this.#list(name);
    const isTable = this.rng.chance(0.75);
    const template = this.rng.pick(list.rows);
    const texts = this.#items(list, scope, () => (isTable ? template : this.rng.pick(list.rows)));
    return this.#join(texts, template);
  }

  /** A list as people tell it: each item in words of its own, some without what others have. */
  told(name: string, scope: Scope): string {
    const { rng } = this;
    const list = this.#list(name);
    const leadIn = rng.chance(0.45) && list.leadIns.length > 0 ? rng.pick(list.leadIns) : null;
    const style = rng.weighted([
      ["sentences", 6],
      ["clauses", 4],
      ["lines", 2],
    ] as const);
    const isCapital = style === "sentences" || (style === "lines" && rng.chance(0.5));
    const left = rng.shuffle(list.told);
    const clauses = this.#items(list, scope, () => {
      const clause = left.pop() ?? rng.pick(list.told);
      // A value that begins it keeps its case, so that the answer can copy it.
      return isCapital ? capital(clause) : clause;
    });
    switch (style) {
      case "sentences":
        return `${leadIn === null ? "" : leadIn + rng.pick([": ", ". "])}${clauses.join(". ")}.`;
      case "clauses": {
        const pattern = rng.pick(this.#data.phrases.get("joins_of_clauses") ?? []);
        return `${leadIn === null ? "" : `${leadIn}: `}${joined(pattern, clauses)}.`;
      }
      case "lines": {
        const bullet = rng.pick(["", "- ", "* ", "• "]);
        const lines = clauses.map((clause) => bullet + clause);
        return `${leadIn === null ? "" : `${leadIn}:`}\n${lines.join("\n")}\n`;
      }
    }
  }

  #list(name: string): ListDefinition {
    const list = this.#data.lists.get(name);
    if (list === undefined) throw new Error(`no such list: {rows:${name}}`);
    return list;
  }

  /** The texts of a list's items, each from a template of its own; what they hold is put into the scope. */
  #items(list: ListDefinition, scope: Scope, draw: () => string): string[] {
    const count = Math.min(
      this.rowsMax,
      this.rng.weighted([
        [1, 1.5],
        [2, 5],
        [3, 6],
        [4, 4],
        [5, 3],
        [6, 1.5],
        [7, 1],
        [8, 0.7],
        [9, 0.5],
        [10, 0.5],
      ]),
    );
    const rows: Scope[] = [];
    const texts: string[] = [];
    for (let i = 0; i < count; i++) {
      const row: Scope = new Map();
      const text = this.render(draw(), row);
      if (texts.includes(text)) continue;
      rows.push(row);
      texts.push(text);
    }
    scope.set(`rows:${list.name}`, { kind: "list", list, rows });
    return texts;
  }

  #join(texts: readonly string[], template: string): string {
    const rng = this.rng;
    const isLong = template.length > 30 || texts.some((text) => /, | and /.test(text));
    const style = rng.weighted([
      ["lines", isLong ? 2.5 : 0.8],
      ["joins", isLong ? 2 : 6],
      ["marks", isLong ? 3 : 1],
    ] as const);
    if (style === "lines") {
      const bullet = rng.pick(["", "- ", "* ", "• ", "#"]);
      return `\n${texts.map((text, i) => (bullet === "#" ? `${i + 1}. ` : bullet) + text).join("\n")}\n`;
    }
    return joined(rng.pick(this.#data.phrases.get(style) ?? []), texts);
  }
}

/**
 * `%, % and %` says what stands before the first item, between two, before the last, and behind it; `#` is the
 * item's number.
 */
function joined(pattern: string, items: readonly string[]): string {
  const [before = "", between = "", last = "", behind = ""] = pattern.split("%");
  const marks = items.map((_, i) => {
    if (i === 0) return before;
    return i === items.length - 1 ? last : between;
  });
  const parts = items.map((item, i) => (marks[i] ?? "").replaceAll("#", String(i + 1)) + item);
  return parts.join("") + behind;
}

/** Sentences with what people write before and after them, which decides nothing. */
export function asMessage(
  renderer: Renderer,
  { phrases }: GeneratorData,
  said: readonly string[],
): string[] {
  const { rng } = renderer;
  const draw = (section: string, share: number, most: number) =>
    rng.chance(share)
      ? rng
          .sample(phrases.get(section) ?? [], rng.int(1, most))
          .map((line) => renderer.render(line, new Map()))
      : [];
  return [...draw("before_message", 0.4, 2), ...said, ...draw("after_message", 0.3, 2)];
}

/** A sentence about anything, which says nothing that a form asks for. */
export function aside(renderer: Renderer, data: GeneratorData): string {
  const { rng } = renderer;
  const { words } = rng.pick(data.lexicon.filter(({ group }) => group === "thing"));
  const frames = (data.phrases.get("words") ?? []).filter((frame) => !frame.includes("{"));
  const frame = renderer.render(rng.pick(frames), new Map());
  return capital(frame.replaceAll("%", () => rng.pick(words)));
}

/** Sentences and blocks, one after the other, as a text. */
export function joinParts(rng: Rng, parts: readonly string[]): string {
  const mark = rng.weighted([
    [" ", 15],
    ["\n", 3],
    ["\n\n", 1],
  ]);
  const text = parts.map((part) => part.trim()).join(mark);
  return text
    .replace(/\n[.,;:]+ */g, "\n")
    .replace(/ *\n */g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
