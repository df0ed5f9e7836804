/**
 * The native library takes the whole process down in the middle of an answer. What was answered
 * before is in the ledger and proven; what was under way is not, and cannot be taken for an answer.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestGateway } from "../../src/testing.ts";
import { jsonOf, run } from "../cli/kit.ts";
import { at, type Json } from "../helpers/gateway.ts";
import { temporaryDirectory } from "../trust-kit.ts";

// A process starts and a model loads: seconds on a busy machine.
setDefaultTimeout(60_000);

const MAIN = new URL("../../src/main.ts", import.meta.url).pathname;
const PATH = "/v1/chat/completions";

async function startProcess(dataDir: string) {
  const settings = ["--data-dir", dataDir, "--port", "0", "--threads", "1", "--rows", "1"];
  const child = Bun.spawn([process.execPath, MAIN, "serve", "--json", ...settings], {
    stdout: "pipe",
    stderr: "ignore",
  });
  let text = "";
  for await (const piece of child.stdout) {
    text += new TextDecoder().decode(piece);
    const line = text.split("\n").find((each) => each.includes('"event":"ready"'));
    if (line === undefined) continue;
    const ready = JSON.parse(line) as Json;
    return { child, url: String(ready["url"]), key: ready["first_key"] as Record<string, string> };
  }
  throw new Error(`the server did not start: ${text}`);
}

/** As `curl -si` saves it. */
function saved({ headers, status }: Response, body: string): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} \r\n${lines.join("")}\r\n${body}`;
}

test("a killed process leaves its ledger whole, and half an answer that proves nothing", async () => {
  const directory = temporaryDirectory();
  const dataDir = join(directory, "data");
  const { child, key, url } = await startProcess(dataDir);
  const post = async (body: string) => {
    const headers = {
      authorization: `Bearer ${key["api_key"]}`,
      "content-type": "application/json",
    };
    return await fetch(url + PATH, { method: "POST", headers, body });
  };
  const bodyOf = (change: object) =>
    JSON.stringify({
      ...{ model: "svc-tier-b", temperature: 2, seed: 1, stream: true },
      messages: [{ role: "user", content: "Tell me all." }],
      ...change,
    });
  // The second cannot be over before it is killed: a digit is a token, and there are 700 to write.
  const schema = { type: "string", pattern: "^[0-9]{700}$" };
  const response_format = { type: "json_schema", json_schema: { name: "n", strict: true, schema } };
  const [whole, half] = [bodyOf({ max_tokens: 3 }), bodyOf({ max_tokens: 900, response_format })];
  const answered = await post(whole);
  const files: Record<string, string> = { "whole.json": whole, "half.json": half };
  files["whole.http"] = saved(answered, await answered.text());

  const broken = await post(half);
  expect(broken.status).toBe(200);
  let text = "";
  const read = async (): Promise<void> => {
    for await (const piece of broken.body ?? []) {
      text += new TextDecoder().decode(piece);
      if (text.includes('"content":"')) child.kill("SIGKILL");
    }
  };
  await read().catch(() => {});
  expect(await child.exited).not.toBe(0);
  expect(text).toContain('"content":"');
  expect(text).not.toContain("svc-attestation");
  files["half.http"] = saved(broken, text);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(directory, name), content);
  }
  writeFileSync(join(directory, "secret"), key["hmac_secret"] ?? "");

  const gateway = await createTestGateway({ dataDir, answers: "shortest" });
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${key["api_key"]}` };
    return await gateway.fetch(path, { headers });
  };
  const audit: unknown = await (await get("/v1/audit")).json();
  expect(at(audit, "chain_ok")).toBe(true);
  expect((at(audit, "rows") as Json[]).map((row) => row["request_id"])).toEqual([
    answered.headers.get("x-request-id"),
  ]);
  writeFileSync(join(directory, "export.tar"), await (await get("/v1/audit/export")).bytes());
  await gateway.close();
  const verify = (name: string) => {
    const options = ["--secret-file", "secret", "--json"];
    const response = `${PATH}:${name}.http:${name}.json`;
    return run({ directory }, "verify", "export.tar", ...options, "--response", response);
  };
  expect(jsonOf(await verify("whole"))).toMatchObject({ ok: true, summary: { responses: 1 } });
  expect((await verify("half")).code).not.toBe(0);
});
