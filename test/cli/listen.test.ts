/** The gateway's port: who may be silent for how long, and what a stop does to answers in flight. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { listen } from "../../src/cli/listen.ts";
import { readConfig } from "../../src/config.ts";
import { createTestGateway } from "../../src/testing.ts";
import { onTestEnd } from "../trust-kit.ts";

type Served = Parameters<typeof listen>[1];

function open(gateway: Served) {
  const sources = { environment: {}, file: null, directory: "/here" };
  const { config } = readConfig({ ...sources, flags: { port: "0" } });
  return listen(config, gateway);
}

test("a server that is told to stop finishes the answers in flight, and takes no new requests", async () => {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const listener = open({
    fetch: async () => {
      begun.resolve();
      await gate.promise;
      return new Response("whole");
    },
  });
  const answer = fetch(listener.url);
  await begun.promise;
  const closed = listener.close();
  expect(await fetch(listener.url).catch(() => "refused")).toBe("refused");
  gate.resolve();
  expect(await (await answer).text()).toBe("whole");
  await closed;
});

/** How long a connection with half a request is kept, in seconds. */
async function keptFor(url: string, half: string): Promise<number> {
  const startedMs = performance.now();
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => void socket.write(half));
  socket.resume();
  socket.on("error", () => {});
  await new Promise((resolve) => socket.on("close", resolve));
  return (performance.now() - startedMs) / 1000;
}

const PATH = "/v1/search";
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\n`;
const HALVES = [
  "",
  "GET /",
  HEAD,
  `${HEAD}Content-Length: 9\r\n\r\nabc`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nab`,
];

test.skipIf(process.env["SLOW"] !== "1")(
  "an answer may be silent for long, half a request may not, and a thousand of them keep nobody out",
  async () => {
    const test = await createTestGateway();
    onTestEnd(() => void test.close());
    const { apiKey, gateway } = test;
    const listener = open({
      fetch: async (request, info) => {
        const answer = await gateway.fetch(request, info);
        if (request.headers.has("x-slow")) await Bun.sleep(75_000);
        return answer;
      },
    });
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const body = '{"query":"x"}';
    const ask = (more: Readonly<Record<string, string>>) =>
      fetch(listener.url + PATH, { method: "POST", headers: { ...headers, ...more }, body });
    const slow = ask({ "x-slow": "1" });
    const kept = Array.from({ length: 1000 }, (_, index) =>
      keptFor(listener.url, HALVES[index % HALVES.length] ?? ""),
    );
    await Bun.sleep(1000);
    expect((await ask({})).status).toBe(200);
    expect(Math.max(...(await Promise.all(kept)))).toBeLessThan(90);
    expect((await slow).status).toBe(200);
    await listener.close();
  },
  180_000,
);
