/** A test gateway on a port, as the program serves it. */
import type { TestGateway } from "../../src/testing.ts";

export interface Served {
  readonly origin: string;
  readonly port: number;
  close(): Promise<void>;
}

/** @param onAnswer sees every answer before it is sent. @param wantedPort 0: any free one. */
export function serve(
  { gateway }: TestGateway,
  onAnswer?: (answer: Response) => void,
  wantedPort = 0,
): Served {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: wantedPort,
    reusePort: false,
    async fetch(request, self) {
      const clientAddress = self.requestIP(request)?.address ?? null;
      const onReceived = (): void => self.timeout(request, 0);
      const answer = await gateway.fetch(request, { clientAddress, onReceived });
      onAnswer?.(answer);
      return answer;
    },
  });
  const { port = 0 } = server;
  return { origin: `http://127.0.0.1:${port}`, port, close: () => server.stop(true) };
}
