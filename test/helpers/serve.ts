/** A test gateway on a port, as the program serves it. */
import type { TestGateway } from "../../src/testing.ts";

export interface Served {
  readonly origin: string;
  readonly port: number;
  close(): Promise<void>;
}

/** @param wantedPort 0: any free one. */
export function serve({ gateway }: TestGateway, wantedPort = 0): Served {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: wantedPort,
    reusePort: false,
    fetch(request, self) {
      self.timeout(request, 0);
      return gateway.fetch(request, { clientAddress: self.requestIP(request)?.address ?? null });
    },
  });
  const { port = 0 } = server;
  return { origin: `http://127.0.0.1:${port}`, port, close: () => server.stop(true) };
}
