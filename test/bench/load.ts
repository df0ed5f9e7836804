/**
 * A load generator on bare sockets: as many connections as asked for, each with one request under
 * way at a time. `fetch` in its place takes more of the machine than the server does (measured:
 * 100 µs a request against 12), and a wrk cannot look into answers while it runs.
 */

/** A response as it came. */
export interface Received {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** From the request's last byte sent to the answer's last byte received. */
  readonly ms: number;
}

export interface LoadOptions {
  readonly hostname: string;
  readonly port: number;
  /** The whole request, head and body. */
  readonly request: Uint8Array;
  readonly connections: number;
  readonly seconds: number;
  /** Each answer whose number is a multiple of this is handed to `check`. */
  readonly checkEvery: number;
  readonly check: (received: Received) => void;
}

export interface Load {
  /** Milliseconds of each answer, ascending. */
  readonly times: readonly number[];
  readonly seconds: number;
  readonly checked: number;
}

/** @throws Error for an answer that is not 200, or that `check` throws at. */
export async function load(options: LoadOptions): Promise<Load> {
  const startedMs = performance.now();
  const untilMs = startedMs + options.seconds * 1000;
  const times: number[] = [];
  let checked = 0;
  const onAnswer = (answer: () => Received, ms: number): boolean => {
    times.push(ms);
    if (times.length % options.checkEvery === 0) {
      options.check(answer());
      checked += 1;
    }
    return performance.now() < untilMs;
  };
  const clients = Array.from({ length: options.connections }, () => connect(options, onAnswer));
  await Promise.all(clients);
  const seconds = (performance.now() - startedMs) / 1000;
  times.sort((a, b) => a - b);
  return { times, seconds, checked };
}

/** Sends until `onAnswer` says that it was the last. */
async function connect(
  { hostname, port, request }: LoadOptions,
  onAnswer: (answer: () => Received, ms: number) => boolean,
): Promise<void> {
  const done = Promise.withResolvers<void>();
  let buffered: Uint8Array = new Uint8Array();
  let sentMs = 0;
  const socket = await Bun.connect({
    hostname,
    port,
    socket: {
      data(self, piece) {
        try {
          buffered = buffered.byteLength === 0 ? piece : Buffer.concat([buffered, piece]);
          const end = endOf(buffered);
          if (end === null) return;
          const answer = buffered;
          buffered = new Uint8Array();
          const ms = performance.now() - sentMs;
          if (!onAnswer(() => parse(answer, ms), ms)) return void self.end();
          sentMs = performance.now();
          if (self.write(request) !== request.byteLength) throw new Error("a request was cut off");
        } catch (error) {
          done.reject(error);
          self.terminate();
        }
      },
      close: () => done.resolve(),
      error: (_self, error) => done.reject(error),
    },
  });
  sentMs = performance.now();
  socket.write(request);
  await done.promise;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const OK = "HTTP/1.1 200 ";

/** @returns null while the answer is incomplete. @throws Error unless it is a whole 200. */
function endOf(bytes: Uint8Array): number | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headEnd = view.indexOf(HEAD_END);
  if (headEnd === -1) return null;
  const head = view.toString("latin1", 0, headEnd);
  if (!head.startsWith(OK)) throw new Error(`not a 200: ${head}`);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`no content-length: ${head}`);
  const end = headEnd + HEAD_END.byteLength + Number(length);
  if (bytes.byteLength > end) throw new Error("bytes came after an answer");
  return bytes.byteLength === end ? end : null;
}

function parse(bytes: Uint8Array, ms: number): Received {
  const view = Buffer.from(bytes);
  const headEnd = view.indexOf(HEAD_END);
  const [status = "", ...lines] = view.toString("latin1", 0, headEnd).split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const body = view.subarray(headEnd + HEAD_END.byteLength);
  return { status: Number(status.split(" ")[1]), headers: new Map(headers), body, ms };
}
