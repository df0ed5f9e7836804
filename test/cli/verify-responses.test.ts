/** `svc verify --response`: answers as curl leaves them, checked against an export. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";
import v4 from "../vectors/iolta/v4-masked.json";
import { jsonOf, run } from "./kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(60_000);

let gateway: TestGateway;
let served: Served;
const directory = temporaryDirectory(onFileEnd);
const PROCESS = "/v1/process/iolta-reconcile";
const input = JSON.stringify(v4.input);
const chat = JSON.stringify({
  model: "svc-tier-b",
  messages: [{ role: "user", content: "Hello." }],
  max_tokens: 4,
  stream: true,
});

const hasCurl = Bun.which("curl") !== null;

beforeAll(async () => {
  gateway = await createTestGateway();
  served = serve(gateway);
  if (!hasCurl) return;
  const put = (name: string, bytes: string | Uint8Array): void =>
    writeFileSync(join(directory, name), bytes);
  const json = ["-H", "content-type: application/json", "-d"];
  put("input.json", input);
  put("chat.json", chat);
  const [process, stream, read] = await Promise.all(
    [[PROCESS, ...json, input], ["/v1/chat/completions", ...json, chat], ["/v1/models"]].map(
      async ([path = "", ...options]) => curl(path, options),
    ),
  );
  put("process.http", process ?? "");
  put("stream.http", stream ?? "");
  put("read.http", read ?? "");
  const changed = Buffer.from(process ?? "");
  const at = changed.lastIndexOf('"receipt"');
  changed[at + 1] = 0x52;
  put("changed.http", changed);
  const exported = await gateway.fetch("/v1/audit/export", {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  put("export.tar", await exported.bytes());
  put("secret", gateway.hmacSecret);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

/** What `curl -si` prints. This process serves what it asks for, and must not wait for it. */
async function curl(path: string, options: readonly string[]): Promise<Uint8Array> {
  const command = ["curl", "-si", ...options, "-H", `authorization: Bearer ${gateway.apiKey}`];
  const child = Bun.spawn([...command, `${served.origin}${path}`], { stdout: "pipe" });
  return await new Response(child.stdout).bytes();
}

const verify = (...responses: readonly string[]) => {
  const given = responses.flatMap((text) => ["--response", text]);
  return run({ directory }, "verify", "export.tar", "--secret-file", "secret", "--json", ...given);
};

test.skipIf(!hasCurl)("answers that curl saved are proven by the export", async () => {
  const result = await verify(
    `${PROCESS}:process.http:input.json`,
    "/v1/chat/completions:stream.http:chat.json",
    "/v1/models:read.http",
  );
  expect(jsonOf(result)).toMatchObject({ ok: true, finding: null, summary: { responses: 3 } });
  expect(result.code).toBe(0);
});

test.skipIf(!hasCurl)(
  "a changed answer, another request and another path are each found",
  async () => {
    const cases: readonly (readonly [string, string])[] = [
      [`${PROCESS}:changed.http:input.json`, "resp_hash"],
      [`${PROCESS}:process.http:chat.json`, "req_hash"],
      ["/v1/compose:process.http:input.json", "req_hash"],
      ["/v1/models:stream.http", "req_hash"],
    ];
    for (const [text, field] of cases) {
      const result = await verify(text);
      expect([result.code, jsonOf(result)["finding"]]).toMatchObject([1, { n: 1, field }]);
    }
  },
);

test("what is no saved answer is refused with what to do", async () => {
  writeFileSync(join(directory, "plain.json"), "{}");
  writeFileSync(join(directory, "x.tar"), "");
  for (const text of ["/v1/models:plain.json", "plain.json", "/v1/models", "/v1/models:missing"]) {
    const { code, err } = await run({ directory }, "verify", "x.tar", "--response", text);
    expect(code).toBe(2);
    expect(err).toMatch(/curl -si|there is no file/);
  }
});
