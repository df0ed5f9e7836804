/** `svc replay`: asks the same again and compares, byte for byte. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Access, openAccess } from "./access.ts";
import { apiRequest } from "./chat-call.ts";
import { CliError, EXIT_USAGE, PrintedFailure } from "./cli-error.ts";
import { readJson } from "./files.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { addSettings, examples, readSettings } from "./settings.ts";

interface Answer {
  readonly choices?: readonly { readonly message: unknown; readonly finish_reason: string }[];
  readonly system_fingerprint?: string;
  readonly svc?: { readonly seed?: number | null };
  readonly error?: { readonly message: string; readonly code: string };
}

export function replayCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("replay")
    .description("run a chat request again, and compare the answer with the one there was")
    .argument("<REQUEST>", "a file with the body of POST /v1/chat/completions, or a request id")
    .option("--answer <FILE>", "the answer there was; without it the request is run twice")
    .option("--url <URL>", "a server elsewhere; the key is SVC_API_KEY")
    .option("--json", "print { same, fingerprints, difference }");
  addSettings(command, ["dataDir", "manifest", "tierA", "tierB", "cpu", "threads"]);
  command.addHelpText(
    "after",
    examples(
      "svc replay request.json --answer answer.json",
      "svc replay request.json",
      "svc replay req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ),
  );
  command.addHelpText(
    "after",
    "\nA request id finds what was sent with store: true, by this key's tenant, for a day; the\n" +
      "tenant switches that on first (svc keys store-requests, or PUT /v1/requests).\n" +
      "At temperature 0 the answers are the same on the same machine, build and model file; the\n" +
      "fingerprints say whether these are. Exit code 1 means that the answers differ.",
  );
  command.action(async (path, options) => {
    const { config } = await readSettings(io, { ...options });
    const fromFile = REQUEST_ID.test(path) ? null : await readFiles(io, path, options.answer);
    const access = await openAccess(io, config, options.url ?? null);
    try {
      const { request, answer } = fromFile ?? (await findKept(access, path));
      const before = answer ?? (await ask(access, request));
      const again = { ...request, ...drawnWith(before, request) };
      report(io, before, await ask(access, again), options.json === true);
    } finally {
      await access.close();
    }
  });
  return command;
}

const REQUEST_ID = /^req_[0-9A-HJKMNP-TV-Z]{26}$/;

type Request = Readonly<Record<string, unknown>>;

/** What is to be asked, and what it was answered; null where that is not known. */
interface Kept {
  readonly request: Request;
  readonly answer: Answer | null;
}

async function readFiles(io: CliIo, path: string, answerPath: string | undefined): Promise<Kept> {
  const request = (await readJson(io, path)) as Request;
  return {
    request,
    answer: answerPath === undefined ? null : answerFrom(await readJson(io, answerPath)),
  };
}

/** @throws CliError for a request that is not kept, with the server's words. */
async function findKept(access: Access, requestId: string): Promise<Kept> {
  const response = await access.fetch(apiRequest(access, `/v1/requests/${requestId}`, {}));
  const kept = (await response.json()) as { readonly request: Request; readonly response: unknown };
  return { request: kept.request, answer: answerFrom("response" in kept ? kept.response : kept) };
}

/** What was drawn with a number of the server's own is drawn with it again. */
function drawnWith({ svc }: Answer, { seed, temperature }: Request): { readonly seed?: number } {
  const drawn = svc?.seed;
  return temperature !== 0 && seed === undefined && typeof drawn === "number"
    ? { seed: drawn }
    : {};
}

/** @throws PrintedFailure where the answers differ. */
function report(io: CliIo, before: Answer, after: Answer, isJson: boolean): void {
  const [old, now] = [before, after].map(({ choices }) => JSON.stringify(choices));
  const same = old === now;
  const at = same ? null : firstDifference(old ?? "", now ?? "");
  const fingerprints = [before.system_fingerprint ?? null, after.system_fingerprint ?? null];
  if (isJson) {
    printJson(io, { same, fingerprints, difference: at });
  } else if (same) {
    print(io, styled(io, "green", "the same, byte for byte"));
  } else if (at !== null) {
    const where = `different from character ${at.index} of the choices on`;
    print(io, styled(io, "red", where), `  was: ${at.was}`, `  is:  ${at.is}`);
    if (fingerprints[0] !== fingerprints[1]) {
      print(io, "Model, build or settings are not what they were: the fingerprints differ.");
    }
  }
  if (!same) throw new PrintedFailure("the answers differ");
}

const SHOWN = 60;

function firstDifference(was: string, is: string) {
  let index = 0;
  while (index < was.length && was[index] === is[index]) index += 1;
  const part = (text: string): string => text.slice(Math.max(0, index - 10), index + SHOWN);
  return { index, was: part(was), is: part(is) };
}

async function ask(access: Access, request: Request): Promise<Answer> {
  const { stream: _, stream_options: __, store: ___, svc, ...rest } = request;
  const body = typeof svc === "object" ? { ...rest, svc: { ...svc, tokens: false } } : rest;
  const init = { method: "POST", body: JSON.stringify(body) };
  const response = await access.fetch(apiRequest(access, "/v1/chat/completions", init));
  return answerFrom(await response.json());
}

/** @throws CliError for what is no answer, with the server's words where it refused. */
function answerFrom(value: unknown): Answer {
  const answer = value as Answer;
  if (answer.error !== undefined) throw new CliError(answer.error.message, answer.error);
  if (Array.isArray(answer.choices)) return answer;
  const message = "that is not an answer of POST /v1/chat/completions";
  throw new CliError(message, { code: "not_an_answer", exitCode: EXIT_USAGE });
}
