/** The gateway on a port. */
import type { Config } from "../config.ts";
import type { Gateway } from "../gateway.ts";

export interface Listener {
  readonly url: string;
  /** Takes no new requests; those in flight may finish for a while, then they are cut off. */
  close(): Promise<void>;
}

/** How long answers in flight may go on once the server is told to stop. */
const GRACE_MS = 10_000;
/** Between requests, and while one arrives; a longer pause ends the connection. */
const IDLE_S = 60;

/** @throws the system's error where the port cannot be bound. */
export function listen(config: Config, gateway: Pick<Gateway, "fetch">): Listener {
  const { host, port, tls } = config;
  const server = Bun.serve({
    hostname: host,
    port,
    // A second process must not share the port: two writers would fork the ledger.
    reusePort: false,
    idleTimeout: IDLE_S,
    ...(tls && { tls: { cert: Bun.file(tls.certPath), key: Bun.file(tls.keyPath) } }),
    fetch(request, self) {
      return gateway.fetch(request, {
        clientAddress: self.requestIP(request)?.address ?? null,
        // An answer may take as long as it takes; without this, silence would end it. A body may
        // not: whoever sends half of one would hold its connection for ever.
        onReceived: () => self.timeout(request, 0),
      });
    },
  });
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${tls === null ? "http" : "https"}://${shownHost}:${server.port}`,
    close: async () => {
      let timer: Timer | undefined;
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, GRACE_MS);
      });
      await Promise.race([server.stop(), grace]);
      clearTimeout(timer);
      await server.stop(true);
    },
  };
}
