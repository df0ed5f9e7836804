/**
 * A way to the API for commands that use it: a server elsewhere, the one that runs on this data
 * directory, or a gateway inside this process. On this machine no key is needed: one is made for
 * the command and revoked when it ends.
 */
import type { Config } from "../config.ts";
import { openGateway } from "../gateway.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import type { CliIo } from "./io.ts";
import { performAct } from "./perform.ts";
import { gatewayConfig } from "./serve.ts";

export interface Access {
  /** For people; the requests' own URL starts with `base`. */
  readonly label: string;
  readonly base: string;
  readonly apiKey: string;
  /** Null: signatures cannot be checked. */
  readonly hmacSecret: string | null;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** @param url of a server elsewhere; null: on this machine. @throws CliError */
export async function openAccess(io: CliIo, config: Config, url: string | null): Promise<Access> {
  if (url !== null) return remoteAccess(io, url);
  const running = await runningUrl(config);
  return running === null ? inProcess(config) : localAccess(config, running);
}

function remoteAccess(io: CliIo, url: string): Access {
  const { SVC_API_KEY: apiKey, SVC_HMAC_SECRET: hmacSecret = null } = io.environment;
  if (apiKey === undefined) {
    const hint = "export SVC_API_KEY=sk-svc-… (and SVC_HMAC_SECRET, to check signatures)";
    const message = "a server elsewhere needs a key";
    throw new CliError(message, { code: "no_key", hint, exitCode: EXIT_USAGE });
  }
  if (!URL.canParse(url)) {
    const options = { code: "usage", exitCode: EXIT_USAGE };
    throw new CliError(`--url ${url} is not a URL`, options);
  }
  const base = url.replace(/\/+$/, "").replace(/\/v1$/, "");
  return { label: base, base, apiKey, hmacSecret, fetch, close: async () => {} };
}

/** Null where no server has the data directory open. */
async function runningUrl(config: Config): Promise<string | null> {
  try {
    return (await performAct(config, "server-info", null)).url;
  } catch (error) {
    const isNew = error instanceof CliError && error.code === "no_data_directory";
    if (isNew) return null;
    throw error;
  }
}

const KEY_OWNER = { tenant: "local", app: "cli" };

async function localAccess(config: Config, base: string): Promise<Access> {
  const { apiKey, hmacSecret, keyId } = await performAct(config, "create-key", KEY_OWNER);
  return {
    label: base,
    base,
    apiKey,
    hmacSecret,
    fetch,
    close: async () => void (await performAct(config, "revoke-key", { keyId })),
  };
}

async function inProcess(config: Config): Promise<Access> {
  const gateway = openGateway(gatewayConfig(config));
  try {
    await gateway.whenReady;
    const { tenant: tenantName, app: appName } = KEY_OWNER;
    const { apiKey, hmacSecret, keyId } = gateway.tenants.createKey({ tenantName, appName });
    return {
      label: "in this process",
      base: "http://localhost",
      apiKey,
      hmacSecret,
      fetch: (request) => gateway.fetch(request),
      close: async () => {
        gateway.tenants.revokeKey(keyId);
        await gateway.close();
      },
    };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}
