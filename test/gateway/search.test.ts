import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";
import { indexDirectory } from "../../src/search/local-index.ts";
import { searchIndexPath } from "../../src/service/open-search.ts";
import { openIndexForWriting } from "../../src/store/open-index.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { type Answered, at, errorOf, hex, type Json, rowsOf, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let dataDir: string;
let gateway: TestGateway;
/** The first answer, before there was an index. */
let before: Answered;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "svc-search-"));
  gateway = await createTestGateway({ dataDir });
  before = await post("/v1/search", { query: "walnut tariff" });
  await makeIndex();
});
afterAll(async () => {
  await gateway.close();
  rmSync(dataDir, { recursive: true });
});

const post = (path: string, body: unknown) => send(gateway, { path, body: JSON.stringify(body) });

function outputOf(json: Json | null): JsonValue {
  const { receipt: _, ...output } = json ?? {};
  return output as JsonValue;
}

/** Makes the data directory's index, as `svc index add` does beside a running server. */
async function makeIndex(): Promise<void> {
  const documents = join(dataDir, "documents");
  mkdirSync(documents, { recursive: true });
  writeFileSync(join(documents, "walnut.md"), "# Walnut\n\nThe walnut tariff is 42 marks a ton.\n");
  const db = openIndexForWriting(searchIndexPath(dataDir));
  await indexDirectory(db, "documents", documents);
  db.close();
}

describe("search", () => {
  test("without a provider finds nothing, with a receipt and a row; an index is found at once", async () => {
    const { json } = before;
    expect(json).toMatchObject({ query: "walnut tariff", provider: "none", results: [] });
    expect(at(json, "receipt", "output_hash")).toBe(hex(canonicalJson(outputOf(json))));
    const count = (await rowsOf(gateway)).length;
    const found = await post("/v1/search", { query: "walnut tariff", max_results: 1 });
    expect(found.json?.["provider"]).toMatch(/^local@/);
    expect(at(found.json, "results", 0, "snippet")).toContain("42 marks");
    const rows = await rowsOf(gateway);
    expect(rows.length).toBe(count + 1);
    expect(rows.at(-1)).toMatchObject({
      path: "/v1/search",
      engine: "svc-search/1",
      deterministic: false,
      output_hash: at(found.json, "receipt", "output_hash"),
    });
  });

  test("refuses what is no query, and costs nothing then", async () => {
    const count = (await rowsOf(gateway)).length;
    for (const [body, pointer] of [
      [{}, "/query"],
      [{ query: " " }, "/query"],
      [{ query: "a", max_results: 11 }, "/max_results"],
      [{ query: "a", other: 1 }, "/other"],
    ] as const) {
      const refused = await post("/v1/search", body);
      expect([refused.status, errorOf(refused)[1]]).toEqual([400, pointer]);
    }
    expect((await rowsOf(gateway)).length).toBe(count);
  });
});

describe("grounded chat", () => {
  test("answers with citations under one receipt, in one row", async () => {
    const count = (await rowsOf(gateway)).length;
    const answered = await post("/v1/chat-grounded", {
      query: "What is the walnut tariff today?",
      mode: "always-search",
      max_tokens: 60,
    });
    expect(answered.status).toBe(200);
    expect(answered.json).toMatchObject({
      answer: expect.any(String),
      search_used: true,
      search_skip_reason: "",
      model: "svc-tier-b",
      usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
      receipt: {
        output_hash: hex(canonicalJson(outputOf(answered.json))),
        verify_verdict: expect.stringMatching(/^(supported|partial|unsupported|not_checked)$/),
        evidence_chain: {
          search_request_id: expect.stringMatching(/^req_/),
          search_provider: expect.stringMatching(/^local@/),
          search_output_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          search_ms: expect.any(Number),
          chat_ms: expect.any(Number),
        },
      },
    });
    const citations = answered.json?.["citations"] as readonly Json[];
    expect(citations.length).toBeGreaterThan(0);
    for (const [, marker] of String(answered.json?.["answer"]).matchAll(/\[(\d+)\]/g)) {
      expect(Number(marker)).toBeLessThanOrEqual(citations.length);
    }
    const rows = await rowsOf(gateway);
    expect(rows.length).toBe(count + 1);
    expect(rows.at(-1)).toMatchObject({ path: "/v1/chat-grounded", engine: "svc-grounded/1" });
  });

  test("searches only where the mode or the words ask for it", async () => {
    const skipped = async (body: object) => {
      const answered = await post("/v1/chat-grounded", { max_tokens: 30, ...body });
      return [at(answered.json, "search_used"), at(answered.json, "search_skip_reason")];
    };
    expect(await skipped({ query: "Hello" })).toEqual([false, "no_keyword_matched"]);
    expect(await skipped({ query: "latest news", mode: "never-search" })).toEqual([
      false,
      "mode_never_search",
    ]);
  });

  test("refuses what is no request", async () => {
    for (const [body, status, param] of [
      [{}, 400, "/query"],
      [{ query: "a", mode: "sometimes" }, 400, "/mode"],
      [{ query: "a", temperature: 3 }, 400, "/temperature"],
      [{ query: "a", model: "gpt" }, 404, "model"],
    ] as const) {
      const refused = await post("/v1/chat-grounded", body);
      expect([refused.status, errorOf(refused)[1]]).toEqual([status, param]);
    }
    const stranger = await send(gateway, {
      path: "/v1/chat-grounded",
      body: '{"query":"a"}',
      apiKey: null,
    });
    expect(stranger.status).toBe(401);
  });
});
