import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { type Answered, at, chat, errorOf } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
});
afterAll(() => gateway.close());

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    strict: true,
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", maxLength: 12 },
        unit: { type: "string", enum: ["celsius", "fahrenheit"] },
      },
      required: ["city", "unit"],
      additionalProperties: false,
    },
  },
};
const clock = {
  type: "function",
  function: {
    name: "get_time",
    strict: true,
    parameters: {
      type: "object",
      properties: { zone: { type: "integer", minimum: -12, maximum: 14 } },
      required: ["zone"],
    },
  },
};
const ask = (body: object) =>
  chat(gateway, {
    messages: [{ role: "user", content: "What is the weather in Paris?" }],
    tools: [weather, clock],
    ...body,
  });

interface Call {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
const callsOf = ({ json }: Answered): readonly Call[] =>
  (at(json, "choices", 0, "message", "tool_calls") ?? []) as readonly Call[];

describe("tool_choice", () => {
  test("a named function is called, with arguments locked to its parameters", async () => {
    for (const temperature of [0, 2]) {
      const answered = await ask({
        tool_choice: { type: "function", function: { name: "get_time" } },
        temperature,
        seed: 1,
      });
      const [call, ...others] = callsOf(answered);
      expect(others).toEqual([]);
      expect(call).toMatchObject({ type: "function", function: { name: "get_time" } });
      expect(call?.id).toStartWith("call_");
      const { zone } = JSON.parse(call?.function.arguments ?? "") as { zone: number };
      expect(Number.isInteger(zone) && zone >= -12 && zone <= 14).toBe(true);
      expect(at(answered.json, "choices", 0, "finish_reason")).toBe("tool_calls");
      expect(at(answered.json, "choices", 0, "message", "content")).toBeNull();
      expect(at(answered.json, "svc", "schema_enforced")).toBe(true);
    }
  });

  test("required calls one of the tools", async () => {
    for (let seed = 0; seed < 6; seed++) {
      const [call] = callsOf(await ask({ tool_choice: "required", temperature: 2, seed }));
      const given = JSON.parse(call?.function.arguments ?? "") as Readonly<Record<string, unknown>>;
      if (call?.function.name === "get_time") expect(given["zone"]).toBeNumber();
      else expect(["celsius", "fahrenheit"]).toContain(String(given["unit"]));
    }
  });

  test("none answers in text, and auto in either", async () => {
    const none = await ask({ tool_choice: "none", max_tokens: 20 });
    expect(callsOf(none)).toEqual([]);
    expect(at(none.json, "choices", 0, "message", "content")).toBeString();
    for (let seed = 0; seed < 6; seed++) {
      const auto = await ask({ temperature: 1.5, seed, max_tokens: 60 });
      const reason = at(auto.json, "choices", 0, "finish_reason");
      expect(reason === "tool_calls").toBe(callsOf(auto).length === 1);
    }
  });

  test("auto with a response format is refused, with a way out", async () => {
    const refused = await ask({ response_format: { type: "json_object" } });
    expect(errorOf(refused)).toEqual(["unsupported_value", "response_format"]);
    const none = await ask({ response_format: { type: "json_object" }, tool_choice: "none" });
    expect(none.status).toBe(200);
  });

  test("that asks for what is not there is refused", async () => {
    const named = { type: "function", function: { name: "fly" } };
    expect(errorOf(await ask({ tool_choice: named }))[1]).toBe("tool_choice.function.name");
    expect(errorOf(await ask({ tools: [], tool_choice: "required" }))[1]).toBe("tool_choice");
    expect(errorOf(await ask({ tool_choice: "maybe" }))[1]).toBe("tool_choice");
  });
});

describe("parameters", () => {
  const loose = (strict: boolean, parameters: object) =>
    ask({
      tools: [clock, { type: "function", function: { name: "f", strict, parameters } }],
      tool_choice: { type: "function", function: { name: "f" } },
    });
  const backreference = { type: "object", properties: { a: { pattern: "^(.)\\1$" } } };

  test("that cannot be enforced refuse a strict tool, at their place in the request", async () => {
    expect(errorOf(await loose(true, backreference))).toEqual([
      "unsupported_schema_keyword",
      "tools[1].function.parameters#/properties/a/pattern",
    ]);
  });

  test("of other tools become any object, and are named", async () => {
    const answered = await loose(false, backreference);
    const [call] = callsOf(answered);
    expect(JSON.parse(call?.function.arguments ?? "")).toBeObject();
    expect(at(answered.json, "svc")).toMatchObject({
      schema_enforced: false,
      unenforced: ["/tools/1/function/parameters/properties/a/pattern"],
    });
  });

  test("are optional: such a tool takes an empty object", async () => {
    const answered = await ask({
      tools: [{ type: "function", function: { name: "stop_now" } }],
      tool_choice: "required",
    });
    expect(callsOf(answered)[0]?.function).toEqual({ name: "stop_now", arguments: "{}" });
  });
});

describe("a tool's answer", () => {
  const call = {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_1", type: "function", function: { name: "get_time", arguments: '{"zone":1}' } },
    ],
  };
  const question = { role: "user", content: "What time is it?" };

  test("goes back with the id of its call", async () => {
    const answer = { role: "tool", tool_call_id: "call_1", content: "12:00" };
    const answered = await ask({ messages: [question, call, answer], max_tokens: 30 });
    expect(answered.status).toBe(200);
  });

  test("without an id, or with one that no call has, is refused", async () => {
    const lost = { role: "tool", content: "12:00" };
    expect(errorOf(await ask({ messages: [question, call, lost] }))).toEqual([
      "missing_required_parameter",
      "messages[2].tool_call_id",
    ]);
    const wrong = { ...lost, tool_call_id: "call_2" };
    expect(errorOf(await ask({ messages: [question, call, wrong] }))).toEqual([
      "invalid_value",
      "messages[2].tool_call_id",
    ]);
  });
});
