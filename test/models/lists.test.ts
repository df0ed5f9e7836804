import { describe, expect, test } from "bun:test";
import { answerText, printAnswer } from "../../models/train/generator/answer.ts";
import { listOf } from "../../models/train/generator/columns.ts";
import {
  type GeneratorData,
  type ListDefinition,
  readGeneratorData,
} from "../../models/train/generator/data-files.ts";
import { byAspects } from "../../models/train/generator/judged.ts";
import type { PropertyContext } from "../../models/train/generator/properties.ts";
import { Renderer, type Scope } from "../../models/train/generator/render.ts";
import { Rng } from "../../models/train/generator/rng.ts";
import { Values } from "../../models/train/generator/values.ts";

const shipped = readGeneratorData();

const ITEM: ListDefinition = {
  name: "item",
  properties: ["items"],
  descriptions: [],
  rows: ["{qty} x {product} at {uprice}"],
  told: [
    "{product} we need {qty} times",
    "of {product} send {small}",
    "there is {product}, {uprice} apiece",
  ],
  leadIns: ["What we need"],
};

/** The shipped data with one list of known build. */
const data: GeneratorData = { ...shipped, lists: new Map([["item", ITEM]]) };

function draw(seed: number, make: (renderer: Renderer, scope: Scope) => string) {
  const rng = new Rng(seed);
  const values = new Values(rng, data.words);
  const scope: Scope = new Map();
  const text = make(new Renderer(rng, values, data), scope);
  const list = scope.get("rows:item");
  if (list?.kind !== "list") throw new Error("no list was made");
  const { style, decisive } = values;
  const context: PropertyContext = {
    rng,
    data,
    style,
    decisive,
    isDescribed: false,
    nullableShare: 0,
  };
  const { schema, value } = listOf(context, list);
  return { text, rows: list.rows, schema, items: JSON.parse(answerText(printAnswer(value))) };
}

const SEEDS = Array.from({ length: 200 }, (_, i) => i);

describe("lists of the training data", () => {
  test("a told list says each item, and the answer has as many", () => {
    for (const seed of SEEDS) {
      const { text, rows, items } = draw(seed, (renderer, scope) => renderer.told("item", scope));
      expect(items).toHaveLength(rows.length);
      for (const row of rows) {
        const product = row.get("product");
        expect(product?.kind === "value" && text.includes(product.value.text)).toBe(true);
      }
    }
  });

  test("what an item does not say is null, and slots of one meaning are one column", () => {
    let nulls = 0;
    for (const seed of SEEDS) {
      const { rows, items } = draw(seed, (renderer, scope) => renderer.told("item", scope));
      if (typeof items[0] !== "object") continue;
      const columns = Object.keys(items[0]);
      // Product, a number, a price, and now and then one that nobody says.
      expect(columns.length).toBeLessThanOrEqual(4);
      for (const [i, item] of items.entries()) {
        expect(Object.keys(item)).toEqual(columns);
        const said = Object.values(item).filter((value) => value !== null);
        expect(said.length).toBeLessThanOrEqual(rows[i]?.size ?? 0);
        expect(said.length).toBeGreaterThan(0);
        if (said.length < columns.length) nulls += 1;
      }
    }
    expect(nulls).toBeGreaterThan(100);
  });

  test("a list of plain values has what the items are, not what they cost", () => {
    let plain = 0;
    for (const seed of SEEDS) {
      const make = (renderer: Renderer, scope: Scope) => renderer.render("{rows:item}", scope);
      const { rows, items } = draw(seed, make);
      if (typeof items[0] === "object") continue;
      plain += 1;
      const products = rows.map((row) => row.get("product"));
      expect(items).toEqual(products.map((one) => (one?.kind === "value" ? one.value.string : "")));
    }
    expect(plain).toBeGreaterThan(10);
  });
});

test("a text judged in several ways is asked in some of them, with a label of each", () => {
  for (const seed of SEEDS) {
    const rng = new Rng(seed);
    const renderer = new Renderer(rng, new Values(rng, shipped.words), shipped);
    const { schema, value } = byAspects(renderer, shipped);
    const answer = Object.entries(JSON.parse(answerText(printAnswer(value))));
    const properties = schema["properties"] as Record<string, { type: string; enum?: string[] }>;
    expect(answer.length).toBeGreaterThan(0);
    for (const [name, label] of answer) {
      const property = properties[name];
      if (property?.enum !== undefined) expect(property.enum).toContain(String(label));
      else
        expect([name, typeof label]).toEqual([
          name,
          label === true || label === false ? "boolean" : "number",
        ]);
    }
  }
});
