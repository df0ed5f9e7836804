/** The member `grammar` of a chat request locks the answer to its GBNF. */
import { expect, test } from "bun:test";
import { readChatRequest } from "../../src/http/wire/chat.ts";
import { ApiError } from "../../src/service/api-error.ts";
import { DEFAULT_LIMITS } from "../../src/service/limits.ts";
import { type Lock, Locks } from "../../src/service/locks.ts";

function lockOf(members: object): Lock {
  const body = { model: "svc-tier-a", messages: [{ role: "user", content: "hi" }], ...members };
  return new Locks(4).of("tenant", readChatRequest(body, DEFAULT_LIMITS));
}

const grammar = 'root ::= "yes" | "no"';
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

test("is compiled, alone or with response_format text", () => {
  expect(lockOf({ grammar }).grammar?.kind).toBe("cfg");
  expect(lockOf({ grammar, response_format: { type: "text" } }).enforced).toBe(true);
  expect(lockOf({ grammar, tools, tool_choice: "none" }).grammar?.kind).toBe("cfg");
  expect(lockOf({}).grammar).toBeNull();
});

test.each([
  [{ grammar: 'root ::= "yes' }, "never closed"],
  [{ grammar: 7 }, "string"],
  [{ grammar, response_format: { type: "json_object" } }, "twice"],
  [{ grammar, tools }, "tool call"],
])("%j is a 400", (members, said) => {
  try {
    lockOf(members);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, param, message } = error;
    expect([status, param, message]).toEqual([400, "grammar", expect.stringContaining(said)]);
    return;
  }
  throw new Error("it was taken");
});
