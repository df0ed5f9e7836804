/** What a streamed answer costs the thread that runs JavaScript, from the door to the last byte. */
import { GATEWAY_DEFAULTS } from "../../src/gateway.ts";
import { createTestGateway } from "../../src/testing.ts";

const ROUNDS = 3;

/**
 * CPU milliseconds per token of live streams: scheduler, lock, text, JSON, events, hashes of the
 * seal, and the reading of it all, which a server leaves to its clients.
 * @param change of the request's body.
 */
export async function streamedJsMs(
  model: string,
  asked: { readonly clients: number; readonly tokens: number; readonly threads: number | null },
  change: object,
): Promise<number> {
  const gateway = await createTestGateway({
    tiers: { "svc-tier-a": model, "svc-tier-b": model },
    ...{ threads: asked.threads, rows: GATEWAY_DEFAULTS.rows },
  });
  const stream = async (client: number): Promise<number> => {
    const messages = [{ role: "user", content: `client ${client}` }];
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "svc-tier-b", messages, max_tokens: asked.tokens, ...change },
        ...{ stream: true, stream_options: { include_usage: true } },
      }),
    });
    let end = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) end = (end + decoder.decode(piece)).slice(-2000);
    return Number(/"completion_tokens":(\d+)/.exec(end)?.[1]);
  };
  let [tokens, ms] = [0, 0];
  // The first round compiles, and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    const cpu = process.threadCpuUsage();
    const counts = await Promise.all(
      Array.from({ length: asked.clients }, (_, client) => stream(round * asked.clients + client)),
    );
    const { system, user } = process.threadCpuUsage(cpu);
    if (round === 0) continue;
    tokens += counts.reduce((sum, count) => sum + count, 0);
    ms += (user + system) / 1000;
  }
  await gateway.close();
  return ms / tokens;
}
