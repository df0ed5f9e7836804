/**
 * Every setting of the server: its flag, its SVC_* variable, its key in the TOML file, what it may
 * be and what it is by default. A flag wins over the variable, the variable over the file.
 */
import { isIP } from "node:net";
import { resolve } from "node:path";

export type ConfigErrorCode =
  /** A value is not one that the setting can have. */
  | "invalid_value"
  /** The settings file names something that is no setting, or is not TOML. */
  | "invalid_file"
  /** Two settings contradict each other, or one needs another. */
  | "conflict"
  /** The server would be reachable from elsewhere without any protection. */
  | "unprotected_host";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code: ConfigErrorCode;
  /** What to do about it. */
  readonly hint: string;
  constructor(
    message: string,
    options: ErrorOptions & { readonly code: ConfigErrorCode; readonly hint: string },
  ) {
    super(message, options);
    this.code = options.code;
    this.hint = options.hint;
  }
}

export interface Setting<T> {
  /** Without the two hyphens; also the key in the settings file. */
  readonly flag: string;
  readonly variable: string;
  /** Name of the value in help texts; null for a switch. */
  readonly argument: string | null;
  readonly help: string;
  readonly fallback: T;
  /** Secrets have no flag (other users see a command line) and are never printed. */
  readonly isSecret: boolean;
  /** @throws Error saying what the value should be. */
  readonly parse: (text: string) => T;
}

export const SETTINGS = {
  host: setting("host", "HOST", "address to listen on", "127.0.0.1", hostFrom),
  port: setting("port", "PORT", "port to listen on, 0 for any free one", 8787, wholeIn(0, 65_535)),
  dataDir: setting("data-dir", "DIR", "folder for keys, tenants and the ledger", "data", textFrom),
  tierA: setting("tier-a", "MODEL", "svc-tier-a: a GGUF, or a name", "svc-tiny", textFrom),
  tierB: setting("tier-b", "MODEL", "svc-tier-b: a GGUF, or a name", "svc-tiny", textFrom),
  embeddings: setting(
    "embeddings",
    "MODEL",
    "model of /v1/embeddings: a GGUF, or a name",
    null,
    orNull(textFrom),
  ),
  manifest: setting("manifest", "FILE", "list of named models", null, orNull(textFrom)),
  cpu: toggle("cpu", "use no GPU even where there is one"),
  threads: setting("threads", "N", "threads per model", null, orNull(wholeIn(1, 1024))),
  context: setting(
    "context",
    "TOKENS",
    "length of a sequence",
    null,
    orNull(wholeIn(256, 2 ** 24)),
  ),
  rows: setting("rows", "N", "answers that run at the same time", 8, wholeIn(1, 64)),
  queue: setting("queue", "N", "requests that may wait for a row", 64, wholeIn(0, 100_000)),
  tlsCert: setting("tls-cert", "FILE", "certificate chain (PEM)", null, orNull(textFrom)),
  tlsKey: setting("tls-key", "FILE", "its private key (PEM)", null, orNull(textFrom)),
  behindProxy: toggle("behind-proxy", "a proxy in front ends TLS: other hosts are allowed"),
  trustedProxies: setting(
    "trusted-proxies",
    "ADDRESSES",
    "proxies whose X-Forwarded-For is believed, with commas between them",
    [],
    addressesFrom,
  ),
  hosts: setting(
    "hosts",
    "NAMES",
    "names by which clients may address it, with commas; others are refused",
    null,
    orNull(hostsFrom),
  ),
  failedAttempts: setting(
    "failed-attempts",
    "N",
    "wrong keys of one address in a minute that get a 401; further ones get a 429",
    100,
    wholeIn(1, 1_000_000_000),
  ),
  calendars: setting(
    "calendars",
    "URLS",
    "OpenTimestamps calendars for checkpoints: none, public, or URLs with commas",
    "none",
    calendarsFrom,
  ),
  timestampAuthority: setting(
    "timestamp-authority",
    "URL",
    "RFC 3161 authority for checkpoints",
    null,
    orNull(urlFrom),
  ),
  checkoutPackage: setting(
    "checkout-package",
    "ID",
    "package of a checkout that does not say what it sold",
    null,
    orNull(textFrom),
  ),
  masterKey: secret("master-key", "seals the tenants' secrets"),
  masterKeyNext: secret("master-key-next", "the key that follows, during a rotation"),
  rootKey: secret("root-key", "certifies attestation keys"),
  adminKey: secret("admin-key", "what X-Admin-Key must be"),
  metricsKey: secret("metrics-key", "what monitoring sends to /metrics as its Bearer token"),
  stripeWebhookSecret: secret("stripe-webhook-secret", "of the webhook; two with a comma"),
} as const;

export type SettingName = keyof typeof SETTINGS;
type Values = { readonly [K in SettingName]: ReturnType<(typeof SETTINGS)[K]["parse"]> };

