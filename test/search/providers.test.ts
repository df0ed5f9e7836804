/** The contract of every provider, against recorded local servers; and what is never asked. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { indexDirectory, localProvider } from "../../src/search/local-index.ts";
import { NO_PROVIDER, SearchError, type SearchProvider } from "../../src/search/provider.ts";
import { type RemoteKind, remoteProvider } from "../../src/search/remote-providers.ts";
import { FETCH_LIMITS, fetchJson } from "../../src/search/safe-fetch.ts";
import { openIndexForReading, openIndexForWriting } from "../../src/store/open-index.ts";

const PAGES = [
  {
    title: "First page",
    url: "https://a.example/1",
    text: "Rates rose to <strong>5</strong> percent.",
  },
  { title: "Second", url: "https://b.example/2", text: "Rates fell." },
  { title: "Second again", url: "https://b.example/2", text: "A repetition." },
  { title: "No address", url: "javascript:alert(1)", text: "Not a result." },
] as const;

/** What each service answers, in its own form. */
const RECORDED: Readonly<Record<RemoteKind, unknown>> = {
  searxng: {
    query: "rates",
    results: PAGES.map(({ title, url, text }) => ({ title, url, content: text, engine: "x" })),
  },
  brave: {
    type: "search",
    web: { results: PAGES.map(({ title, url, text }) => ({ title, url, description: text })) },
  },
  tavily: {
    results: PAGES.map(({ title, url, text }) => ({ title, url, content: text, score: 1 })),
  },
};

/** How each service is asked. */
const ASKED: Readonly<Record<RemoteKind, string>> = {
  searxng: "GET /base/search?q=rates+%26+more&format=json -",
  brave: "GET /base/res/v1/web/search?q=rates+%26+more&count=3 token=KEY",
  tavily: 'POST /base/search {"query":"rates & more","max_results":3} auth=Bearer KEY',
};

const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

