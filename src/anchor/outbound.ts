/** Requests to timestamping services: to configured addresses only, small, short, no redirects. */

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export class OutboundError extends Error {
  override readonly name = "OutboundError";
  /** `unreachable`: no answer; `refused`: another answer than asked for. */
  readonly code: "unreachable" | "refused";
  constructor(code: "unreachable" | "refused", message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface OutboundRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** A longer answer is refused. */
  readonly bytesMax: number;
}

const TIMEOUT_MS = 10_000;
/** Of a refusal's reason, which comes from elsewhere and goes into the log. */
const REASON_CHARACTERS = 160;

/**
 * @returns the body of a 200, or null for a 404.
 * @throws OutboundError for everything else.
 */
export async function exchange(
  fetch: Fetch,
  url: string,
  request: OutboundRequest,
): Promise<Uint8Array | null> {
  const { method, headers, body } = request;
  let response: Response;
  let bytes: Uint8Array;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const init = { method, headers, redirect: "error", signal } as const;
    response = await fetch(url, body === undefined ? init : { ...init, body });
    bytes = await readCapped(response, request.bytesMax);
  } catch (error) {
    throw error instanceof OutboundError ? error : unreachable(url, error);
  }
  if (response.status === 404) return null;
  if (response.status === 200) return bytes;
  const reason = printable(Buffer.from(bytes).toString("latin1"));
  throw new OutboundError("refused", `${url} answered ${response.status}: ${reason}`);
}

async function readCapped(response: Response, bytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of response.body ?? []) {
    total += piece.byteLength;
    if (total > bytesMax) {
      throw new OutboundError("refused", `an answer of more than ${bytesMax} bytes`);
    }
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

function unreachable(url: string, cause: unknown): OutboundError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new OutboundError("unreachable", `${url}: ${printable(reason)}`, { cause });
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, REASON_CHARACTERS);
}
