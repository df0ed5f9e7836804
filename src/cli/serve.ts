/** `svc serve` and `svc quickstart`: the gateway on a port, until it is told to stop. */
import { availableParallelism } from "node:os";
import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { type AnchorConfig, PUBLIC_CALENDARS } from "../anchor/anchor-config.ts";
import type { Config, ReadConfig } from "../config.ts";
import { effectiveSettings } from "../config.ts";
import { GATEWAY_DEFAULTS, type Gateway, type GatewayConfig, openGateway } from "../gateway.ts";
import type { CreatedKey } from "../tenant/tenants.ts";
import { printReady } from "./banner.ts";
import { openControlServer } from "./control-server.ts";
import { type CliIo, print, printJson, printTable } from "./io.ts";
import { listen } from "./listen.ts";
import { createLog, LOG_LEVELS, type LogLevel } from "./logger.ts";
import { addSettings, examples, readSettings, secretVariables } from "./settings.ts";

export function serveCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("serve").description(
    "serve the API; without --tier-a and --tier-b with the embedded model",
  );
  addSettings(command);
  addServeOptions(command);
  command.addHelpText("after", `\n${secretVariables()}`);
  command.addHelpText(
    "after",
    examples(
      "svc serve --tier-a ./qwen3-8b.gguf --tier-b ./qwen3-1.7b.gguf",
      "svc serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
      "SVC_DATA_DIR=/var/lib/svc svc serve --behind-proxy --host 0.0.0.0",
      "svc serve --config svc.toml --print-config",
    ),
  );
  command.action((options) => serve(io, options, {}));
  return command;
}

export function quickstartCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("quickstart").description(
    "serve with the embedded model, make a first key, and print a request to paste",
  );
  addSettings(command, ["port", "dataDir"]);
  addServeOptions(command);
  command.addHelpText("after", examples("svc quickstart", "svc quickstart --port 0"));
  const embedded = { tierA: "svc-tiny", tierB: "svc-tiny" };
  command.action((options) => serve(io, options, embedded));
  return command;
}

function addServeOptions(command: CommandUnknownOpts): void {
  command
    .addOption(new Option("--log-level <LEVEL>", "what to log").choices(LOG_LEVELS))
    .option("--print-config", "print the effective settings and where each is from, then end")
    .option("--json", "print one JSON line once it listens and one once it is ready");
}

interface ServeOptions {
  readonly logLevel?: LogLevel | undefined;
  readonly printConfig?: true | undefined;
  readonly json?: true | undefined;
}

/** Ends when the operator asks for it. @throws where the server cannot start. */
async function serve(
  io: CliIo,
  options: object,
  fixed: { readonly tierA?: string; readonly tierB?: string },
): Promise<void> {
  const { json = false, logLevel, printConfig: printOnly } = options as ServeOptions;
  const read = await readSettings(io, { ...options, ...fixed });
  for (const name of read.unknownVariables) {
    io.stderr(`note: ${name} is set, but no setting has this variable\n`);
  }
  if (printOnly) {
    printSettings(io, read, json);
    return;
  }
  const { config } = read;
  const stopRequested = io.stopRequested();
  const log = createLog(io, logLevel ?? (io.isTerminal ? "warn" : "info"));
  const gateway = openGateway(gatewayConfig(config), { log });
  const closers: (() => Promise<void>)[] = [() => gateway.close()];
  try {
    const listener = listen(config, gateway);
    closers.push(() => listener.close());
    const { url } = listener;
    const { checkpoints, tenants } = gateway;
    const control = await openControlServer(config.dataDir, { tenants, checkpoints, url });
    closers.push(() => control.close());
    if (json)
      printJson(io, { event: "listening", url, data_dir: config.dataDir, rev: gateway.rev });
    else print(io, `svc ${gateway.version} listens on ${url}, loading models …`);
    const ended = await Promise.race([stopRequested, gateway.whenReady]);
    if (ended === undefined) {
      printReady(io, { config, gateway, url, key: firstKey(gateway), isJson: json });
      await stopRequested;
    }
    if (!json) print(io, "stopping: answers in flight may finish");
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Made once, when the data directory is new. */
function firstKey({ tenants }: Gateway): CreatedKey | null {
  return tenants.hasKeys ? null : tenants.createKey({ tenantName: "local" });
}

/** The gateway's part of the settings. */
export function gatewayConfig(config: Config): Parameters<typeof openGateway>[0] {
  return {
    ...GATEWAY_DEFAULTS,
    dataDir: config.dataDir,
    tiers: { "svc-tier-a": config.tierA, "svc-tier-b": config.tierB },
    embeddings: config.embeddings,
    manifestPath: config.manifest ?? GATEWAY_DEFAULTS.manifestPath,
    forceCpu: config.cpu,
    threads: config.threads,
    contextTokens: config.context,
    rows: config.rows,
    queueMax: config.queue,
    processThread: availableParallelism() > 1,
    masterKey: config.masterKey,
    masterKeyNext: config.masterKeyNext,
    rootKey: config.rootKey,
    adminKey: config.adminKey,
    stripeWebhookSecrets: config.stripeWebhookSecret?.split(",") ?? [],
    checkoutPackage: config.checkoutPackage,
    trustedProxies: config.trustedProxies,
    hosts: hostsOf(config),
    metricsAccess: metricsAccessOf(config),
    anchors: anchorsOf(config),
    limits: { ...GATEWAY_DEFAULTS.limits, failedAttemptsPerMinute: config.failedAttempts },
  };
}

const isLocal = ({ behindProxy, host }: Config): boolean => host === "127.0.0.1" && !behindProxy;

function metricsAccessOf(config: Config): GatewayConfig["metricsAccess"] {
  if (config.metricsKey !== null) return { key: config.metricsKey };
  return isLocal(config) ? "open" : "closed";
}

/** On this machine alone, its own names suffice; elsewhere the operator knows the names. */
function hostsOf(config: Config): readonly string[] | null {
  return config.hosts ?? (isLocal(config) ? ["localhost", "127.0.0.1", "[::1]"] : null);
}

function anchorsOf({ calendars, timestampAuthority: url }: Config): AnchorConfig {
  const authority = url === null ? null : ({ kind: "url", url } as const);
  if (calendars === "public") return { ...PUBLIC_CALENDARS, authority };
  const list = calendars === "none" ? [] : calendars.split(",");
  return { calendars: list, upgradeCalendars: [], authority };
}

function printSettings(io: CliIo, read: ReadConfig, isJson: boolean): void {
  const settings = effectiveSettings(read);
  if (isJson) {
    printJson(io, settings);
    return;
  }
  const rows = Object.entries(settings).map(([flag, { from, value }]) => [
    flag,
    `${value ?? "(not set)"}  [${from}]`,
  ]);
  printTable(io, rows);
}
