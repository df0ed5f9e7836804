/** Calls of the public API, with the bytes kept for the verifier. */
import type { AnswerFacts, ServedRow } from "../../verify/online.ts";
import { verifyAnswer } from "../../verify/online.ts";
import type { Session } from "./session.ts";

export type Verification = Awaited<ReturnType<typeof verifyAnswer>>;

/** @throws Error with the server's own message. */
export async function getJson<T>(session: Session, path: string): Promise<T> {
  const response = await fetch(path, { headers: headersOf(session), cache: "no-store" });
  if (!response.ok) throw new Error(await refusalOf(response));
  return (await response.json()) as T;
}

/** Null where the server has no such thing (404). @throws Error with the server's own message. */
export async function getIfAny<T>(session: Session, path: string): Promise<T | null> {
  const response = await fetch(path, { headers: headersOf(session), cache: "no-store" });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(await refusalOf(response));
  return (await response.json()) as T;
}

/** `GET /ready` answers with a body whatever it says. */
export async function getReadiness<T>(): Promise<T> {
  const response = await fetch("/ready", { cache: "no-store" });
  return (await response.json()) as T;
}

export async function getBlob(session: Session, path: string): Promise<Blob> {
  const response = await fetch(path, { headers: headersOf(session), cache: "no-store" });
  if (!response.ok) throw new Error(await refusalOf(response));
  return response.blob();
}

/** How an answer came to a token: the member `svc.tokens` of a chunk. */
export interface ToldToken {
  readonly text: string;
  readonly forced: boolean;
  readonly mask_us: number;
}

export interface StreamPiece {
  readonly text: string;
  readonly tokens: readonly ToldToken[];
}

export interface StreamEvents {
  /** What the model wrote, piece by piece as it came. */
  readonly onPiece: (piece: StreamPiece) => void;
  readonly signal: AbortSignal;
}

export interface StreamedAnswer {
  readonly finishReason: string | null;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly svc: Readonly<Record<string, unknown>>;
  /** The stream as it came, for the curious. */
  readonly raw: string;
  readonly verification: Verification;
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: StreamedAnswer["usage"];
  readonly svc?: StreamedAnswer["svc"] & { readonly tokens?: readonly ToldToken[] };
  readonly error?: { readonly message: string };
}

const CHAT = "/v1/chat/completions";

/** Streams a chat and verifies it. @throws Error with the server's own message. */
export async function streamChat(
  session: Session,
  body: object,
  events: StreamEvents,
): Promise<StreamedAnswer> {
  const options = {
    stream: true,
    stream_options: { include_usage: true },
    svc: { tokens: true },
  };
  const requestBody = new TextEncoder().encode(JSON.stringify({ ...body, ...options }));
  const headers = { ...headersOf(session), "content-type": "application/json" };
  const { signal } = events;
  const sentMs = Date.now();
  const response = await fetch(CHAT, { method: "POST", headers, body: requestBody, signal });
  if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  let finishReason: string | null = null;
  let usage: StreamedAnswer["usage"] = null;
  let svc: StreamedAnswer["svc"] = {};
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const chunk of chunksOf(lines)) {
      if (chunk.error !== undefined) throw new Error(chunk.error.message);
      const [choice] = chunk.choices;
      const text = choice?.delta.content ?? "";
      const tokens = chunk.svc?.tokens ?? [];
      if (text !== "" || tokens.length > 0) events.onPiece({ text, tokens });
      finishReason = choice?.finish_reason ?? finishReason;
      usage = chunk.usage ?? usage;
      svc = chunk.svc ?? svc;
    }
  }
  const responseBody = new Uint8Array(await new Blob(pieces).arrayBuffer());
  const requestId = response.headers.get("x-request-id");
  const saved = {
    method: "POST",
    path: CHAT,
    requestBody,
    responseBody,
    signature: response.headers.get("x-svc-signature"),
    attestation: response.headers.get("x-svc-attestation"),
    requestId,
  };
  const verification = await verify(session, saved, sentMs);
  const raw = new TextDecoder().decode(responseBody);
  return { finishReason, usage, svc, raw, verification };
}

async function verify(
  session: Session,
  response: AnswerFacts["response"],
  sentMs: number,
): Promise<Verification> {
  const [keyHistory, receipt] = await Promise.all([
    getJson<unknown>(session, "/attestation/keys"),
    getJson<{ row: ServedRow }>(session, `/v1/receipts/${response.requestId}`),
  ]);
  const { hmacSecret } = session;
  return verifyAnswer({ response, keyHistory, hmacSecret, row: receipt.row, sentMs });
}

function chunksOf(lines: readonly string[]): Chunk[] {
  return lines.flatMap((line) => {
    const data = /^data: ?(.*)$/.exec(line)?.[1];
    return data === undefined || data === "[DONE]" ? [] : [JSON.parse(data) as Chunk];
  });
}

function headersOf(session: Session): Record<string, string> {
  return session.apiKey === "" ? {} : { authorization: `Bearer ${session.apiKey}` };
}

async function refusalOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return `the server answered ${response.status}`;
  }
}
