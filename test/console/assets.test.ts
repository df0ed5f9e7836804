/** The console's files: self-contained, under a strict policy, and nothing else is served. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { ConsoleAssets } from "../../src/console/assets.ts";
import { usageFigures } from "../../src/console/page/usage-figures.ts";
import { createGateway } from "../../src/gateway.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const NAMES = ["", "main.js", "compile.js", "style.css", "plot.css", "icon.svg"];

test("no file of the console names another host, and no page has inline code", async () => {
  const assets = new ConsoleAssets();
  for (const name of NAMES) {
    const asset = await assets.find(name);
    const text = new TextDecoder().decode(asset?.body);
    const hosts = [...text.matchAll(/https?:\/\/([a-z0-9.-]+)/gi)].map(([, host]) => host ?? "");
    // Names of namespaces and dialects, and hints in error messages; never fetched.
    const known = /^(www\.w3\.org|json-schema\.org|feross\.org|localhost)$/;
    expect([name, hosts.filter((host) => !known.test(host))]).toEqual([name, []]);
  }
  const html = new TextDecoder().decode((await assets.find(""))?.body);
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
});

test("files are made once", async () => {
  const assets = new ConsoleAssets();
  const [first, second] = await Promise.all([assets.find("main.js"), assets.find("main.js")]);
  expect(first?.body).toBe(second?.body ?? new Uint8Array());
});

test("the gateway serves the page with its policy, and 404 for what is no file of it", async () => {
  const gateway = createGateway({ dataDir: temporaryDirectory() });
  await gateway.whenReady;
  onTestEnd(() => void gateway.close());
  const get = (path: string): Promise<Response> =>
    gateway.fetch(new Request(`http://localhost${path}`));
  for (const path of ["/", "/console", "/console/"]) {
    const page = await get(path);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; script-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  }
  for (const path of ["/console/main.tsx", "/console/hash.ts", "/console/page"]) {
    expect((await get(path)).status).toBe(404);
  }
  await gateway.close();
});

test("usage adds up, in buckets without gaps", () => {
  const row = (ts: number, ms: number) => ({
    ts,
    ms,
    prompt_tokens: 10,
    completion_tokens: 5,
    status: 200,
  });
  const rows = [row(1000, 50), row(1999, 70), row(4000, 10), row(9000, 1), row(500, 1)];
  const figures = usageFigures(rows, 1000, 5000, 1000);
  expect(figures).toMatchObject({
    requests: 3,
    promptTokens: 30,
    completionTokens: 15,
    medianMs: 50,
    p95Ms: 70,
  });
  expect(figures.buckets.map(({ requests }) => requests)).toEqual([2, 0, 0, 1]);
  expect(figures.buckets.map(({ medianMs }) => medianMs)).toEqual([50, null, null, 10]);
  expect(usageFigures([], 0, 1000, 1000)).toMatchObject({ requests: 0, medianMs: null });
});
