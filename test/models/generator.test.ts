import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { answerText, DECIDED } from "../../models/train/generator/answer.ts";
import { dataMistakes } from "../../models/train/generator/check-data.ts";
import { readGeneratorData } from "../../models/train/generator/data-files.ts";
import { Rng } from "../../models/train/generator/rng.ts";
import { drawSample, type Sample, SHARES, type Task } from "../../models/train/generator/sample.ts";
import { encodeAnswer, readTokenizer } from "../../models/train/generator/shards.ts";
import { formOf } from "../../models/train/generator/vocabulary.ts";

const data = readGeneratorData();
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const domains = [...data.templates.keys()];

function draw(seed: number, count: number, shares = SHARES): Sample[] {
  const rng = new Rng(seed);
  return Array.from({ length: count }, () => drawSample(rng, data, { shares, domains }));
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}

const only = (task: Task): typeof SHARES => [[task, 1]];

describe("training data", () => {
  test("the files refer to nothing that is missing", () => {
    expect(dataMistakes(data)).toEqual([]);
  });

  test("what the renderer would leave in the text is a mistake", () => {
    for (const slot of ["Total", "order-no", "rows:", "city@"]) {
      const templates = new Map([["order", [`Pay {${slot}} now.`]]]);
      const [mistake] = dataMistakes({ ...data, templates });
      expect(mistake).toBe(`{${slot}} is not written as a slot: Pay {${slot}} now.`);
    }
  });

  test("the same seed gives the same samples, another one others", () => {
    expect(draw(5, 40)).toEqual(draw(5, 40));
    expect(draw(6, 40)).not.toEqual(draw(5, 40));
  });

  test("every answer is what its schema allows", () => {
    for (const { schema, answer } of draw(1, 300)) {
      if (schema === null) continue;
      const text = answerText(answer);
      expect([text, ajv.validate(schema as object, JSON.parse(text))]).toEqual([text, true]);
    }
  });

  test("strings that an extraction answers with stand in the text", () => {
    const samples = draw(2, 200, only("extract"));
    let [found, all] = [0, 0];
    for (const { user, answer } of samples) {
      const labels = answer.filter(([, weight]) => weight === DECIDED).map(([piece]) => piece);
      for (const text of stringsOf(JSON.parse(answerText(answer)))) {
        // Neither dates that are asked for normalised nor currency codes stand there.
        if (labels.includes(text) || /^(\d{4}-\d\d-\d\d|[A-Z]{3})$/.test(text)) continue;
        all += 1;
        if (user.includes(text)) found += 1;
      }
    }
    expect(found / all).toBeGreaterThan(0.99);
  });

  test("a tool's call names a tool that was given, with its arguments", () => {
    for (const { tools, answer } of draw(3, 100, only("tool"))) {
      const text = answerText(answer);
      if (!text.startsWith("{")) continue;
      const call = JSON.parse(text) as { name: string; arguments: object };
      const tool = tools.find(({ name }) => name === call.name);
      expect(ajv.validate(tool?.parameters ?? false, call.arguments)).toBe(true);
    }
  });

  test("a grounded answer cites a snippet that exists, or none", () => {
    for (const { system, answer } of draw(4, 100, only("grounded"))) {
      const cited = /\[(\d+)\]$/.exec(answerText(answer))?.[1];
      if (cited === undefined) expect(answerText(answer)).toMatch(/source/);
      else expect(system).toContain(`[${cited}] `);
    }
  });
});

describe("the tokenizer", () => {
  const tokenizer = readTokenizer();
  const decode = (tokens: readonly number[]): number =>
    tokens.reduce((sum, token) => sum + tokenizer.byteLength(token), 0);

  test("keeps every byte, and digits apart", () => {
    const text = 'Größe 1,234.50 € ["x"]\n\tO\'Neill';
    expect(decode(tokenizer.encode(text))).toBe(Buffer.byteLength(text));
    expect(tokenizer.encode("2026")).toHaveLength(4);
  });

  test("puts a space in front of a word's own tokens, and changes nothing else", () => {
    const texts = (text: string) => tokenizer.encode(text).map((id) => tokenizer.tokens[id]);
    for (const word of ["invoice", "Beckett", "Wowubrig", "INV"]) {
      const [first = "", ...others] = texts(` ${word}`);
      expect(first).toStartWith("Ġ");
      // A stem that seldom begins a word has the space as a token of its own.
      expect([first.slice(1), ...others].filter((text) => text !== "")).toEqual(texts(word));
    }
  });

  test("knows the forms of a word, but neither names nor abbreviations as such", () => {
    const isToken = (text: string) => ["invoice", "may", "it"].includes(text);
    const form = (token: string) => formOf(token, isToken);
    expect(form("invoice")).toEqual({ stem: "invoice", marks: 0 });
    expect(form("Ġinvoice")).toEqual({ stem: "invoice", marks: 1 });
    expect(form("ĠInvoice")).toEqual({ stem: "invoice", marks: 3 });
    expect(form("INVOICE")).toEqual({ stem: "invoice", marks: 4 });
    expect(form("ĠMay")).toEqual({ stem: "May", marks: 1 });
    expect(form("IT")).toEqual({ stem: "IT", marks: 0 });
    expect(form("ĠBeck")).toEqual({ stem: "Beck", marks: 1 });
  });

  test("gives each token of an answer the weight of the heaviest text it holds", () => {
    const { tokens, weights } = encodeAnswer(tokenizer, [
      ['{"a":', 0.4],
      ["true", 8],
      ["}", 0.4],
    ]);
    expect(weights).toHaveLength(tokens.length);
    expect(Math.max(...weights)).toBe(8);
    expect(weights[0]).toBe(0.4);
  });
});
