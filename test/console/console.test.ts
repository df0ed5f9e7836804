/**
 * The console in a real browser against `svc serve` with the embedded model. With `SCREENSHOTS=dir`
 * every page is kept as a picture, in light and dark.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type RunningServer, run, startServer } from "../cli/kit.ts";

setDefaultTimeout(60_000);

const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome");
if (executablePath === null) {
  process.stderr.write("the console is NOT tested: no chromium here (apt-get install chromium)\n");
}
const browserTest = test.skipIf(executablePath === null);
const pictures = process.env["SCREENSHOTS"];

const directory = mkdtempSync(join(tmpdir(), "svc-console-"));
let server: RunningServer;
let browser: Browser;
let context: BrowserContext;
let key: { readonly apiKey: string; readonly secret: string };
/** What pages said on their consoles, and what they asked of other hosts. */
const complaints: string[] = [];

beforeAll(async () => {
  if (executablePath === null) return;
  server = await startServer({ directory });
  key = {
    apiKey: String(server.firstKey?.["api_key"]),
    secret: String(server.firstKey?.["hmac_secret"]),
  };
  expect((await run({ directory }, "checkpoint")).code).toBe(0);
  browser = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
  context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function open(name: string, secret = key.secret): Promise<Page> {
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(server.url) || /^(data|blob):/.test(request.url());
    if (!isOwn) complaints.push(`asked for ${request.url()}`);
  });
  const session = JSON.stringify({ apiKey: key.apiKey, hmacSecret: secret });
  await page.addInitScript((text) => sessionStorage.setItem("svc-session", text), session);
  await page.goto(`${server.url}/console#/${name}`);
  return page;
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

async function closed(page: Page): Promise<void> {
  await page.close();
  expect(complaints.splice(0)).toEqual([]);
}

browserTest("without a key the page asks for one, tries it, and keeps it in the tab", async () => {
  const page = await context.newPage();
  await page.goto(`${server.url}/console`);
  await page.getByLabel("API key").fill("sk-svc-wrong");
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByRole("alert").filter({ hasText: /key/i }).waitFor();
  await picture(page, "sign-in");
  await page.getByLabel("API key").fill(key.apiKey);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Run" }).waitFor();
  await page.getByRole("button", { name: "Forget the key" }).click();
  await page.getByLabel("API key").waitFor();
  await page.close();
});

browserTest("the playground streams a locked answer, and the browser verifies it", async () => {
  const page = await open("playground");
  await page.getByText("Enforced exactly").waitFor();
  expect(await page.getByTestId("gbnf").textContent()).toContain("root ::=");
  await page.getByRole("button", { name: "Run" }).click();
  const badge = page.getByTestId("verify-badge");
  await badge.waitFor();
  expect(await badge.textContent()).toBe("Verified");
  const text = (await page.locator("pre.answer").textContent()) ?? "";
  expect(JSON.parse(text)).toMatchObject({ invoice_number: "INV-2041", currency: "EUR" });
  const forced = page.locator("pre.answer .forced");
  expect((await forced.allTextContents()).join("")).toContain("invoice_number");
  expect(await forced.first().getAttribute("title")).toMatch(/^forced, \d+\.\d µs$/);
  expect(await page.locator("pre.answer .chosen").count()).toBeGreaterThan(3);
  const summary = (await page.getByTestId("token-summary").textContent()) ?? "";
  const [, tokens, told] = /^(\d+) tokens: (\d+) forced/.exec(summary) ?? [];
  await page.getByText("Every token, with the lock's time for it").click();
  expect(await page.locator(".token-table tbody tr").count()).toBe(Number(tokens));
  expect(await page.getByRole("cell", { name: "forced", exact: true }).count()).toBe(Number(told));
  await picture(page, "playground");
  await closed(page);
});

browserTest("with another tenant's secret the badge says so", async () => {
  const page = await open("playground", "0".repeat(64));
  await page.getByText("Enforced exactly").waitFor();
  await page.getByRole("button", { name: "Run" }).click();
  const badge = page.getByTestId("verify-badge");
  await badge.waitFor();
  expect(await badge.textContent()).toBe("Does not verify");
  await closed(page);
});

browserTest(
  "a schema that is refused is shown where it goes wrong, and cannot be run",
  async () => {
    const page = await open("playground");
    const editor = page.getByRole("textbox", { name: "JSON Schema" });
    await editor.fill('{\n  "type": "object",\n  "properties": { "a": { "minimum": "x" } }\n}');
    await page.getByText("Line 3, column 26").waitFor();
    expect(await editor.getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Show" }).click();
    const selected = await editor.evaluate((element) => {
      const { selectionStart, value } = element as unknown as {
        readonly selectionStart: number;
        readonly value: string;
      };
      return value.slice(selectionStart, selectionStart + 9);
    });
    expect(selected).toBe('"minimum"');
    await picture(page, "playground-refused");
    await editor.fill('{ "type": ');
    await page.getByText(/not JSON/).waitFor();
    await closed(page);
  },
);

browserTest("every page can be reached and used by keyboard alone", async () => {
  const page = await open("playground");
  await page.getByText("Enforced exactly").waitFor();
  for (const title of ["Audit", "Checkpoints", "Usage", "Models", "API"]) {
    await page.getByRole("link", { name: title, exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    const current = page.locator('nav a[aria-current="page"]');
    expect(await current.textContent()).toBe(title);
    expect(await page.title()).toBe(`${title} · svc console`);
  }
  await closed(page);
});

browserTest("checkpoints, usage and models show what the server knows", async () => {
  await ask(2);
  const page = await open("checkpoints");
  await page.getByText("checked by the server").waitFor();
  await page.getByRole("table").waitFor();
  await picture(page, "checkpoints");
  await page.goto(`${server.url}/console#/usage`);
  await page.locator(".figures").getByText("median latency").waitFor();
  await page.locator(".plot canvas").first().waitFor();
  await picture(page, "usage");
  await page.goto(`${server.url}/console#/models`);
  await page.getByText("svc-tiny").first().waitFor();
  await page.getByText("rows used").first().waitFor();
  await picture(page, "models");
  await closed(page);
});

browserTest("anchors stand beside their checkpoint, each with how far it is", async () => {
  const page = await open("models");
  const anchors = [
    { kind: "ots", target: "https://calendar.example", state: "pending" },
    { kind: "rfc3161", target: "https://authority.example", state: "confirmed" },
  ];
  await page.route("**/audit/checkpoint/latest", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), anchors } });
  });
  await page.goto(`${server.url}/console#/checkpoints`);
  const first = page.locator("tbody tr").first();
  await first.getByText("OpenTimestamps, https://calendar.example").waitFor();
  expect(await first.locator(".badge").allTextContents()).toEqual(["pending", "confirmed"]);
  await picture(page, "checkpoints-anchored");
  await closed(page);
});

