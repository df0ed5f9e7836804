/** Settings: where they come from, what they may be, and what contradicts what. */
import { expect, test } from "bun:test";
import { gatewayConfig } from "../src/cli/serve.ts";
import {
  ConfigError,
  type ConfigSources,
  effectiveSettings,
  parseSettingsFile,
  readConfig,
  SETTINGS,
} from "../src/config.ts";
import { DEFAULT_LIMITS } from "../src/service/limits.ts";

function read(sources: Partial<ConfigSources> = {}): ReturnType<typeof readConfig> {
  return readConfig({ flags: {}, environment: {}, file: null, directory: "/here", ...sources });
}

function refusal(action: () => unknown): ConfigError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

test("without any setting the server is local and has the embedded model", () => {
  const { config, origins, unknownVariables } = read();
  expect(config).toMatchObject({
    host: "127.0.0.1",
    port: 8787,
    dataDir: "/here/data",
    cpu: false,
  });
  expect([config.tierA, config.tierB]).toEqual(["svc-tiny", "svc-tiny"]);
  expect(config.tls).toBeNull();
  expect(new Set(Object.values(origins))).toEqual(new Set(["default"]));
  expect(unknownVariables).toEqual([]);
});

test("a flag wins over the variable, the variable over the file, the file over the default", () => {
  const file = { port: 1, rows: 2, queue: 3 };
  const environment = { SVC_PORT: "11", SVC_ROWS: "12" };
  const { config, origins } = read({ file, environment, flags: { port: "21" } });
  expect([config.port, config.rows, config.queue]).toEqual([21, 12, 3]);
  expect([origins.port, origins.rows, origins.queue]).toEqual(["flag", "variable", "file"]);
});

test("without settings of their own, limits are the default ones", () => {
  expect(gatewayConfig(read().config).limits).toEqual(DEFAULT_LIMITS);
  const flags = { failedAttempts: "7" };
  expect(gatewayConfig(read({ flags }).config).limits?.failedAttemptsPerMinute).toBe(7);
});

test("an empty variable is as good as none", () => {
  expect(read({ environment: { SVC_PORT: "", SVC_HOST: "" } }).config.port).toBe(8787);
});

test("paths are relative to the directory of the start; names of models are no paths", () => {
  const flags = { dataDir: "d", tierA: "m/x.gguf", tierB: "named" };
  const { config } = read({ flags });
  expect([config.dataDir, config.tierA, config.tierB]).toEqual([
    "/here/d",
    "/here/m/x.gguf",
    "named",
  ]);
  expect(read({ flags: { tierA: "hf:a/b.gguf" } }).config.tierA).toBe("hf:a/b.gguf");
});

test("values are refused with the place they came from and what they can be", () => {
  const cases: readonly [Partial<ConfigSources>, string][] = [
    [{ flags: { port: "65536" } }, '--port is "65536"; it can be a whole number from 0 to 65535'],
    [{ flags: { port: "08" } }, '--port is "08"; it can be a whole number from 0 to 65535'],
    [{ environment: { SVC_PORT: "x" } }, 'SVC_PORT is "x"; it can be a whole number'],
    [{ environment: { SVC_CPU: "yes" } }, 'SVC_CPU is "yes"; it can be true or false'],
    [{ file: { rows: [1] } }, "rows in the settings file takes one value"],
    [{ flags: { host: "a b" } }, '--host is "a b"; it can be an IP address or a host name'],
    [{ flags: { tierA: " " } }, "--tier-a is empty"],
  ];
  for (const [sources, message] of cases) {
    const error = refusal(() => read(sources));
    expect(error.code).toBe("invalid_value");
    expect(error.message).toStartWith(message);
    expect(error.hint).not.toBe("");
  }
});

test("a host beyond this machine needs TLS or a proxy that ends it", () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.5", "gateway.example"]) {
    expect(refusal(() => read({ flags: { host } })).code).toBe("unprotected_host");
    expect(read({ flags: { host, behindProxy: true } }).config.host).toBe(host);
    const flags = { host, tlsCert: "c.pem", tlsKey: "k.pem" };
    const tls = { certPath: "/here/c.pem", keyPath: "/here/k.pem" };
    expect(read({ flags }).config).toMatchObject({ host, tls });
  }
});

test("an admin key that could be guessed is refused where others can reach the server", () => {
  for (const key of ["short", "0123456789abcdef0123456789abcde", "a".repeat(40)]) {
    const environment = { SVC_ADMIN_KEY: key };
    expect(read({ environment }).config.adminKey).toBe(key);
    const refused = refusal(() => read({ environment, flags: { behindProxy: true } }));
    expect([refused.code, refused.message.includes(key)]).toEqual(["invalid_value", false]);
  }
  const environment = { SVC_ADMIN_KEY: "0123456789abcdef0123456789abcdef" };
  const flags = { behindProxy: true, host: "0.0.0.0" };
  expect(read({ environment, flags }).config.adminKey).toBe(environment.SVC_ADMIN_KEY);
});

test("names of hosts are lower case and without ports", () => {
  const flags = { hosts: "API.example.com, ::1,10.0.0.1" };
  expect(read({ flags }).config.hosts).toEqual(["api.example.com", "[::1]", "10.0.0.1"]);
  for (const hosts of ["a:80", "a b", "", "a,,b"]) {
    expect(refusal(() => read({ flags: { hosts } })).code).toBe("invalid_value");
  }
});

test("half of a pair is refused with the other half's name", () => {
  expect(refusal(() => read({ flags: { tlsCert: "c" } })).hint).toContain("--tls-key");
  expect(refusal(() => read({ flags: { tlsKey: "k" } })).hint).toContain("--tls-cert");
  const environment = { SVC_MASTER_KEY_NEXT: "a".repeat(64) };
  expect(refusal(() => read({ environment })).code).toBe("conflict");
});

test("misspelt settings are found: in the file they are refused, variables are reported", () => {
  expect(refusal(() => read({ file: { "teir-a": "x" } })).message).toContain("teir-a");
  expect(read({ environment: { SVC_TEIR_A: "x", PATH: "p" } }).unknownVariables).toEqual([
    "SVC_TEIR_A",
  ]);
});

test("the settings file is TOML", () => {
  expect(parseSettingsFile("f", 'port = 99\ntier-a = "m.gguf"\n')).toEqual({
    port: 99,
    "tier-a": "m.gguf",
  });
  expect(refusal(() => parseSettingsFile("f.toml", "port = = 9")).message).toStartWith(
    "f.toml is not TOML",
  );
});

test("the printed settings name their source and never show a secret", () => {
  const environment = { SVC_ADMIN_KEY: "hunter2hunter2", SVC_PORT: "1" };
  const printed = effectiveSettings(read({ environment }));
  expect(printed["port"]).toEqual({ value: 1, from: "variable" });
  expect(printed["admin-key"]).toEqual({ value: "(set)", from: "variable" });
  expect(printed["master-key"]).toEqual({ value: null, from: "default" });
  expect(JSON.stringify(printed)).not.toContain("hunter2");
  expect(Object.keys(printed)).toEqual(Object.values(SETTINGS).map(({ flag }) => flag));
});
