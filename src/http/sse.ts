/**
 * Server-sent events of a chat, sealed. A live stream ends with comments that carry signature and
 * attestation over every byte before them; its last event leaves only once the row is durable. A
 * buffered one is collected first and sealed in its headers. See src/receipt/FORMAT.md, "Streams".
 */
import { assert } from "../bytes/assert.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { BodyDigest } from "../receipt/body-digest.ts";
import type { ApiError } from "../service/api-error.ts";
import type { ChatStream } from "../service/chat.ts";
import type { ChatPiece, Chunk } from "../service/chat-stream.ts";
import type { Caller, Recorded } from "../service/metered-call.ts";
import type { Answer } from "./answer.ts";
import { errorBody } from "./error-answer.ts";
import { attestation, type SealDeps, type SealedCall, setCallHeaders } from "./seal.ts";
import { Silence } from "./silence.ts";

const EVENT_STREAM = "text/event-stream; charset=utf-8";
const DONE = "data: [DONE]\n\n";

export interface SseDeps {
  readonly seal: SealDeps;
  /** A failure in the API's words; those of the server's own are reported on the way. */
  readonly refusalOf: (error: unknown, requestId: string) => ApiError;
  /** Silence longer than this is broken by a comment, or proxies would end the connection. */
  readonly keepAliveMs: number;
}

/** All of a stream at once: for clients that want its seal in the headers. */
export async function bufferedAnswer(stream: ChatStream, keep: Caller["keep"]): Promise<Answer> {
  let text = "";
  try {
    for await (const piece of stream.pieces) {
      if (piece.kind === "chunk") {
        text += frame(piece.chunk);
        continue;
      }
      const body = utf8Encode(text + piece.chunks.map(frame).join("") + DONE);
      const contentType = EVENT_STREAM;
      const row = await stream.record(piece.facts, sha256Hex(body), () =>
        keep?.({ contentType, body }),
      );
      return { status: 200, contentType, body, headers: {}, row };
    }
  } finally {
    stream.release();
  }
  throw new RangeError("a stream ended without its last chunks");
}

/** @param left aborting it ends the decoding. */
export function liveResponse(
  deps: SseDeps,
  call: SealedCall,
  stream: ChatStream,
  left: AbortController,
): Response {
  const headers = new Headers();
  headers.set("content-type", EVENT_STREAM);
  setCallHeaders(headers, deps.seal, call);
  const live = new LiveStream(deps, call, stream, left);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const bytes = await live.next();
        if (live.isLeft) return;
        controller.enqueue(bytes);
        if (live.isOver) controller.close();
      },
      cancel: () => live.leave(),
    },
    // Nothing is made ahead of what the connection takes.
    { highWaterMark: 0 },
  );
  return new Response(body, { headers });
}

const NOTHING = new Uint8Array();

class LiveStream {
  readonly #deps: SseDeps;
  readonly #call: SealedCall;
  readonly #stream: ChatStream;
  readonly #left: AbortController;
  readonly #pieces: AsyncIterator<ChatPiece>;
  readonly #digest: BodyDigest;
  readonly #silence: Silence;
  #waiting: Promise<IteratorResult<ChatPiece>> | null = null;
  #hasToken = false;
  /** The client hung up. */
  isLeft = false;
  /** What `next` gave was the last of it. */
  isOver = false;

  constructor(deps: SseDeps, call: SealedCall, stream: ChatStream, left: AbortController) {
    this.#deps = deps;
    this.#call = call;
    this.#stream = stream;
    this.#left = left;
    this.#pieces = stream.pieces[Symbol.asyncIterator]();
    this.#silence = new Silence(deps.keepAliveMs);
    const { identity } = call;
    this.#digest = new BodyDigest(identity && deps.seal.hmacSecret(identity.tenantId));
  }

  async next(): Promise<Uint8Array> {
    try {
      const piece = await this.#nextPiece();
      if (this.isLeft) return NOTHING;
      if (piece === null) return this.#send(`: waiting, ${this.#stream.queuePosition()} ahead\n\n`);
      if (piece.kind === "end") return await this.#finish(piece);
      this.#hasToken ||= piece.hasToken;
      return this.#send(frame(piece.chunk));
    } catch (error) {
      if (this.isLeft) return NOTHING;
      return this.#fail(error);
    }
  }

  /** The client hung up: decoding stops, and what it got is recorded if it got a token. */
  async leave(): Promise<void> {
    if (this.isLeft || this.isOver) return;
    this.isLeft = true;
    this.#silence.stop();
    this.#left.abort();
    this.#pieces.return?.().catch(() => {});
    try {
      if (this.#hasToken) await this.#stream.recordLeft(this.#digest.finish().bodyHash);
    } catch (error) {
      // Nobody is there to be told.
      this.#deps.refusalOf(error, this.#call.requestId);
    } finally {
      this.#stream.release();
    }
  }

  /** @returns null after a long silence. */
  async #nextPiece(): Promise<ChatPiece | null> {
    this.#waiting ??= this.#pieces.next();
    const result = await this.#silence.within(this.#waiting);
    if (result === null) return null;
    this.#waiting = null;
    assert(result.done !== true, "a stream ends with its last chunks");
    return result.value;
  }

  #send(text: string): Uint8Array {
    const bytes = utf8Encode(text);
    this.#digest.update(bytes);
    return bytes;
  }

  /** The last event and the seal, once the row is durable. */
  async #finish(end: Extract<ChatPiece, { kind: "end" }>): Promise<Uint8Array> {
    this.isOver = true;
    this.#silence.stop();
    const bytes = this.#send(end.chunks.map(frame).join("") + DONE);
    const digest = this.#digest.finish();
    try {
      const row = await this.#stream.record(end.facts, digest.bodyHash);
      return Buffer.concat([bytes, this.#seal(digest, row)]);
    } catch (error) {
      this.#stream.release();
      // The digest ran ahead of what was sent: this stream ends without a seal.
      return utf8Encode(this.#errorFrame(error));
    }
  }

  /** A failure in the middle: sealed as far as it came, and not billed. */
  #fail(error: unknown): Uint8Array {
    this.isOver = true;
    this.#silence.stop();
    this.#left.abort();
    this.#stream.release();
    const bytes = this.#send(this.#errorFrame(error));
    return Buffer.concat([bytes, this.#seal(this.#digest.finish(), null)]);
  }

  #errorFrame(error: unknown): string {
    const refusal = this.#deps.refusalOf(error, this.#call.requestId);
    return frame(this.#stream.errorChunk(refusal) ?? errorBody(refusal));
  }

  #seal(digest: ReturnType<BodyDigest["finish"]>, row: Recorded | null): Uint8Array {
    const token = attestation(this.#deps.seal, this.#call, digest.bodyHash, row);
    const signature = digest.signature === null ? "" : `: svc-signature=${digest.signature}\n`;
    return utf8Encode(`${signature}: svc-attestation=${token}\n\n`);
  }
}

function frame(chunk: Chunk): string {
  const name = chunk.type === undefined ? "" : `event: ${chunk.type}\n`;
  return `${name}data: ${JSON.stringify(chunk)}\n\n`;
}