browserTest("the API page lists every operation of the document, and finds by words", async () => {
  const page = await open("api");
  const answered = await fetch(`${server.url}/openapi.json`);
  const document = (await answered.json()) as { paths: Record<string, object> };
  const operations = Object.values(document.paths).flatMap(Object.keys);
  await page.getByText(`${operations.length} of ${operations.length} operations`).waitFor();
  await page.getByLabel("Find an operation").fill("embeddings");
  await page.getByText(`1 of ${operations.length} operations`).waitFor();
  await page.getByText("POST /v1/embeddings").click();
  await page.getByRole("heading", { name: "Answer 200" }).waitFor();
  await picture(page, "api");
  await closed(page);
});

browserTest("the audit page follows the chain, and shows a break where it is", async () => {
  await ask(4);
  const page = await open("audit");
  await page.getByText("every hash and link holds").waitFor();
  const rows = await page.locator("tbody tr").count();
  expect(rows).toBeGreaterThanOrEqual(2);
  await page.locator("tbody button").first().click();
  await page.getByText('"prev_hash"').waitFor();
  await picture(page, "audit");
  await closed(page);

  // Somebody with the database in hand rewrites the second row.
  const database = new Database(join(directory, "data", "svc.sqlite"));
  rewriteRow(database, 2);
  database.close();
  const broken = await open("audit");
  const status = broken.getByTestId("chain-status");
  await status.getByText("Broken at row 2: the row was changed").waitFor();
  await status.getByText("The server reports a break").waitFor();
  expect(await broken.locator("tr.broken").count()).toBe(1);
  await picture(broken, "audit-broken");
  await closed(broken);
});

/** The triggers that forbid it are put back: the database looks as it always did. */
function rewriteRow(database: Database, seq: number): void {
  const query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'";
  const triggers = database.query(query).all() as { readonly name: string; readonly sql: string }[];
  for (const { name } of triggers) database.run(`DROP TRIGGER "${name}"`);
  const body = "CAST(replace(CAST(body AS TEXT), '\"ms\":', '\"ms\":1') AS BLOB)";
  database.run(`UPDATE ledger_row SET body = ${body} WHERE seq = ?`, [seq]);
  for (const { sql } of triggers) database.run(sql);
}

/** Rows to look at, whatever ran before. */
async function ask(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "svc-tier-b",
        messages: [{ role: "user", content: `Hello ${n}` }],
        max_tokens: 5,
      }),
    });
    expect(response.status).toBe(200);
  }
}
