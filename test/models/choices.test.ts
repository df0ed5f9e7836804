import { describe, expect, test } from "bun:test";
import { answerText, printAnswer } from "../../models/train/generator/answer.ts";
import { type Question, questionsOf } from "../../models/train/generator/choices.ts";
import { readGeneratorData } from "../../models/train/generator/data-files.ts";
import { systemText } from "../../models/train/generator/prompt.ts";
import { Rng } from "../../models/train/generator/rng.ts";
import { drawSample, type Sample, SHARES } from "../../models/train/generator/sample.ts";
import { readTokenizer } from "../../models/train/generator/shards.ts";
import { printSketch } from "../../src/runtime/sketch.ts";

const tokenizer = readTokenizer();

/** What has been read of the sketch at each end of a question; the last token may have the punctuation behind it too. */
function readAt({ system, tools }: Sample, { ends }: Question): string[] {
  const text = systemText(system, tools);
  const tokens = tokenizer.encode(text);
  const length = (at: number) =>
    tokens.slice(0, at + 1).reduce((sum, token) => sum + tokenizer.byteLength(token), 0);
  return ends.map((at) =>
    Buffer.from(text).subarray(0, length(at)).toString().replace(/\W+$/u, ""),
  );
}

function sampleOf(
  properties: Readonly<Record<string, object>>,
  answer: Readonly<Record<string, string | boolean | null>>,
): Sample {
  const schema = { type: "object", properties, required: Object.keys(properties) };
  return {
    ...{ task: "classify", schema, system: printSketch(schema), tools: [], user: "" },
    ...{ answer: printAnswer(new Map(Object.entries(answer))), drawn: [], decisive: [] },
  };
}

const questions = (sample: Sample) =>
  questionsOf(tokenizer, sample, tokenizer.encode(systemText(sample.system, sample.tools)));

describe("choices of a sketch", () => {
  test("stand where each label ends, and where a yes or no is asked for", () => {
    const sample = sampleOf(
      { tone: { enum: ["calm", "angry"] }, urgent: { type: "boolean" } },
      { tone: "angry", urgent: false },
    );
    const [tone, urgent] = questions(sample) as [Question, Question];
    expect(readAt(sample, tone)).toEqual(['{tone:"calm', '{tone:"calm"|"angry']);
    expect(readAt(sample, urgent)).toEqual(['{tone:"calm"|"angry",urgent:boolean']);
    expect([tone.right, urgent.right]).toEqual([1, 1]);
  });

  test("are none where the answer has none of the labels", () => {
    const sample = sampleOf(
      { tone: { enum: ["calm", "angry", null] }, name: { type: "string" } },
      { tone: null, name: "Kim" },
    );
    expect(questions(sample).map(({ right }) => right)).toEqual([2]);
    expect(
      questions(sampleOf({ urgent: { type: ["boolean", "null"] } }, { urgent: null })),
    ).toEqual([]);
  });

  test("of drawn samples end with the labels that the schema has, the right one being the answer's", () => {
    const data = readGeneratorData();
    const options = { shares: SHARES, domains: [...data.templates.keys()] };
    const rng = new Rng(7);
    let seen = 0;
    for (let i = 0; i < 300; i++) {
      const sample = drawSample(rng, data, options);
      const found = questions(sample);
      if (found.length === 0) continue;
      const values: unknown[] = Object.values(JSON.parse(answerText(sample.answer)));
      for (const question of found) {
        const read = readAt(sample, question);
        // A yes or no has one end.
        if (read.length === 1) expect(values).toContain(question.right === 0);
        else {
          const isRight = (value: unknown) =>
            read[question.right]?.endsWith(String(value).replace(/\W+$/u, ""));
          expect(values.filter(isRight)).not.toEqual([]);
        }
        seen++;
      }
    }
    expect(seen).toBeGreaterThan(100);
  });
});
