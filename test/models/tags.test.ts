import { describe, expect, test } from "bun:test";
import { NumberLiteral, printAnswer } from "../../models/train/generator/answer.ts";
import { readGeneratorData } from "../../models/train/generator/data-files.ts";
import { Rng } from "../../models/train/generator/rng.ts";
import { drawSample, type Sample, SHARES } from "../../models/train/generator/sample.ts";
import { readTokenizer } from "../../models/train/generator/shards.ts";
import { tagsOf } from "../../models/train/generator/tags.ts";
import type { Decisive, Value } from "../../models/train/generator/values.ts";

const tokenizer = readTokenizer();

const value = (text: string, number: string | null = null): Value => ({
  text,
  string: text,
  number,
  isInteger: number !== null,
  isoDate: null,
});

/** Of each tag the text of the token that it stands at, and the text that it says. */
function shown(
  user: string,
  answer: Sample["answer"],
  drawn: readonly Value[],
  decisive: readonly Decisive[] = [],
): string[] {
  const sample = {
    task: "extract",
    schema: {},
    system: "",
    tools: [],
    user,
    answer,
    drawn,
    decisive,
  } as const;
  const ids = tokenizer.encode(user);
  const text = (id: number | undefined) =>
    id === undefined ? "(end)" : (tokenizer.tokens[id] ?? "").replace("Ġ", "");
  return tagsOf(tokenizer, sample, ids).map(({ at, token }) => `${text(ids[at])} ${text(token)}`);
}

const answerOf = (entries: Record<string, string | number | null>) =>
  printAnswer(
    new Map(
      Object.entries(entries).map(([name, one]) => [
        name,
        typeof one === "number" ? new NumberLiteral(String(one)) : one,
      ]),
    ),
  );

describe("tags of the prompt", () => {
  test("say the first word of a name where its value begins, and the last one behind it", () => {
    expect(
      shown("pay 1,250 euros", answerOf({ total_price: 1250 }), [value("1,250", "1250")]),
    ).toEqual(["1 total", "euros price"]);
  });

  test("a value that nobody asks for has the token that ends a turn", () => {
    expect(shown("red or blue", answerOf({ color: "red" }), [value("red"), value("blue")])).toEqual(
      ["red color", "or color", "blue <|end|>", "(end) <|end|>"],
    );
  });

  test("what could be either of two has none", () => {
    expect(shown("red and red", answerOf({ color: "red" }), [value("red")])).toEqual([]);
    expect(shown("5 of 5.0", answerOf({ a: 5 }), [value("5", "5"), value("5.0", "5")])).toEqual([]);
    expect(shown("it is red", answerOf({ a: "red", b: "red" }), [value("red")])).toEqual([]);
    expect(shown("rested", answerOf({ a: "rest" }), [value("rest")])).toEqual([]);
  });

  test("words that decide have the label behind them, or the name where it is yes or no", () => {
    const answer = answerOf({ item: "vase" });
    const mood = { text: "never again", name: "mood", label: "angry" };
    expect(shown("Never again this vase", answer, [], [mood])).toEqual(["this angry"]);
    const paid = { text: "is settled", name: "is_paid", label: null };
    expect(shown("the vase is settled", answer, [], [paid])).toEqual(["(end) paid"]);
    expect(shown("is settled, is settled", answer, [], [paid])).toEqual([]);
  });

  test("most values of drawn samples have tags, each inside the user's turn", () => {
    const data = readGeneratorData();
    const rng = new Rng(3);
    const options = { shares: SHARES, domains: [...data.templates.keys()] };
    let asked = 0;
    for (let i = 0; i < 100; i++) {
      const sample = drawSample(rng, data, options);
      const ids = tokenizer.encode(sample.user);
      for (const { at, isAsked } of tagsOf(tokenizer, sample, ids)) {
        expect(at).toBeLessThanOrEqual(ids.length);
        if (isAsked) asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(200);
  });
});
