/** Grammars are kept from request to request, and stay small whatever was answered under them. */
import { expect, test } from "bun:test";
import { readChatRequest } from "../../src/http/wire/chat.ts";
import { DEFAULT_LIMITS } from "../../src/service/limits.ts";
import { Locks } from "../../src/service/locks.ts";
import { random, SMALL, sample } from "../mask/kit.ts";

/** Numbers have many spellings: each item rules out the ones before it by a place of its own. */
const DRAW = {
  type: "object",
  properties: { drawn: { type: "array", items: { type: "number" }, uniqueItems: true } },
  required: ["drawn"],
  additionalProperties: false,
};

const ask = (locks: Locks, tenantId: string, schema: object) => {
  const body = {
    model: "svc-tier-a",
    messages: [{ role: "user", content: "hi" }],
    response_format: {
      type: "json_schema",
      json_schema: { name: "draw", strict: true, schema },
    },
  };
  const { grammar } = locks.of(tenantId, readChatRequest(body, DEFAULT_LIMITS));
  if (grammar?.kind !== "schema") throw new Error("a schema was asked for");
  return grammar;
};

test("the same schema is compiled once, for each tenant apart", () => {
  const locks = new Locks(4);
  const first = ask(locks, "one", DRAW);
  expect(ask(locks, "one", DRAW)).toBe(first);
  expect(ask(locks, "two", DRAW)).not.toBe(first);
});

test("a grammar that answers have made large is compiled again, and allows the same", () => {
  const locks = new Locks(4);
  const first = ask(locks, "one", DRAW);
  for (let round = 0; round < 400 && !first.isOvergrown; round++) {
    sample(first, SMALL, random(round), { budget: 200, eagerness: 0, budgetBy: "accept" });
  }
  expect(first.isOvergrown).toBe(true);
  const second = ask(locks, "one", DRAW);
  expect(second).not.toBe(first);
  expect(second.id).toBe(first.id);
  expect(second.isOvergrown).toBe(false);
  expect(ask(locks, "one", DRAW)).toBe(second);
});
