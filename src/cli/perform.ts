/** Does an act to a data directory, through the server that has it open, or alone. */
import { existsSync } from "node:fs";
import type { Config } from "../config.ts";
import { buildRev } from "../rev.ts";
import { openTenancy, openTrust } from "../service/open-trust.ts";
import { StoreError } from "../store/store-error.ts";
import { type ActName, type Acts, type ActTarget, PERFORM } from "./acts.ts";
import { CliError } from "./cli-error.ts";
import { withControlPath } from "./control-path.ts";

/** How long another command, or a server that is just starting, may hold the directory. */
const LOCK_WAIT_MS = 5000;
const LOCK_POLL_MS = 50;

/** @throws CliError, and what the act itself throws. */
export async function performAct<K extends ActName>(
  config: Config,
  name: K,
  input: Acts[K]["input"],
): Promise<Acts[K]["result"]> {
  if (name !== "create-key" && !existsSync(config.dataDir)) {
    const hint = "give the --data-dir of the server; its start, or svc keys create, makes one";
    const message = `there is no data directory ${config.dataDir}`;
    throw new CliError(message, { code: "no_data_directory", hint });
  }
  for (let waitedMs = 0; ; waitedMs += LOCK_POLL_MS) {
    const answered = await askServer(config.dataDir, name, input);
    if (answered !== null) return answered.result;
    try {
      return performAlone(config, name, input);
    } catch (error) {
      const isLocked = error instanceof StoreError && error.code === "directory_locked";
      if (!isLocked || waitedMs >= LOCK_WAIT_MS) throw error;
      await Bun.sleep(LOCK_POLL_MS);
    }
  }
}

/** @returns null where no server listens. @throws CliError with what the server refused. */
async function askServer<K extends ActName>(
  dataDir: string,
  name: K,
  input: Acts[K]["input"],
): Promise<{ readonly result: Acts[K]["result"] } | null> {
  let response: Response;
  try {
    response = await withControlPath(dataDir, (unix) => {
      const body = JSON.stringify(input);
      // Each data directory has a socket of its own: no connection is kept for another's.
      return fetch(`http://localhost/${name}`, { unix, method: "POST", body, keepalive: false });
    });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  const answer = (await response.json()) as {
    readonly result?: Acts[K]["result"];
    readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
  };
  if (answer.error !== undefined) throw new CliError(answer.error.message, answer.error);
  return { result: answer.result as Acts[K]["result"] };
}

function isAbsent(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return ["ENOENT", "ECONNREFUSED", "FailedToOpenSocket", "ConnectionRefused"].includes(code ?? "");
}

function performAlone<K extends ActName>(
  config: Config,
  name: K,
  input: Acts[K]["input"],
): Acts[K]["result"] {
  const onFatal = (error: StoreError): never => {
    throw error;
  };
  const { dataDir, masterKey, masterKeyNext: nextMasterKey, rootKey } = config;
  const options = { dataDir, masterKey, nextMasterKey, onFatal };
  if (name === "checkpoint") {
    const trust = openTrust({ ...options, rootKey, rev: buildRev(), log: () => {} });
    return closing(
      trust,
      { tenants: trust.tenants, checkpoints: trust.checkpoints, url: null },
      name,
      input,
    );
  }
  const tenancy = openTenancy(options);
  return closing(tenancy, { tenants: tenancy.tenants, checkpoints: null, url: null }, name, input);
}

function closing<K extends ActName>(
  opened: { close(): void },
  target: ActTarget,
  name: K,
  input: Acts[K]["input"],
): Acts[K]["result"] {
  try {
    return PERFORM[name](target, input);
  } finally {
    opened.close();
  }
}
