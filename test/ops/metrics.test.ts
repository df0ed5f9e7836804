/** `/metrics`, and what is shipped to read it with. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, chat, errorOf, INVOICE_SCHEMA, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ metricsAccess: "open" });
});
afterAll(() => gateway.close());

async function scrape(): Promise<string> {
  const { headers, status, text } = await send(gateway, { path: "/metrics", apiKey: null });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  return text;
}

/** @param series as the text has it, labels included; 0 where it is not there. */
function countOf(text: string, series: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

test("counts calls, tokens and time as the ledger has them", async () => {
  const before = await scrape();
  const format = { type: "json_schema", json_schema: { strict: true, schema: INVOICE_SCHEMA } };
  const answers = [await chat(gateway, { response_format: format }), await chat(gateway, { n: 2 })];
  const text = await scrape();
  const grown = (series: string) => countOf(text, series) - countOf(before, series);
  const labels = 'endpoint="/v1/chat/completions",model="svc-tier-b"';
  expect(grown(`svc_calls_total{${labels},status="200"}`)).toBe(2);
  expect(grown(`svc_call_seconds_count{${labels}}`)).toBe(2);
  for (const kind of ["prompt", "completion"]) {
    const tokens = answers.map(({ json }) => Number(at(json, "usage", `${kind}_tokens`)));
    const series = `svc_tokens_total{kind="${kind}",model="svc-tier-b"}`;
    expect(grown(series)).toBe(tokens.reduce((sum, each) => sum + each, 0));
  }
  expect(grown('svc_responses_total{status="200"}')).toBe(3);
  expect(grown('svc_grammars_total{from="compiler"}')).toBe(1);
});

test("shows what the engine and the ledger do", async () => {
  await chat(gateway, { response_format: { type: "json_object" }, max_tokens: 40 });
  const text = await scrape();
  expect(countOf(text, "svc_ready")).toBe(1);
  expect(countOf(text, 'svc_engine_rows{model="svc-tiny"}')).toBe(4);
  expect(countOf(text, 'svc_engine_rows_used{model="svc-tiny"}')).toBe(0);
  expect(countOf(text, 'svc_engine_queue{model="svc-tiny"}')).toBe(0);
  expect(countOf(text, 'svc_engine_sampled_tokens_total{model="svc-tiny"}')).toBeGreaterThan(0);
  expect(countOf(text, "svc_ledger_rows_waiting")).toBe(0);
  expect(text).toMatch(/^svc_checkpoint_age_seconds \d/m);
  expect(text).toMatch(/^svc_build\{version="[0-9.]+",rev="[^"]+"\} 1$/m);
});

test("counts what was refused, and bills nothing for it", async () => {
  const before = await scrape();
  await chat(gateway, { messages: [] });
  const text = await scrape();
  const refused = 'svc_responses_total{status="400"}';
  expect(countOf(text, refused) - countOf(before, refused)).toBe(1);
  expect(text).not.toMatch(/svc_calls_total\{[^}]*status="400"/);
});

test("every line is in the text format, and none names a tenant", async () => {
  const text = await scrape();
  expect(text).not.toContain(gateway.tenantId);
  for (const line of text.trimEnd().split("\n")) {
    expect(line).toMatch(
      /^(# (HELP|TYPE) svc_[a-z_]+ .+|svc_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+|)$/,
    );
  }
});

test("are closed without a key, and open to the right one", async () => {
  const read = (of: TestGateway, token: string) =>
    send(of, { path: "/metrics", apiKey: null, headers: { authorization: `Bearer ${token}` } });
  const locked = await createTestGateway({ metricsAccess: { key: "scrape-me" } });
  try {
    expect((await read(locked, "scrape-me")).status).toBe(200);
    for (const token of ["scrape-m", "", "scrape-me2"]) {
      const refused = await read(locked, token);
      expect([refused.status, errorOf(refused)[0]]).toEqual([401, "invalid_metrics_key"]);
    }
  } finally {
    await locked.close();
  }
});

const ops = (name: string): string =>
  readFileSync(new URL(`../../src/ops/${name}`, import.meta.url), "utf8");

test("the dashboard and the alerts ask for metrics that there are", async () => {
  const text = await scrape();
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  // Only once something is anchored.
  known.add("svc_anchored_age_seconds");
  for (const file of ["grafana-dashboard.json", "alerts.yml"]) {
    const asked = ops(file).match(/\bsvc_[a-z_]+/g) ?? [];
    expect(asked.length).toBeGreaterThan(2);
    const missing = asked.filter((name) => !known.has(name.replace(/_bucket$/, "")));
    expect(missing).toEqual([]);
  }
});

test("the image copies files that there are, and runs the version that the tests ran", () => {
  const dockerfile = ops("Dockerfile");
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = ""]) =>
    names.split(" "),
  );
  const root = new URL("../../", import.meta.url).pathname;
  const exists = (name: string) => Bun.spawnSync(["test", "-e", root + name]).success;
  expect(copied.filter((name) => !exists(name))).toEqual([]);
  expect(dockerfile.match(/oven\/bun:([0-9.]+)-slim/)?.[1]).toBe(Bun.version);
});
