/**
 * What a GBNF text means, straight from its rules and without any automaton: the ends of all
 * matches from a position, with what is known kept. For grammars without left recursion.
 */
import { contains } from "../../src/automaton/char-set.ts";
import { type Expression, parseGbnf } from "../../src/grammar/gbnf-parse.ts";

export function naiveGbnf(grammar: string): (text: string) => boolean {
  const rules = parseGbnf(grammar);
  return (text) => {
    const points = [...text].map((char) => char.codePointAt(0) as number);
    const known = new Map<Expression, Map<number, readonly number[]>>();

    const ends = (expression: Expression, from: number): readonly number[] => {
      const own = known.get(expression) ?? new Map<number, readonly number[]>();
      known.set(expression, own);
      const found = own.get(from) ?? [...new Set(find(expression, from))];
      own.set(from, found);
      return found;
    };

    const find = (expression: Expression, from: number): readonly number[] => {
      switch (expression.kind) {
        case "literal": {
          const wanted = [...new TextDecoder().decode(expression.bytes)];
          const isHere = wanted.every((char, i) => char.codePointAt(0) === points[from + i]);
          return isHere ? [from + wanted.length] : [];
        }
        case "class":
          return from < points.length && contains(expression.set, points[from] as number)
            ? [from + 1]
            : [];
        case "reference": {
          const rule = rules.get(expression.name);
          if (!rule) throw new Error(`no rule ${expression.name}`);
          return ends(rule.body, from);
        }
        case "sequence":
          return expression.parts.reduce<readonly number[]>(
            (starts, part) => [...new Set(starts.flatMap((start) => ends(part, start)))],
            [from],
          );
        case "choice":
          return expression.options.flatMap((option) => ends(option, from));
        default:
          return repeated(expression, from);
      }
    };

    const repeated = (
      { body, min, max }: Extract<Expression, { kind: "repetition" }>,
      from: number,
    ): number[] => {
      const all = new Set<number>(min === 0 ? [from] : []);
      let starts: readonly number[] = [from];
      const last = Math.min(max, min + points.length + 1);
      for (let round = 1; round <= last && starts.length > 0; round++) {
        starts = [...new Set(starts.flatMap((start) => ends(body, start)))];
        if (round >= min) for (const end of starts) all.add(end);
      }
      return [...all];
    };

    const root = rules.get("root");
    if (!root) throw new Error("no root");
    return ends(root.body, 0).includes(points.length);
  };
}