export interface Config extends Omit<Values, "tlsCert" | "tlsKey" | "manifest"> {
  /** Absolute. */
  readonly manifest: string | null;
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
}

type Origin = "flag" | "variable" | "file" | "default";

export interface ConfigSources {
  /** By setting, as given on the command line; true for a switch. */
  readonly flags: Readonly<Partial<Record<SettingName, string | boolean | undefined>>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the settings file holds, parsed; null without one. */
  readonly file: Readonly<Record<string, unknown>> | null;
  /** Relative paths start here. */
  readonly directory: string;
}

export interface ReadConfig {
  readonly config: Config;
  readonly origins: Readonly<Record<SettingName, Origin>>;
  /** SVC_* variables that are no setting: probably misspelt. */
  readonly unknownVariables: readonly string[];
}

/** @throws ConfigError */
export function readConfig(sources: ConfigSources): ReadConfig {
  checkFileKeys(sources.file ?? {});
  const names = Object.keys(SETTINGS) as SettingName[];
  const found = names.map((name) => [name, findValue(name, sources)] as const);
  // One cast: the table gives each name its own type, which Object.fromEntries cannot say.
  const values = Object.fromEntries(found.map(([name, { value }]) => [name, value])) as Values;
  const origins = Object.fromEntries(found.map(([name, { origin }]) => [name, origin]));
  const { tlsCert, tlsKey, ...rest } = values;
  checkRelations(values);
  const path = (text: string): string => resolve(sources.directory, text);
  const config: Config = {
    ...rest,
    dataDir: path(values.dataDir),
    manifest: values.manifest === null ? null : path(values.manifest),
    tierA: modelPath(values.tierA, path),
    tierB: modelPath(values.tierB, path),
    embeddings: values.embeddings === null ? null : modelPath(values.embeddings, path),
    tls: tlsCert && tlsKey ? { certPath: path(tlsCert), keyPath: path(tlsKey) } : null,
  };
  const known = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable));
  const unknownVariables = Object.keys(sources.environment).filter(
    (name) => name.startsWith("SVC_") && !known.has(name) && name !== CONFIG_VARIABLE,
  );
  return { config, origins: origins as Record<SettingName, Origin>, unknownVariables };
}

/** Names the settings file, beside the flag `--config`. */
export const CONFIG_VARIABLE = "SVC_CONFIG";

/** @throws ConfigError `invalid_file`. */
export function parseSettingsFile(path: string, text: string): Record<string, unknown> {
  try {
    return Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    const hint = `write it as lines like: port = 8787`;
    throw new ConfigError(`${path} is not TOML: ${detail}`, { code: "invalid_file", hint, cause });
  }
}

interface EffectiveSetting {
  /** Null where it is not set; of a secret no more than that it is. */
  readonly value: unknown;
  readonly from: Origin;
}

/** The effective settings by flag, with where each came from. */
export function effectiveSettings({
  config,
  origins,
}: ReadConfig): Readonly<Record<string, EffectiveSetting>> {
  const settings: Record<string, EffectiveSetting> = {};
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const { flag, isSecret } = SETTINGS[name];
    const value = shownValue(config, name);
    const isMissing = value === null || String(value) === "";
    const shown = isSecret ? "(set)" : value;
    settings[flag] = { value: isMissing ? null : shown, from: origins[name] };
  }
  return settings;
}

function shownValue(config: Config, name: SettingName): unknown {
  if (name === "tlsCert") return config.tls?.certPath ?? null;
  if (name === "tlsKey") return config.tls?.keyPath ?? null;
  return config[name];
}

function findValue(
  name: SettingName,
  sources: ConfigSources,
): { readonly value: unknown; readonly origin: Origin } {
  const { flag, variable, fallback, parse } = SETTINGS[name];
  const candidates = [
    ["flag", sources.flags[name], `--${flag}`],
    ["variable", sources.environment[variable], variable],
    ["file", sources.file?.[flag], `${flag} in the settings file`],
  ] as const;
  for (const [origin, given, from] of candidates) {
    // An empty variable is how a shell or a unit file takes a setting back.
    if (given === undefined || (origin === "variable" && given === "")) continue;
    return { value: parseGiven(parse, given, from), origin };
  }
  return { value: fallback, origin: "default" };
}

function parseGiven(parse: (text: string) => unknown, given: unknown, from: string): unknown {
  try {
    if (typeof given === "object") throw new Error("takes one value, not a list or table");
    return parse(String(given));
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    const message = `${from} ${detail}`;
    throw new ConfigError(message, { code: "invalid_value", hint: "see: svc serve --help", cause });
  }
}

