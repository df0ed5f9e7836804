/** One chat call over the API: streamed, kept byte for byte, and verified once it is complete. */

import { NATIVE } from "../verify/native-hashing.ts";
import { verifyAnswer } from "../verify/online.ts";
import type { Access } from "./access.ts";
import { CliError } from "./cli-error.ts";

export interface ChatResult {
  readonly text: string;
  readonly finishReason: string | null;
  readonly requestId: string;
  /** The answer's `svc` member. */
  readonly svc: Readonly<Record<string, unknown>>;
  readonly completionTokens: number;
  readonly verification: Awaited<ReturnType<typeof verifyAnswer>>;
}

const PATH = "/v1/chat/completions";

/**
 * @param body without `stream`.
 * @param onText hears of text as it comes.
 * @throws CliError with the server's own message where it refuses.
 */
export async function chatCall(
  access: Access,
  body: Readonly<Record<string, unknown>>,
  onText: (text: string) => void,
): Promise<ChatResult> {
  const stream = { stream: true, stream_options: { include_usage: true } };
  const requestBody = new TextEncoder().encode(JSON.stringify({ ...body, ...stream }));
  const request = apiRequest(access, PATH, { method: "POST", body: requestBody });
  const sentMs = Date.now();
  const response = await access.fetch(request);
  if (!response.ok || response.body === null) throw await refusalOf(response);
  const requestId = response.headers.get("x-request-id") ?? "";
  const reader = new StreamReader(onText);
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) {
    pieces.push(piece);
    reader.push(piece);
  }
  const { completionTokens, finishReason, svc, text } = reader;
  const history = await getJson(access, "/attestation/keys");
  const receipt = await getJson(access, `/v1/receipts/${requestId}`);
  const verification = await verifyAnswer({
    response: {
      method: "POST",
      path: PATH,
      requestBody,
      responseBody: Buffer.concat(pieces),
      signature: response.headers.get("x-svc-signature"),
      attestation: response.headers.get("x-svc-attestation"),
      requestId,
    },
    keyHistory: history,
    hmacSecret: access.hmacSecret,
    row: (receipt as { readonly row?: Record<string, string> }).row ?? null,
    sentMs,
    hashing: NATIVE,
  });
  return { text, finishReason, requestId, svc, completionTokens, verification };
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly completion_tokens: number } | null;
  readonly svc?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string; readonly code: string };
}

/** Server-sent events, as far as a stream of chunks has them. */
class StreamReader {
  text = "";
  finishReason: string | null = null;
  completionTokens = 0;
  svc: Readonly<Record<string, unknown>> = {};
  readonly #onText: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  push(piece: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = /^data: ?(.*)$/.exec(line)?.[1];
      if (data !== undefined && data !== "[DONE]") this.#chunk(JSON.parse(data) as Chunk);
    }
  }

  #chunk({ choices, error, svc, usage }: Chunk): void {
    if (error !== undefined) throw new CliError(error.message, { code: error.code });
    const [choice] = choices;
    const content = choice?.delta.content ?? "";
    if (content !== "") {
      this.text += content;
      this.#onText(content);
    }
    this.finishReason = choice?.finish_reason ?? this.finishReason;
    this.completionTokens = usage?.completion_tokens ?? this.completionTokens;
    this.svc = svc ?? this.svc;
  }
}

export function apiRequest(access: Access, path: string, init: RequestInit): Request {
  const headers = { authorization: `Bearer ${access.apiKey}`, "content-type": "application/json" };
  return new Request(access.base + path, { ...init, headers });
}

/** @throws CliError with the server's own message. */
async function getJson(access: Access, path: string): Promise<unknown> {
  const response = await access.fetch(apiRequest(access, path, {}));
  if (!response.ok) throw await refusalOf(response);
  return response.json();
}

async function refusalOf(response: Response): Promise<CliError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string } };
    return new CliError(error.message, { code: error.code, hint: hintOf(response.status) });
  } catch {
    const message = `the server answered ${response.status}: ${text.slice(0, 200)}`;
    return new CliError(message, { code: "bad_answer" });
  }
}

function hintOf(status: number): string | null {
  return status === 401 ? "check SVC_API_KEY; svc keys list shows which keys are active" : null;
}
