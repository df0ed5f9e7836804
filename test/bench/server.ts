/** The program as it is served, in a process of its own, for benches. */

export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const MAIN = new URL("../../src/main.ts", import.meta.url).pathname;

/** @returns once every model can answer: until then the self-test takes part of the machine. */
export async function startServer(
  dataDir: string,
  flags: readonly string[] = [],
): Promise<BenchServer> {
  const command = [process.execPath, MAIN, "serve", "--data-dir", dataDir, ...flags];
  const server = Bun.spawn([...command, "--port", "0", "--json"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const stop = async (): Promise<void> => {
    server.kill("SIGTERM");
    await server.exited;
  };
  let text = "";
  for await (const piece of server.stdout) {
    text += new TextDecoder().decode(piece);
    const url = /"url":"([^"]+)"/.exec(text)?.[1];
    if (url === undefined) continue;
    while (!(await fetch(`${url}/ready`)).ok) await Bun.sleep(100);
    return { url, pid: server.pid, stop };
  }
  await stop();
  throw new Error("the server did not start");
}

export interface BenchKey {
  readonly api_key: string;
  readonly hmac_secret: string;
}

/** Makes a key through the running server. */
export function createKey(dataDir: string): BenchKey {
  const command = [process.execPath, MAIN, "keys", "create", "--data-dir", dataDir];
  const made = Bun.spawnSync([...command, "--tenant", "bench", "--json"]);
  return JSON.parse(made.stdout.toString()) as BenchKey;
}

/** To two decimals. */
export function round(value: number | undefined): number {
  return Math.round((value ?? 0) * 100) / 100;
}
