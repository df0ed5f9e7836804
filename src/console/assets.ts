/**
 * The console's files as a browser gets them. The page is bundled from its sources, and from the
 * very verifier and compiler that the command line uses, when it is first asked for: nothing
 * generated is kept, so nothing can go stale. No file comes from anywhere else.
 */
import type { BunPlugin } from "bun";

export interface Asset {
  readonly contentType: string;
  readonly body: Uint8Array;
}

const PAGE = new URL("./page/", import.meta.url).pathname;

/** Sources by the name under which they are served. */
const STATIC: Readonly<Record<string, readonly [file: string, contentType: string]>> = {
  "": ["index.html", "text/html; charset=utf-8"],
  "style.css": ["style.css", "text/css; charset=utf-8"],
  "icon.svg": ["icon.svg", "image/svg+xml"],
};
const SCRIPTS: Readonly<Record<string, string>> = {
  "main.js": "main.tsx",
  "compile.js": "compile-worker.ts",
};
const PLOT_STYLE = "plot.css";

/** Scripts and styles of this origin only, and nothing may put the page into a frame. */
export const CONSOLE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "img-src 'self' data:; worker-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

/** Finds files of the console by name; each is made once. */
export class ConsoleAssets {
  readonly #made = new Map<string, Promise<Asset>>();

  /** @returns null for a name that is no file of the console. */
  async find(name: string): Promise<Asset | null> {
    const isKnown = name in STATIC || name in SCRIPTS || name === PLOT_STYLE;
    if (!isKnown) return null;
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const making = make(name);
    this.#made.set(name, making);
    return making;
  }
}

async function make(name: string): Promise<Asset> {
  const script = SCRIPTS[name];
  if (script !== undefined) return bundle(PAGE + script);
  const [file, contentType] = STATIC[name] ?? ["", "text/css; charset=utf-8"];
  const path =
    name === PLOT_STYLE ? Bun.resolveSync("uplot/dist/uPlot.min.css", PAGE) : PAGE + file;
  return { contentType, body: await Bun.file(path).bytes() };
}

async function bundle(entry: string): Promise<Asset> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [BROWSER_HASH],
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`${entry} was not bundled`);
  const body = new Uint8Array(await output.arrayBuffer());
  return { contentType: "text/javascript; charset=utf-8", body };
}

/** Browsers have no synchronous SHA-256: the compiler's ids come from @noble there. */
const BROWSER_HASH: BunPlugin = {
  name: "browser-hash",
  setup(build) {
    build.onResolve({ filter: /\/crypto\/hash\.ts$/ }, () => ({ path: `${PAGE}hash.ts` }));
  },
};
