/** `svc replay`: the same request gives the same bytes, and a difference is shown where it is. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run, startServer } from "./kit.ts";

setDefaultTimeout(30_000);

const REQUEST = {
  model: "svc-tier-b",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 12,
  stream: true,
};

test("a request that is run again gives the same bytes, without a server and with one", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "request.json"), JSON.stringify(REQUEST));
  const alone = await run({ directory }, "replay", "request.json");
  expect([alone.code, alone.out]).toEqual([0, "the same, byte for byte\n"]);

  const server = await startServer({ directory });
  onTestEnd(() => void server.stop());
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await keyOf(directory)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ ...REQUEST, stream: false }),
  });
  const path = join(directory, "answer.json");
  writeFileSync(path, await answer.text());
  const same = await run({ directory }, "replay", "request.json", "--answer", path, "--json");
  expect([same.code, jsonOf(same)]).toMatchObject([0, { same: true, difference: null }]);

  writeFileSync(path, readFileSync(path, "utf8").replace("Hello", "Hullo"));
  const other = await run({ directory }, "replay", "request.json", "--answer", path);
  expect(other.code).toBe(1);
  expect(other.out).toMatch(/different from character \d+.*Hullo.*Hello/s);
  await server.stop();
});

test("what is no request or no answer is refused with words", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "bad.json"), '{"model":"svc-tier-b"}');
  const refused = await run({ directory }, "replay", "bad.json");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("messages")]);
  const none = await run({ directory }, "replay", "bad.json", "--answer", "bad.json");
  expect([none.code, none.err]).toEqual([2, expect.stringContaining("not an answer")]);
});

async function keyOf(directory: string): Promise<string> {
  const made = await run({ directory }, "keys", "create", "--tenant", "local", "--json");
  return String(jsonOf(made)["api_key"]);
}

test("a request that was kept is found by its id, drawn again with its seed, and compared", async () => {
  const directory = temporaryDirectory();
  const server = await startServer({ directory });
  onTestEnd(() => void server.stop());
  const authorization = `Bearer ${await keyOf(directory)}`;
  const ask = async (change: object) => {
    const headers = { authorization, "content-type": "application/json" };
    const body = JSON.stringify({ ...REQUEST, stream: false, ...change });
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      ...{ method: "POST", headers, body },
    });
    return { id: response.headers.get("x-request-id") ?? "", text: await response.text(), body };
  };
  // What clients send without a thought is never refused.
  for (const store of [undefined, null, false]) {
    expect(JSON.parse((await ask({ store })).text).choices).toHaveLength(1);
  }
  const refused = JSON.parse((await ask({ store: true })).text);
  expect(refused.error).toMatchObject({ code: "storage_off", param: "store" });
  const on = await run({ directory }, "keys", "store-requests", "--tenant", "local");
  expect([on.code, on.out]).toEqual([0, expect.stringContaining("are kept for a day")]);
  const kept = await ask({ store: true, temperature: 1 });
  const found = await fetch(`${server.url}/v1/requests/${kept.id}`, { headers: { authorization } });
  expect(await found.text()).toBe(
    `{"request_id":"${kept.id}","request":${kept.body},"response":${kept.text}}`,
  );
  const same = await run({ directory }, "replay", kept.id, "--json");
  expect([same.code, jsonOf(same)]).toMatchObject([0, { same: true, difference: null }]);

  const other = await ask({});
  const missing = await run({ directory }, "replay", other.id);
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("store: true")]);
  const stranger = await run({ directory }, "keys", "create", "--tenant", "stranger", "--json");
  const headers = { authorization: `Bearer ${jsonOf(stranger)["api_key"]}` };
  const hidden = await fetch(`${server.url}/v1/requests/${kept.id}`, { headers });
  expect(hidden.status).toBe(404);
  const off = await run({ directory }, "keys", "store-requests", "--tenant", "local", "--off");
  expect(off.code).toBe(0);
  expect(JSON.parse((await ask({ store: true })).text).error.code).toBe("storage_off");
  const nobody = await run({ directory }, "keys", "store-requests", "--tenant", "nobody");
  expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("no tenant named")]);
  await server.stop();
});
