/** `svc chat`, in this process and against a running server: streamed, locked, verified. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { type CliRun, jsonOf, run, startServer } from "./kit.ts";

// Models load: seconds on a busy machine.
setDefaultTimeout(30_000);

const SCHEMA = {
  type: "object",
  properties: { sentiment: { enum: ["good", "bad"] } },
  required: ["sentiment"],
};
const VERDICT =
  /verified: keys, signature, attestation, row \(height \d+ of chain cli\); \d+ tokens/;

function directoryWithSchema(): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "s.json"), JSON.stringify(SCHEMA));
  return directory;
}

function expectLocked(result: CliRun): void {
  expect([result.code, result.err]).toEqual([0, expect.stringMatching(VERDICT)]);
  expect(["good", "bad"]).toContain(JSON.parse(result.out).sentiment);
}

test("one question without a server: the answer obeys the schema and is verified", async () => {
  const directory = directoryWithSchema();
  expectLocked(await run({ directory }, "chat", "--schema", "s.json", "The food was awful"));
  const asJson = await run({ directory }, "chat", "--json", "--schema", "s.json", "Lovely");
  const steps = ["keys", "signature", "attestation", "row"].map((name) => ({ name, state: "ok" }));
  expect(jsonOf(asJson)).toMatchObject({ verified: true, finish_reason: "stop", steps });
  // The keys that were made for the commands are gone again.
  const keys = jsonOf(await run({ directory }, "keys", "list", "--json"))["keys"];
  expect(keys).toMatchObject([{ active: false }, { active: false }]);
});

test("a conversation through the running server, with a refusal in the middle", async () => {
  const directory = directoryWithSchema();
  const server = await startServer({ directory });
  onTestEnd(() => void server.stop());
  const typed = ["Hello", "long ".repeat(4000), "/clear", "/help", "Hello", "/quit", "no"];
  const world = { directory, stdin: typed.join("\n") };
  const { code, err, out } = await run(world, "chat");
  expect(code).toBe(0);
  const [first, second, ...rest] = out.trim().split("\n");
  // Greedy, and forgotten in between: the same words again.
  expect([second, rest]).toEqual([first, []]);
  expect(err.match(/verified: /g)).toHaveLength(2);
  expect(err).toContain(server.url);
  expect(err).toMatch(/error: .*tokens/);
  // Said at the start, and again where a command is none.
  expect(err.match(/\/quit ends it/g)).toHaveLength(2);
  expectLocked(await run({ directory }, "chat", "--schema", "s.json", "The food was awful"));
  await server.stop();
});

test("a server elsewhere needs its URL and a key", async () => {
  const directory = directoryWithSchema();
  const server = await startServer({ directory });
  onTestEnd(() => void server.stop());
  const environment = {
    SVC_API_KEY: String(server.firstKey?.["api_key"]),
    SVC_HMAC_SECRET: String(server.firstKey?.["hmac_secret"]),
  };
  const away = { directory: temporaryDirectory(), environment };
  const good = await run(away, "chat", "--url", `${server.url}/v1/`, "Hello");
  expect([good.code, good.err]).toEqual([0, expect.stringContaining("of chain default")]);
  const noKey = await run({ directory }, "chat", "--url", server.url, "Hello");
  expect([noKey.code, noKey.err]).toEqual([2, expect.stringContaining("SVC_API_KEY")]);
  const badKey = { ...away, environment: { SVC_API_KEY: "sk-svc-0" } };
  const refused = await run(badKey, "chat", "--url", server.url, "Hello");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("svc keys list")]);
  const forged = { ...away, environment: { ...environment, SVC_HMAC_SECRET: "0".repeat(64) } };
  const unverified = await run(forged, "chat", "--url", server.url, "Hello");
  expect([unverified.code, unverified.err]).toEqual([
    1,
    expect.stringMatching(/signature: failed/),
  ]);
  await server.stop();
});

test("settings of an answer are passed on, and refused with the server's own words", async () => {
  const world = { directory: directoryWithSchema() };
  const cut = await run(world, "chat", "--max-tokens", "3", "--json", "Hello");
  expect(jsonOf(cut)).toMatchObject({ finish_reason: "length", completion_tokens: 3 });
  const hot = await run(world, "chat", "--temperature", "7", "--json", "Hello");
  expect(jsonOf(hot)).toMatchObject({ ok: false, error: { code: expect.any(String) } });
  const text = await run(world, "chat", "--temperature", "warm", "Hello");
  expect([text.code, text.err]).toEqual([2, expect.stringContaining("is not a number")]);
  const model = await run(world, "chat", "--model", "gpt-4", "Hello");
  expect([model.code, model.err]).toEqual([1, expect.stringContaining("svc-tier-a")]);
});
