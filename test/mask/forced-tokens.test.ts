/** Forced tokens are what llama.cpp's own tokenizer would have written. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { loadVocabulary, type Vocabulary } from "../../src/mask/vocabulary.ts";
import { llamaTokenizer } from "../helpers/llama.ts";
import {
  type VocabularyName,
  vocabulariesAvailable,
  vocabularyPath,
} from "../helpers/vocabularies.ts";
import { random } from "./kit.ts";

setDefaultTimeout(60_000);

const TEXTS = [
  '{"invoice_number":"A-77","total":1234.5,"currency":"EUR","paid":false,"note":null}',
  "Hello, world! It's 12345 o'clock…  \n\n  ok\t\tdone 'll 're DON'T",
  "日本語のテキスト と émigré naïve 👩‍👩‍👧 \u00a0 x",
  '{"a":[1,2,3],"b":{"c":"d\\n\\"e"}}   ',
];

const OBJECT = {
  type: "object",
  properties: {
    invoice_number: { type: "string", minLength: 2, maxLength: 8 },
    lines: {
      type: "array",
      items: {
        type: "object",
        properties: {
          sku: { enum: ["alpha", "alphabet", "beta"] },
          qty: { type: "integer", minimum: 0 },
        },
        required: ["sku", "qty"],
        additionalProperties: false,
      },
    },
    paid: { type: "boolean" },
    kind: { const: "it's final" },
  },
  required: ["invoice_number", "lines", "paid", "kind"],
  additionalProperties: false,
};

const ANSWERS = [
  '{"invoice_number":"A-77","lines":[{"sku":"alpha","qty":12},{"sku":"beta","qty":0}],"paid":true,"kind":"it\'s final"}',
  '{"invoice_number":"\\"x\\"","lines":[],"paid":false,"kind":"it\'s final"}',
  '{"invoice_number":"日本 7","lines":[{"sku":"alphabet","qty":300}],"paid":true,"kind":"it\'s final"}',
];

const NAMES: readonly VocabularyName[] = ["llama-bpe", "qwen2", "gpt-2"];

describe.skipIf(!vocabulariesAvailable).each([...NAMES])("%s", (name) => {
  let vocabulary: Vocabulary;
  let tokenize: (text: string) => number[];
  beforeAll(async () => {
    const path = vocabularyPath(name);
    vocabulary = await loadVocabulary(path);
    tokenize = await llamaTokenizer(path);
  });

  test("texts are cut as llama.cpp cuts them", () => {
    const draw = random(7);
    const words = TEXTS.flatMap((text) => text.split(/(?<= )/));
    for (let round = 0; round < 300; round++) {
      const text = Array.from({ length: 6 }, () => words[Math.floor(draw() * words.length)]).join(
        "",
      );
      expect(vocabulary.encoder?.encode(text)).toEqual(tokenize(text));
    }
  });

  test("every forced token is the one that the tokenizer gives for the whole answer", () => {
    const matcher = new Matcher(compileSchema(OBJECT), vocabulary);
    for (const answer of ANSWERS) {
      const tokens = tokenize(answer);
      matcher.reset();
      let forced = 0;
      for (let at = 0; at < tokens.length; ) {
        const jump = matcher.forcedTokens();
        expect(tokens.slice(at, at + jump.length)).toEqual(jump);
        forced += jump.length;
        const next = jump.length > 0 ? jump : tokens.slice(at, at + 1);
        for (const token of next) expect(matcher.accept(token)).toBe(true);
        at += next.length;
      }
      expect(matcher.isComplete).toBe(true);
      expect(forced / tokens.length).toBeGreaterThan(0.5);
    }
  });
});
