/** The measurements of `decode.ts` against a running llama-server, in turn with our own. */
import { DECODE_SCHEMAS, type SchemaName } from "./decode-schemas.ts";

export class LlamaServer {
  readonly #url: string;
  readonly #clients: number;
  readonly #tokens: number;
  readonly #names: readonly SchemaName[];
  /** By what the answers are locked to. */
  readonly #totals = new Map<string, { tokens: number; seconds: number }>();

  constructor(
    url: string,
    { clients, tokens, names }: { clients: number; tokens: number; names: readonly SchemaName[] },
  ) {
    this.#url = url;
    this.#names = names;
    this.#clients = clients;
    this.#tokens = tokens;
  }

  async runRound(round: number): Promise<void> {
    await this.#run("free_tokens_per_s", null, round);
    for (const name of this.#names) await this.#run(name, DECODE_SCHEMAS[name], round);
  }

  async #run(name: string, schema: unknown, round: number): Promise<void> {
    const start = performance.now();
    const counts = await Promise.all(
      Array.from({ length: this.#clients }, (_, client) =>
        this.#complete(`round ${round}, client ${client}`, schema),
      ),
    );
    const before = this.#totals.get(name) ?? { tokens: 0, seconds: 0 };
    this.#totals.set(name, {
      tokens: before.tokens + counts.reduce((sum, count) => sum + count, 0),
      seconds: before.seconds + (performance.now() - start) / 1000,
    });
  }

  /** What came before was to warm up. */
  forget(): void {
    this.#totals.clear();
  }

  /** Tokens per second; all tokens count, as it forces none. */
  get rates(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      [...this.#totals].map(([name, { tokens, seconds }]) => [
        name,
        Number((tokens / seconds).toPrecision(3)),
      ]),
    );
  }

  /** The prompt is as long as ours: the same template makes it. */
  async #complete(text: string, schema: unknown): Promise<number> {
    const messages = [{ role: "user", content: text }];
    const prompt = await this.#post("/apply-template", { messages }, "prompt");
    const counted = await this.#post(
      "/completion",
      {
        prompt,
        n_predict: this.#tokens,
        temperature: 0,
        cache_prompt: false,
        ...(schema === null ? { ignore_eos: true } : { json_schema: schema }),
      },
      "tokens_predicted",
    );
    return Number(counted);
  }

  /** @returns one member of the answer. */
  async #post(path: string, body: object, member: string): Promise<unknown> {
    const response = await fetch(new URL(path, this.#url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Readonly<Record<string, unknown>>;
    const value = answer[member];
    if (value !== undefined) return value;
    const text = JSON.stringify(answer).slice(0, 200);
    throw new Error(`${this.#url}${path} answers ${response.status}: ${text}`);
  }
}
