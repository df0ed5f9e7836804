/** The measurements of `decode.ts` against a running llama-server. */
import { DECODE_SCHEMAS } from "./decode-schemas.ts";

/** Tokens per second, free and with each schema; rates count all tokens, as it forces none. */
export async function measurePeer(
  url: string,
  clients: number,
  tokens: number,
  rounds: number,
): Promise<Readonly<Record<string, number>>> {
  const kinds: readonly (readonly [string, unknown])[] = [
    ["free_tokens_per_s", null],
    ...Object.entries(DECODE_SCHEMAS),
  ];
  const totals = new Map(kinds.map(([name]) => [name, { tokens: 0, seconds: 0 }]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, schema] of kinds) {
      const start = performance.now();
      const counts = await Promise.all(
        Array.from({ length: clients }, (_, client) =>
          complete(url, `round ${round}, client ${client}`, tokens, schema),
        ),
      );
      const total = totals.get(name);
      if (total === undefined) continue;
      total.seconds += (performance.now() - start) / 1000;
      total.tokens += counts.reduce((sum, count) => sum + count, 0);
    }
  }
  return Object.fromEntries(
    [...totals].map(([name, { tokens: count, seconds }]) => [
      name,
      Number((count / seconds).toPrecision(3)),
    ]),
  );
}

async function complete(
  url: string,
  prompt: string,
  tokens: number,
  schema: unknown,
): Promise<number> {
  const response = await fetch(new URL("/completion", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      prompt,
      n_predict: tokens,
      temperature: 0,
      cache_prompt: false,
      ...(schema === null ? { ignore_eos: true } : { json_schema: schema }),
    }),
  });
  const body: unknown = await response.json();
  if (typeof body === "object" && body !== null && "tokens_predicted" in body) {
    return Number(body.tokens_predicted);
  }
  throw new Error(`${url} answers ${response.status}: ${JSON.stringify(body).slice(0, 200)}`);
}