function serve(answer: (request: Request, asked: string[]) => Response | Promise<Response>) {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => answer(request, asked),
  });
  closers.push(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}`, host: `127.0.0.1:${server.port}`, asked };
}

function recorded(kind: RemoteKind) {
  return serve(async (request, asked) => {
    const url = new URL(request.url);
    const token = request.headers.get("x-subscription-token");
    const auth = request.headers.get("authorization");
    const parts = [
      `${request.method} ${url.pathname}${url.search}`,
      await request.text(),
      token === null ? "" : `token=${token}`,
      auth === null ? "" : `auth=${auth}`,
    ].filter((part) => part !== "");
    asked.push(parts.length === 1 ? `${parts[0]} -` : parts.join(" "));
    return Response.json(RECORDED[kind]);
  });
}

const rules = { allowPrivate: true, limits: FETCH_LIMITS };
const never = new AbortController().signal;

function remote(kind: RemoteKind, baseUrl: string, more: Partial<typeof rules> = {}) {
  return remoteProvider(kind, { baseUrl, apiKey: "KEY", rules: { ...rules, ...more } });
}

async function localKit(files: Readonly<Record<string, string | Uint8Array>>) {
  const directory = mkdtempSync(join(tmpdir(), "svc-index-"));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "index", "search.sqlite");
  const documents = mkdtempSync(join(tmpdir(), "svc-documents-"));
  closers.push(() => rmSync(documents, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(documents, name), content);
  const db = openIndexForWriting(path);
  closers.unshift(() => db.close());
  const index = () => indexDirectory(db, "docs", documents);
  const report = await index();
  const reader = openIndexForReading(path);
  if (!reader) throw new Error("the index was not made");
  closers.unshift(() => reader.close());
  return { documents, report, index, provider: localProvider(reader) };
}

async function failure(provider: SearchProvider, signal = never): Promise<string> {
  try {
    const results = await provider.search("rates", 3, signal);
    return `${results.length} results`;
  } catch (error) {
    if (error instanceof SearchError) return error.code;
    throw error;
  }
}

describe("every provider", () => {
  const makers: Readonly<Record<string, () => Promise<SearchProvider> | SearchProvider>> = {
    "searxng@1": () => remote("searxng", `${recorded("searxng").url}/base/`),
    "brave@v1": () => remote("brave", `${recorded("brave").url}/base`),
    "tavily@1": () => remote("tavily", `${recorded("tavily").url}/base`),
    "local@1.0.0": async () =>
      (
        await localKit({
          "first.md": "# First page\n\nRates rose to 5 percent.",
          "second.txt": "Rates fell.",
        })
      ).provider,
    none: () => NO_PROVIDER,
  };
  for (const [name, make] of Object.entries(makers)) {
    test(`${name} names itself, and gives plain text with an address, at most as many as asked`, async () => {
      const provider = await make();
      expect(provider.name).toBe(name);
      const results = await provider.search("rates & more", 3, never);
      expect(results).toHaveLength(name === "none" ? 0 : 2);
      for (const result of results) {
        expect(Object.keys(result)).toEqual(["title", "url", "snippet"]);
        expect(result.url).toMatch(/^(https|local):\/\//);
        expect(result.snippet).toMatch(/^Rates (rose to 5 percent|fell)\.$|First page/);
      }
      expect(await provider.search("rates", 1, never)).toHaveLength(name === "none" ? 0 : 1);
    });
  }

  for (const kind of ["searxng", "brave", "tavily"] as const) {
    test(`${kind} is asked in its own form`, async () => {
      const { url, asked } = recorded(kind);
      await remote(kind, `${url}/base`).search("rates & more", 3, never);
      expect(asked).toEqual([ASKED[kind]]);
    });
  }
});

describe("what goes wrong", () => {
  test("a service that does not answer in time", async () => {
    const { url } = serve(() => new Promise<Response>(() => undefined));
    const limits = { ...FETCH_LIMITS, timeoutMs: 30 };
    expect(await failure(remote("searxng", url, { limits }))).toBe("search_timeout");
  });

  test("an answer without end", async () => {
    const { url } = serve(() => new Response("x".repeat(10_000)));
    const limits = { ...FETCH_LIMITS, answerBytesMax: 9999 };
    expect(await failure(remote("searxng", url, { limits }))).toBe("search_answer_too_large");
  });

  const answers: readonly (readonly [string, () => Response, string])[] = [
    ["an error status", () => new Response("no", { status: 403 }), "search_failed"],
    ["no JSON", () => new Response("<html>"), "search_answer_invalid"],
    ["JSON of another form", () => Response.json({ results: {} }), "search_answer_invalid"],
    ["results of another form", () => Response.json({ results: [1, null, {}] }), "0 results"],
    ["no results", () => Response.json({ results: [] }), "0 results"],
  ];
  for (const [name, answer, expected] of answers) {
    test(name, async () => {
      expect(await failure(remote("searxng", serve(answer).url))).toBe(expected);
    });
  }

  test("a service that is not there", async () => {
    const gone = serve(() => new Response());
    await closers.pop()?.();
    expect(await failure(remote("searxng", gone.url))).toBe("search_failed");
  });

  test("a caller who leaves", async () => {
    const { url } = serve(() => new Promise<Response>(() => undefined));
    const leaving = new AbortController();
    const asked = failure(remote("searxng", url), leaving.signal);
    leaving.abort();
    expect(await asked).toBe("search_failed");
  });
});

describe("addresses", () => {
  test("a redirect within the configured host is followed, one to another host is not", async () => {
    const other = recorded("searxng");
    const { url } = serve((request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/moved/search") return Response.json(RECORDED.searxng);
      const to = pathname === "/in/search" ? "/moved/search" : `${other.url}/search`;
      return new Response(null, { status: 302, headers: { location: to } });
    });
    expect(await failure(remote("searxng", `${url}/in`))).toBe("2 results");
    expect(await failure(remote("searxng", `${url}/out`))).toBe("search_address_refused");
    expect(other.asked).toEqual([]);
  });

  test("redirects end", async () => {
    const { url } = serve(
      () => new Response(null, { status: 302, headers: { location: "/search" } }),
    );
    expect(await failure(remote("searxng", url))).toBe("search_failed");
  });

  const resolved = (addresses: readonly string[], baseUrl = "https://search.invalid") =>
    failure(
      remoteProvider("searxng", {
        baseUrl,
        apiKey: "",
        rules: {
          allowPrivate: false,
          limits: { ...FETCH_LIMITS, timeoutMs: 200 },
          resolve: () => Promise.resolve(addresses),
        },
      }),
    );

  const refused = [
    "127.0.0.1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:c0a8:1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2001::1",
    "fec0::1",
    "fe80::1%eth0",
    "ff02::1",
    "192.88.99.1",
    "240.0.0.1",
    "255.255.255.255",
    "nonsense",
  ];
  for (const address of refused) {
    test(`${address} is refused`, async () => {
      expect(await resolved([address])).toBe("search_address_refused");
      // One private address among public ones is enough.
      expect(await resolved(["93.184.216.34", address])).toBe("search_address_refused");
    });
  }

  test("a host without an address, plain HTTP and credentials are refused", async () => {
    expect(await resolved([])).toBe("search_address_refused");
    expect(await resolved(["93.184.216.34"], "http://search.invalid")).toBe(
      "search_address_refused",
    );
    expect(await resolved(["93.184.216.34"], "https://a:b@search.invalid")).toBe(
      "search_address_refused",
    );
  });

  const literal = (baseUrl: string) =>
    failure(
      remoteProvider("searxng", {
        baseUrl,
        apiKey: "",
        rules: { allowPrivate: false, limits: { ...FETCH_LIMITS, timeoutMs: 200 } },
      }),
    );

  test.each([
    "https://localhost",
    "https://127.1",
    "https://2130706433",
    "https://0x7f000001",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://169.254.169.254",
  ])("%s is refused by the platform's own resolver", async (baseUrl) => {
    expect(await literal(baseUrl)).toBe("search_address_refused");
  });

  test("a redirect never leaves HTTPS, where the key would be read", async () => {
    const asked: string[] = [];
    const rules = {
      hosts: ["search.invalid"],
      allowPrivate: true,
      limits: FETCH_LIMITS,
      fetch: (url: URL) => {
        asked.push(url.href);
        const headers = { location: "http://search.invalid/search" };
        return Promise.resolve(new Response(null, { status: 307, headers }));
      },
    };
    const call = fetchJson(new URL("https://search.invalid/"), {}, rules, never);
    await expect(call).rejects.toMatchObject({ code: "search_address_refused" });
    expect(asked).toEqual(["https://search.invalid/"]);
  });

  test("a redirect to a name that has moved into a private network is refused", async () => {
    const answers = [["93.184.216.34"], ["10.0.0.1"]];
    const rules = {
      hosts: ["search.invalid"],
      allowPrivate: false,
      limits: FETCH_LIMITS,
      resolve: () => Promise.resolve(answers.shift() ?? []),
      fetch: () =>
        Promise.resolve(new Response(null, { status: 302, headers: { location: "/again" } })),
    };
    const call = fetchJson(new URL("https://search.invalid/"), {}, rules, never);
    await expect(call).rejects.toMatchObject({ code: "search_address_refused" });
    expect(answers).toEqual([]);
  });

  test("172.32.0.1 and 2606:2800:: are public", async () => {
    // Past the guard, and then nobody answers under this name.
    expect(await resolved(["172.32.0.1"])).toBe("search_failed");
    expect(await resolved(["2606:2800:220:1::1"])).toBe("search_failed");
  });
});

describe("the local index", () => {
  /** "Payment of 5,000 dollars is due." on one page, as the smallest PDF that says so. */
  const PDF = smallestPdf("Payment of 5,000 dollars is due.", "Lease");

  test("reads text, Markdown, HTML and PDF", async () => {
    const { report, provider } = await localKit({
      "a.txt": "An apple.",
      "b.md": "Intro\n\n## Bananas #\n\nA banana.",
      "c.html":
        "<html><head><title>Cherry &amp; Co</title><style>x{}</style></head>" +
        "<body><script>var hidden = 1</script><p>A cherry.</p><p>Two.</p></body></html>",
      "d.pdf": PDF,
      "e.exe": "An apple that is not read.",
      "f.pdf": "no PDF",
    });
    expect(report).toMatchObject({ added: 4, unchanged: 0, removed: 0 });
    expect(report.failed.map(({ path }) => path)).toEqual(["f.pdf"]);
    const first = async (query: string) => (await provider.search(query, 5, never))[0];
    expect(await first("apple")).toEqual({
      title: "a.txt",
      url: "local://docs/a.txt#1",
      snippet: "An apple.",
    });
    expect((await first("banana"))?.title).toBe("Bananas");
    expect(await first("cherry")).toMatchObject({
      title: "Cherry & Co",
      snippet: "A cherry. Two.",
    });
    expect(await first("hidden")).toBeUndefined();
    expect(await first("when is the payment due?")).toMatchObject({
      title: "Lease",
      snippet: "Payment of 5,000 dollars is due.",
    });
  });

  test("follows its directory", async () => {
    const { documents, index, provider } = await localKit({ "a.txt": "old", "b.txt": "stays" });
    writeFileSync(join(documents, "a.txt"), "new");
    writeFileSync(join(documents, "c.txt"), "more");
    expect(await index()).toEqual({ added: 2, unchanged: 1, removed: 0, failed: [] });
    rmSync(join(documents, "b.txt"));
    expect(await index()).toEqual({ added: 0, unchanged: 2, removed: 1, failed: [] });
    expect(await provider.search("old stays", 5, never)).toEqual([]);
    expect(await provider.search("new more", 5, never)).toHaveLength(2);
  });

  test("the passage with the rare word comes first, and queries are never syntax", async () => {
    const { provider } = await localKit({
      "a.txt": "The contract is long. ".repeat(20),
      "b.txt": "The contract mentions estoppel.",
    });
    const [first] = await provider.search("contract estoppel", 5, never);
    expect(first?.url).toBe("local://docs/b.txt#1");
    for (const query of ['"', "NEAR(a b)", "title:x", "* OR", "???", "the"]) {
      expect((await provider.search(query, 5, never)).length).toBeLessThanOrEqual(2);
    }
  });

  test("long texts are cut into passages between words, and nothing is lost", async () => {
    const words = Array.from({ length: 900 }, (_, index) => `word${index}`);
    const { provider } = await localKit({ "a.txt": words.join(" ") });
    const results = await provider.search("word0 word400 word899", 10, never);
    expect(results).toHaveLength(3);
    for (const { snippet } of results) {
      expect(snippet.length).toBeLessThanOrEqual(1000);
      for (const word of snippet.split(" ")) expect(words).toContain(word);
    }
  });
});

function smallestPdf(text: string, title: string): Uint8Array {
  const stream = `BT /F1 12 Tf 20 100 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R " +
      "/Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Title (${title}) >>`,
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return String(offset).padStart(10, "0");
  });
  const start = pdf.length;
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  pdf += offsets.map((offset) => `${offset} 00000 n \n`).join("");
  pdf += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 6 0 R >>\n`;
  return new TextEncoder().encode(`${pdf}startxref\n${start}\n%%EOF\n`);
}
