/** A calendar as the reference server behaves, on a port of its own, without a network. */
import { createHash } from "node:crypto";

const sha256 = (data: Uint8Array): Buffer => createHash("sha256").update(data).digest();
const varbytes = (data: Uint8Array): Buffer =>
  Buffer.concat([Uint8Array.of(data.byteLength), data]);

export interface FakeCalendar {
  readonly url: string;
  /** Digests that came, in hex. */
  readonly submitted: string[];
  readonly requests: string[];
  /** While set, every request is answered with it. */
  failWith: (() => Response) | null;
  /** Puts everything promised so far into a block: upgrades answer from now on. */
  mine(height: number): void;
  /** Merkle roots by height, as block explorers print them. */
  readonly blockRoots: Map<number, string>;
  stop(): void;
}

/** Bytes as in the reference documentation: prepend 4 bytes of time, append an 8 byte MAC. */
export function startCalendar(port = 0): FakeCalendar {
  const submitted: string[] = [];
  const requests: string[] = [];
  const promised: Buffer[] = [];
  const kept = new Map<string, Buffer>();
  const blockRoots = new Map<number, string>();
  const server = Bun.serve({ port, hostname: "127.0.0.1", fetch: (request) => answer(request) });
  const url = `http://127.0.0.1:${server.port}`;

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    requests.push(`${request.method} ${pathname}`);
    if (calendar.failWith !== null) return calendar.failWith();
    if (request.method === "POST" && pathname === "/digest") {
      const digest = Buffer.from(await request.arrayBuffer());
      submitted.push(digest.toString("hex"));
      return binary(promise(digest));
    }
    const commitment = /^\/timestamp\/([0-9a-f]+)$/.exec(pathname)?.[1] ?? "";
    const proof = kept.get(commitment);
    if (proof === undefined) return new Response("Pending confirmation", { status: 404 });
    return binary(proof);
  }

  function promise(digest: Buffer): Buffer {
    const nonce = Buffer.from(`nonce ${promised.length}`.padEnd(16));
    const time = Buffer.from("5a5a5a5a", "hex");
    const mac = Buffer.from("0102030405060708", "hex");
    const hashed = sha256(Buffer.concat([digest, nonce]));
    promised.push(Buffer.concat([time, hashed, mac]));
    const pending = Buffer.concat([
      Buffer.from("0083dfe30d2ef90c8e", "hex"),
      varbytes(varbytes(Buffer.from(url))),
    ]);
    return Buffer.concat([
      Buffer.from([0xf0]),
      varbytes(nonce),
      Buffer.from([0x08, 0xf1]),
      varbytes(time),
      Buffer.from([0xf0]),
      varbytes(mac),
      pending,
    ]);
  }

  const calendar: FakeCalendar = {
    url,
    submitted,
    requests,
    failWith: null,
    blockRoots,
    mine(height) {
      for (const [index, commitment] of promised.splice(0).entries()) {
        const neighbour = sha256(Buffer.from(`neighbour ${height} ${index}`));
        const inner = sha256(Buffer.concat([commitment, neighbour]));
        const root = sha256(inner);
        const number = height + index;
        blockRoots.set(number, Buffer.from(root).reverse().toString("hex"));
        const low = [(number & 0x7f) | 0x80, ((number >> 7) & 0x7f) | 0x80, number >> 14];
        const bitcoin = Buffer.concat([
          Buffer.from("000588960d73d71901", "hex"),
          varbytes(Buffer.from(low)),
        ]);
        const steps = Buffer.concat([
          Buffer.from([0xf0]),
          varbytes(neighbour),
          Buffer.from([0x08, 0x08]),
        ]);
        kept.set(commitment.toString("hex"), Buffer.concat([steps, bitcoin]));
      }
    },
    stop: () => void server.stop(true),
  };
  return calendar;
}

function binary(bytes: Buffer): Response {
  return new Response(new Uint8Array(bytes), {
    headers: { "content-type": "application/octet-stream" },
  });
}
