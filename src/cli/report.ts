/** `svc report`: a reconciliation as a page to print, sign and file. */
import { resolve } from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { readJson } from "./files.ts";
import { type CliIo, printJson } from "./io.ts";
import { examples } from "./settings.ts";

type Members = { readonly [key: string]: JsonValue };

export function reportCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("report")
    .description("print a saved answer of iolta-reconcile as a page of HTML to sign and file")
    .argument("<ANSWER.json>", "as the API or svc process gave it, or - for standard input")
    .option("--step <ID>", "of a saved workflow: which step (by default its only reconciliation)")
    .option("--out <FILE.html>", "write the page there")
    .option("--json", "with --out: print { path, output_hash, request_id }");
  command.addHelpText(
    "after",
    examples(
      "svc report answer.json > june.html",
      "svc report workflow-answer.json --step june --out june.html",
    ) +
      "\n\nThe page carries the answer's output_hash, which is computed again: an answer that was" +
      "\nchanged after its receipt was made is refused.",
  );
  command.action(async (path, options) => {
    const { output, outputHash, requestId } = reconciliationIn(
      (await readJson(io, path)) as JsonValue,
      options.step,
    );
    // Read only by those who print.
    const { ioltaReport } = await import("../convert/iolta-report.ts");
    const page = ioltaReport(output, { requestId, outputHash });
    if (options.out === undefined) {
      io.stdout(page);
      return;
    }
    const out = resolve(io.directory, options.out);
    await Bun.write(out, page);
    if (options.json) printJson(io, { path: out, output_hash: outputHash, request_id: requestId });
    else io.stderr(`${options.out}\n`);
  });
  return command;
}

interface Reconciliation {
  readonly output: Members;
  readonly outputHash: string;
  readonly requestId: string;
}

/** @throws CliError where there is none, or where it is not the one that was hashed. */
function reconciliationIn(saved: JsonValue, step: string | undefined): Reconciliation {
  // `svc process --json` and `svc compose --json` put the output beside its hashes.
  const whole = membersOf(saved);
  const inner = membersOf(whole["output"] ?? null);
  const isWrapped = "engine" in inner || inner["object"] === "composition";
  const { receipt: receiptMember, ...output } = isWrapped ? inner : whole;
  const receipt = membersOf(receiptMember ?? null);
  const claimed = (isWrapped ? whole : receipt)["output_hash"];
  checkHash(output, claimed);
  const requestId = String(receipt["request_id"] ?? "none: run offline");
  const found = output["object"] === "composition" ? stepIn(output, step) : output;
  if (!String(found["engine"]).startsWith("iolta-reconcile@"))
    throw refused("this is no answer of iolta-reconcile", "not_a_reconciliation");
  return { output: found, outputHash: sha256Hex(canonicalJson(found)), requestId };
}

function checkHash(output: Members, claimed: JsonValue | undefined): void {
  if (claimed === undefined || claimed === sha256Hex(canonicalJson(output))) return;
  const message = "the answer is not the one that its output_hash was made of";
  throw new CliError(message, {
    code: "hash_mismatch",
    hint: "run the process again on its input: the same input gives the same output",
  });
}

function stepIn(composition: Members, id: string | undefined): Members {
  const steps = Array.isArray(composition["steps"]) ? composition["steps"].map(membersOf) : [];
  const fits = steps.filter((step) =>
    id === undefined ? step["process"] === "iolta-reconcile" : step["id"] === id,
  );
  const [step] = fits;
  if (step !== undefined && fits.length === 1) {
    const output = membersOf(step["output"] ?? null);
    checkHash(output, step["output_hash"]);
    return output;
  }
  const ids = steps.map((one) => String(one["id"])).join(", ");
  if (fits.length === 0) {
    const what = id === undefined ? "no step of iolta-reconcile" : `no step ${id}`;
    throw refused(`the workflow has ${what}; it has ${ids}`, "not_a_reconciliation");
  }
  throw refused(`the workflow has the steps ${ids}: choose one with --step`, "choose_a_step");
}

function refused(message: string, code: string): CliError {
  return new CliError(message, { code, exitCode: EXIT_USAGE });
}

function membersOf(value: JsonValue): Members {
  const isMembers = typeof value === "object" && value !== null && !Array.isArray(value);
  return isMembers ? (value as Members) : {};
}
