/** What anyone can fetch of a checkpoint: its files and its page. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NO_ANCHORS } from "../../src/anchor/anchor-config.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { startCalendar } from "../anchor/fake-calendar.ts";
import { chat, errorOf, hex, send } from "../helpers/gateway.ts";
import { onFileEnd } from "../trust-kit.ts";
import { unpack } from "../verify/forge.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const HOUR_MS = 3_600_000;
const clock = { nowMs: Date.UTC(2026, 10, 20, 12, 30) };

let gateway: TestGateway;
beforeAll(async () => {
  const calendar = startCalendar();
  onFileEnd(() => calendar.stop());
  const anchors = { ...NO_ANCHORS, calendars: [calendar.url] };
  gateway = await createTestGateway({ anchors }, { nowMs: () => clock.nowMs });
  for (let hour = 0; hour < 2; hour++) {
    await chat(gateway, { max_tokens: 2 });
    clock.nowMs += HOUR_MS;
    gateway.gateway.checkpoints.run();
  }
  await gateway.gateway.anchors.work();
});
afterAll(() => gateway.close());

const get = (path: string) => send(gateway, { path, apiKey: null });

test("every file of a checkpoint is public under the name that exports give it", async () => {
  const latest = (await get("/audit/checkpoint/latest")).json ?? {};
  const name = `/audit/checkpoint/${String(latest["n"]).padStart(8, "0")}`;
  const record = await get(`${name}.json`);
  expect(record.text).toBe(String(latest["record"]));
  expect(hex(record.bytes)).toBe(String(latest["global_head"]));
  expect((await get(`${name}.note`)).text).toBe(String(latest["note"]));
  expect((await get(`${name}.consistency`)).text).toMatch(/^([A-Za-z0-9+/]{43}=\n)+$/);
  const proof = await get(`${name}.json.ots`);
  expect(proof.headers.get("content-type")).toBe("application/vnd.opentimestamps.v1");
  expect(Buffer.from(proof.bytes).includes(Buffer.from(hex(record.bytes), "hex"))).toBe(true);

  const archive = await unpack((await send(gateway, { path: "/v1/audit/export" })).bytes);
  for (const [file, bytes] of archive) {
    if (!file.startsWith("checkpoints/")) continue;
    const path = file.replace("checkpoints/", "/audit/checkpoint/");
    expect(Buffer.from((await get(path)).bytes).equals(bytes)).toBe(true);
  }
  for (const wrong of ["00000001.json.tsr", "00000099.json", "1.json", "00000000.json", "x"]) {
    const missing = await get(`/audit/checkpoint/${wrong}`);
    expect([missing.status, ...errorOf(missing)]).toEqual([404, "no_checkpoint_file", null]);
  }
});

test("the public page says when, which head, how many partitions and how many checkpoints", async () => {
  const { json } = await get("/audit/checkpoint/latest");
  const { status, headers, text } = await get("/audit");
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const shown = [...text.matchAll(/<dd>(.*?)<\/dd>/g)].map(([, html]) => html);
  const { captured_at: at, global_head: head, partitions, n } = json ?? {};
  expect(shown.slice(0, 4)).toEqual([
    `<time datetime="${at}">${at}</time>`,
    `<code>${String(head).slice(0, 16)}…</code>`,
    String(partitions),
    String(n),
  ]);
  expect(text).not.toContain("<script");
  for (const [, path] of text.matchAll(/href="([^"]+)"/g)) {
    expect((await get(String(path))).status).toBe(200);
  }
});
