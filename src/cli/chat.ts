/** `svc chat`: talk to a model in the terminal; every answer is verified when it is complete. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Access, openAccess } from "./access.ts";
import { type ChatResult, chatCall } from "./chat-call.ts";
import { CliError, EXIT_USAGE, PrintedFailure } from "./cli-error.ts";
import { readJson } from "./files.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { addSettings, examples, readSettings } from "./settings.ts";

export function chatCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("chat")
    .description("talk to a model; with a schema, every answer is locked to it")
    .argument("[MESSAGE...]", "ask this and end; without it, a conversation begins")
    .option("--schema <FILE>", "JSON Schema that every answer obeys; - reads standard input")
    .option("--model <NAME>", "svc-tier-a, svc-tier-b or svc-auto", "svc-tier-b")
    .option("--system <TEXT>", "what the model is told first")
    .option("--temperature <N>", "0 to 2; at 0 answers are reproducible", numberFrom, 0)
    .option("--max-tokens <N>", "the longest answer; without a schema 512", numberFrom)
    .option("--url <URL>", "a server elsewhere; the key is SVC_API_KEY")
    .option("--json", "with MESSAGE: print { content, finish_reason, request_id, verified, … }");
  addSettings(command, ["dataDir", "manifest", "tierA", "tierB", "cpu", "threads"]);
  command.addHelpText(
    "after",
    examples(
      'svc chat "What is a hash chain?" --model svc-tier-a',
      "svc chat --schema invoice.json < invoice.txt",
      "SVC_API_KEY=sk-svc-… svc chat --url https://gateway.example",
    ),
  );
  command.addHelpText(
    "after",
    "\nUses the server that runs on the data directory; where none does, the model is loaded\n" +
      `into this process. In a conversation ${COMMANDS}.`,
  );
  command.action(async (message, options) => {
    const { config } = await readSettings(io, { ...options });
    const schema = options.schema === undefined ? null : await readJson(io, options.schema);
    const settings: ChatSettings = {
      model: options.model,
      temperature: options.temperature,
      maxTokens: options.maxTokens ?? (schema === null ? FREE_TOKENS_MAX : null),
      system: options.system ?? null,
      schema,
    };
    const access = await openAccess(io, config, options.url ?? null);
    try {
      if (message.length > 0) await askOnce(io, access, settings, message.join(" "), options.json);
      else await converse(io, access, settings);
    } finally {
      await access.close();
    }
  });
  return command;
}

/** A small model may not know when to end; a locked answer ends by itself. */
const FREE_TOKENS_MAX = 512;
const COMMANDS = "/clear forgets what was said and /quit ends it";

interface ChatSettings {
  readonly model: string;
  readonly temperature: number;
  readonly maxTokens: number | null;
  readonly system: string | null;
  /** Null leaves answers free. */
  readonly schema: unknown;
}

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

async function askOnce(
  io: CliIo,
  access: Access,
  settings: ChatSettings,
  content: string,
  isJson = false,
): Promise<void> {
  const result = await ask(io, access, settings, [{ role: "user", content }], isJson);
  if (isJson) {
    printJson(io, {
      content: result.text,
      finish_reason: result.finishReason,
      request_id: result.requestId,
      completion_tokens: result.completionTokens,
      svc: result.svc,
      verified: result.verification.ok,
      steps: result.verification.steps,
    });
  }
  if (!result.verification.ok) throw new PrintedFailure("the answer does not verify");
}

async function converse(io: CliIo, access: Access, settings: ChatSettings): Promise<void> {
  io.stderr(styled(io, "dim", `${settings.model}, ${access.label}; ${COMMANDS}\n`));
  let messages: readonly Message[] = [];
  for (;;) {
    const line = await io.readLine(io.isTerminal ? styled(io, "cyan", "> ") : "");
    const command = line?.trim() ?? "/quit";
    if (command === "/quit") return;
    if (command === "/clear") messages = [];
    else if (/^\/\w*$/.test(command)) io.stderr(`${COMMANDS}\n`);
    if (command === "" || /^\/\w*$/.test(command)) continue;
    const asked: readonly Message[] = [...messages, { role: "user", content: command }];
    try {
      const { text } = await ask(io, access, settings, asked, false);
      messages = [...asked, { role: "assistant", content: text }];
    } catch (error) {
      // A refusal (say, too long a conversation) is no reason to end.
      if (!(error instanceof CliError)) throw error;
      io.stderr(`${styled(io, "red", "error")}: ${error.message}\n`);
    }
  }
}

async function ask(
  io: CliIo,
  access: Access,
  settings: ChatSettings,
  messages: readonly Message[],
  isQuiet: boolean,
): Promise<ChatResult> {
  const { maxTokens, model, schema, system, temperature } = settings;
  const body = {
    model,
    temperature,
    messages: [...(system === null ? [] : [{ role: "system", content: system }]), ...messages],
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(schema === null
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: "answer", strict: true, schema },
          },
        }),
  };
  const result = await chatCall(access, body, (text) => void (isQuiet || io.stdout(text)));
  if (!isQuiet) printVerdict(io, result);
  return result;
}

function printVerdict(
  io: CliIo,
  { completionTokens, finishReason, verification }: ChatResult,
): void {
  print(io, "");
  const { ok, steps } = verification;
  if (!ok) {
    io.stderr(`${styled(io, "red", "does not verify")}: keep this answer, and report it\n`);
    for (const { detail, name, state } of steps) io.stderr(`  ${name}: ${state}: ${detail}\n`);
    return;
  }
  const checked = steps.filter(({ state }) => state === "ok").map(({ name }) => name);
  const row = steps.find(({ name }) => name === "row")?.detail ?? "";
  const cut = finishReason === "length" ? ", cut off by the limit" : "";
  const verdict = `verified: ${checked.join(", ")} (${row}); ${completionTokens} tokens${cut}`;
  io.stderr(`${styled(io, "green", verdict)}\n`);
}

function numberFrom(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  const options = { code: "usage", exitCode: EXIT_USAGE };
  throw new CliError(`${JSON.stringify(text)} is not a number`, options);
}
