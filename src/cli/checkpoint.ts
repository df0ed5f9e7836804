/** `svc checkpoint`: records all chain heads now instead of at the end of the hour. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { type CliIo, print, printJson } from "./io.ts";
import { performAct } from "./perform.ts";
import { addSettings, DATA_SETTINGS, examples, readSettings } from "./settings.ts";

export function checkpointCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("checkpoint")
    .description("write this hour's checkpoint over all chains, if it is not written yet")
    .option("--json", "print { n, capture_ts, record_hash, is_new }");
  addSettings(command, DATA_SETTINGS);
  command.addHelpText("after", examples("svc checkpoint --data-dir /var/lib/svc"));
  command.addHelpText(
    "after",
    "\nThe server writes one an hour by itself. Keep the hash somewhere else: an export that\n" +
      "does not contain it was rewritten since.",
  );
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const { captureTs, isNew, n, recordHash } = await performAct(config, "checkpoint", null);
    if (options.json) {
      printJson(io, { n, capture_ts: captureTs, record_hash: recordHash, is_new: isNew });
      return;
    }
    const when = new Date(captureTs).toISOString();
    print(io, `checkpoint ${n} of ${when}${isNew ? "" : " (this hour's, already written)"}`);
    print(io, recordHash);
  });
  return command;
}