function checkFileKeys(file: Readonly<Record<string, unknown>>): void {
  const flags = Object.values(SETTINGS).map(({ flag }) => flag as string);
  for (const key of Object.keys(file)) {
    if (flags.includes(key)) continue;
    const message = `the settings file names ${key}, which is no setting`;
    throw new ConfigError(message, {
      code: "invalid_file",
      hint: `the settings are: ${flags.join(", ")}`,
    });
  }
}

function checkRelations(values: Values): void {
  if ((values.tlsCert === null) !== (values.tlsKey === null)) {
    const missing = values.tlsCert === null ? "--tls-cert" : "--tls-key";
    const message = "a certificate and its key come together";
    throw new ConfigError(message, { code: "conflict", hint: `give ${missing} too` });
  }
  if (values.masterKeyNext !== null && values.masterKey === null) {
    const message = "SVC_MASTER_KEY_NEXT is set without SVC_MASTER_KEY";
    throw new ConfigError(message, {
      code: "conflict",
      hint: "set both, or let the data directory keep its key",
    });
  }
  const isLocal = values.host === "127.0.0.1" && !values.behindProxy;
  if (!isLocal && values.adminKey !== null && isGuessable(values.adminKey)) {
    const message = "SVC_ADMIN_KEY is too easy to guess for a server that others can reach";
    const hint = "make it 32 random characters or more: openssl rand -hex 24";
    throw new ConfigError(message, { code: "invalid_value", hint });
  }
  const isProtected = values.tlsCert !== null || values.behindProxy;
  if (values.host !== "127.0.0.1" && !isProtected) {
    const message = `keys would cross the network in the clear on ${values.host}`;
    const hint =
      "add --tls-cert FILE --tls-key FILE, or --behind-proxy when a proxy ends TLS in front of " +
      "this server, or listen on 127.0.0.1";
    throw new ConfigError(message, { code: "unprotected_host", hint });
  }
}

/** Nobody is kept from trying, so what can be tried must be too much. */
function isGuessable(key: string): boolean {
  return key.length < 32 || new Set(key).size < 8;
}

/** A path is relative to where the program was started; the name of a model is no path. */
function modelPath(model: string, path: (text: string) => string): string {
  const isPath = model.endsWith(".gguf") && !/^[a-z][a-z0-9+.-]+:/i.test(model);
  return isPath ? path(model) : model;
}

function setting<T>(
  flag: string,
  argument: string,
  help: string,
  fallback: T,
  parse: (text: string) => T,
): Setting<T> {
  return { flag, variable: variableOf(flag), argument, help, fallback, isSecret: false, parse };
}

function toggle(flag: string, help: string): Setting<boolean> {
  const rest = { argument: null, help, fallback: false, isSecret: false, parse: booleanFrom };
  return { flag, variable: variableOf(flag), ...rest };
}

function secret(flag: string, help: string): Setting<string | null> {
  const rest = { argument: null, help, fallback: null, isSecret: true, parse: textFrom };
  return { flag, variable: variableOf(flag), ...rest };
}

function variableOf(flag: string): string {
  return `SVC_${flag.toUpperCase().replaceAll("-", "_")}`;
}

function addressesFrom(text: string): readonly string[] {
  const addresses = text.split(",").map((part) => part.trim());
  const wrong = addresses.find((address) => isIP(address) === 0);
  if (wrong === undefined) return addresses;
  throw new Error(`holds ${JSON.stringify(wrong)}; it can be IP addresses with commas`);
}

/** Lower case, an IPv6 address in its brackets: as a URL has them. */
function hostsFrom(text: string): readonly string[] {
  return text.split(",").map((part) => {
    const name = part.trim().toLowerCase();
    if (isIP(name) === 6) return `[${name}]`;
    if (/^[a-z0-9._-]{1,255}$/.test(name)) return name;
    throw new Error(
      `holds ${JSON.stringify(part)}; it can be host names without ports, with commas`,
    );
  });
}

function calendarsFrom(text: string): string {
  if (text === "none" || text === "public") return text;
  return text.split(",").map(urlFrom).join(",");
}

function urlFrom(text: string): string {
  const url = text.trim();
  if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) return url.replace(/\/+$/, "");
  throw new Error(`is ${JSON.stringify(text)}; it can be a URL that begins with https://`);
}

function orNull<T>(parse: (text: string) => T): (text: string) => T | null {
  return parse;
}

function textFrom(text: string): string {
  if (text.trim() === "") throw new Error("is empty");
  return text;
}

function booleanFrom(text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new Error(`is ${JSON.stringify(text)}; it can be true or false`);
}

function wholeIn(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new Error(`is ${JSON.stringify(text)}; it can be a whole number from ${min} to ${max}`);
  };
}

function hostFrom(text: string): string {
  const isName = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text);
  if (isIP(text) !== 0 || isName) return text;
  throw new Error(`is ${JSON.stringify(text)}; it can be an IP address or a host name`);
}
