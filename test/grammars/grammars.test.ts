/** Every grammar that comes with the project does what its case file says, here and in llama.cpp. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { compileGbnf } from "../../src/grammar/gbnf-compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { parseCaseFile } from "../case-file.ts";
import { llamaGrammars } from "../grammar/llama-grammar.ts";
import { random, SMALL, sample } from "../mask/kit.ts";

const directory = new URL("../../grammars/", import.meta.url).pathname;
const names = readdirSync(directory).map((file) => basename(file, ".gbnf"));
const parse = await llamaGrammars();

test("there is a case file for every grammar, and none more", () => {
  const files = readdirSync(import.meta.dir).filter((file) => file.endsWith(".cases"));
  expect(files.map((file) => basename(file, ".cases")).sort()).toEqual(names.toSorted());
  expect(names.length).toBeGreaterThanOrEqual(8);
});

describe.each(names)("%s", (name) => {
  const text = readFileSync(`${directory}${name}.gbnf`, "utf8");
  const grammar = compileGbnf(text);
  const other = parse(text);
  const { sections } = parseCaseFile(readFileSync(`${import.meta.dir}/${name}.cases`, "utf8"));

  test.each(["accept", "reject"])("%ss what it should", (section) => {
    const lines = sections.get(section) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const answer = JSON.parse(line) as string;
      const matcher = new Matcher(grammar, SMALL);
      const isWhole =
        [...Buffer.from(answer)].every((byte) => matcher.accept(byte)) && matcher.isComplete;
      expect([answer, isWhole]).toEqual([answer, section === "accept"]);
      expect([answer, other._testText(answer)]).toEqual([answer, section === "accept"]);
    }
  });

  test("what is drawn from its masks, llama.cpp accepts", () => {
    const need = new Matcher(grammar, SMALL).needTokens();
    for (let round = 0; round < 5; round++) {
      const draw = random(round + 1);
      const budget = need + 8 * round;
      const answer = sample(grammar, SMALL, draw, { budget, eagerness: 0.4 }).text;
      if (!other._testText(answer)) throw new Error(`llama.cpp refuses ${JSON.stringify(answer)}`);
    }
  });
});
