/**
 * The running server's side of `D/control.sock`: a socket that only the server's own user can open
 * (mode 0600 in a directory of mode 0700). It takes the acts of `acts.ts`, one per request.
 */
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ActName, type ActTarget, PERFORM } from "./acts.ts";
import { cliErrorFrom } from "./cli-error.ts";
import { withControlPath } from "./control-path.ts";

export interface ControlServer {
  close(): Promise<void>;
}

/** Call only while holding the directory's lock: a socket that is still there is then stale. */
export async function openControlServer(
  dataDir: string,
  target: ActTarget,
): Promise<ControlServer> {
  const path = join(dataDir, "control.sock");
  rmSync(path, { force: true });
  const server = await withControlPath(dataDir, (unix) => {
    const previous = process.umask(0o177);
    try {
      return Bun.serve({ unix, fetch: (request) => answer(target, request) });
    } finally {
      process.umask(previous);
    }
  });
  chmodSync(path, 0o600);
  return {
    close: async () => {
      await server.stop();
      rmSync(path, { force: true });
    },
  };
}

/** Answers `{ result }` or `{ error: { code, message, hint } }`. */
async function answer(target: ActTarget, request: Request): Promise<Response> {
  const name = new URL(request.url).pathname.slice(1);
  if (request.method !== "POST" || !isActName(name)) {
    const error = { code: "unknown_act", message: `this server does not know ${name}`, hint: null };
    return Response.json({ error }, { status: 404 });
  }
  try {
    // Only this program's own commands can reach the socket; they send what the act takes.
    const perform = PERFORM[name] as (target: ActTarget, input: unknown) => unknown;
    return Response.json({ result: perform(target, await request.json()) });
  } catch (error) {
    const known = cliErrorFrom(error);
    if (known === null) throw error;
    const { code, message, hint } = known;
    return Response.json({ error: { code, message, hint } }, { status: 400 });
  }
}

function isActName(name: string): name is ActName {
  return Object.hasOwn(PERFORM, name);
}
