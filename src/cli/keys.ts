/** `svc keys`: API keys of a data directory, also while its server runs. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { createdKeyBody, keyBody } from "../tenant/key-wire.ts";
import type { KeyFacts } from "../tenant/tenants.ts";
import { type CliIo, print, printJson, printTable, styled } from "./io.ts";
import { performAct } from "./perform.ts";
import { addSettings, DATA_SETTINGS, examples, readSettings } from "./settings.ts";

export function keysCommand(io: CliIo): CommandUnknownOpts {
  const keys = new Command("keys").description("make, list and revoke API keys");
  for (const build of [createCommand, listCommand, revokeCommand, storeCommand, rotateCommand]) {
    const command = build(io);
    addSettings(command, DATA_SETTINGS);
    keys.addCommand(command);
  }
  keys.addHelpText(
    "after",
    examples(
      "svc keys create --tenant acme",
      "svc keys create --tenant acme --app nightly --json",
      "svc keys revoke k_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ),
  );
  return keys;
}

function createCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("create")
    .description("make a key; the tenant, its secret and the app are made where they are missing")
    .requiredOption("--tenant <NAME>", "whose key it is: the same name keeps tenant and secret")
    .option("--app <NAME>", "which of the tenant's apps uses it: each app has its own chain")
    .option("--json", "print { api_key, hmac_secret, tenant_id, app_id, key_id }");
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const { tenant, app = null } = options;
    const key = await performAct(config, "create-key", { tenant, app });
    const wire = createdKeyBody(key);
    if (options.json) {
      printJson(io, wire);
      return;
    }
    printTable(
      io,
      Object.entries(wire).map(([name, value]) => [name, styled(io, "bold", value)]),
    );
    print(io, "", styled(io, "dim", "The key is shown this once. Keep the secret: it checks"));
    print(io, styled(io, "dim", "X-Svc-Signature on every answer and the MACs in exports."));
  });
  return command;
}

function listCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("list")
    .description("list the keys, revoked ones included")
    .option("--json", "print { keys: [...] }");
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const keys = await performAct(config, "list-keys", null);
    if (options.json) {
      printJson(io, { keys: keys.map(keyBody) });
      return;
    }
    if (keys.length === 0) {
      io.stderr("there are no keys yet: svc keys create --tenant NAME\n");
      return;
    }
    const header = ["KEY", "TENANT", "APP", "MADE", "STATE"].map((h) => styled(io, "dim", h));
    printTable(io, [header, ...keys.map((key) => keyRow(io, key))]);
  });
  return command;
}

function revokeCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("revoke")
    .description("requests with this key fail from now on; answers in flight finish")
    .argument("<KEY_ID>", "as `svc keys list` shows it")
    .option("--json", "print { revoked }");
  command.action(async (keyId, options) => {
    const { config } = await readSettings(io, { ...options });
    await performAct(config, "revoke-key", { keyId });
    if (options.json) printJson(io, { revoked: keyId });
    else print(io, `${keyId} is revoked`);
  });
  return command;
}

function storeCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("store-requests")
    .description(
      "keep a tenant's chats that are sent with store: true, for svc replay; --off ends it",
    )
    .requiredOption("--tenant <NAME>", "whose chats; until it is switched on, none are kept")
    .option("--off", "keep no more; what is kept goes when its day is over")
    .option("--json", "print { tenant, stored }");
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const { tenant } = options;
    const isOn = options.off !== true;
    await performAct(config, "store-requests", { tenant, isOn });
    if (options.json) printJson(io, { tenant, stored: isOn });
    else if (isOn)
      print(io, `chats of ${tenant} that are sent with store: true are kept for a day`);
    else print(io, `no more chats of ${tenant} are kept`);
  });
  return command;
}

function rotateCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("rotate-master")
    .description("seal every tenant's secret under a new master key")
    .option("--json", "print { rotated }");
  command.addHelpText(
    "after",
    "\nWithout SVC_MASTER_KEY the new key replaces D/master.key. With it, set\n" +
      "SVC_MASTER_KEY_NEXT to the new one, rotate, and then start the server with the new\n" +
      "one as SVC_MASTER_KEY.",
  );
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    await performAct(config, "rotate-master-key", null);
    if (options.json) printJson(io, { rotated: true });
    else print(io, "every secret is sealed under the new master key");
  });
  return command;
}

function keyRow(io: CliIo, key: KeyFacts): string[] {
  const made = new Date(key.createdTs).toISOString().slice(0, 16).replace("T", " ");
  const state =
    key.revokedTs === null ? styled(io, "green", "active") : styled(io, "red", "revoked");
  return [key.keyId, key.tenantName, key.appId, made, state];
}
