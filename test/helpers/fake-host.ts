/** A host over a fake decoder: prompts are the bytes of the messages. */
import { Host } from "../../src/runtime/host.ts";
import type { Lane } from "../../src/runtime/lane.ts";
import type { TokenLock } from "../../src/runtime/lock.ts";
import { Pool } from "../../src/runtime/pool.ts";
import type { Completion, CompletionRequest } from "../../src/runtime/request.ts";
import { readAnswer, request } from "./engine.ts";
import { FAKE_TABLE, FakeDecoder, type FakeOptions } from "./fake-decoder.ts";
import { type PartGrammar, PartLock } from "./part-lock.ts";

export interface FakeHostOptions extends Partial<FakeOptions> {
  /** Of each context. */
  readonly rows: number;
  readonly contexts?: number;
  readonly lane: Lane;
  readonly chunkTokens?: number;
  readonly readsBothWays?: boolean;
  readonly queueMax?: number;
  /** Tokens around thoughts; prompts that end with a question mark begin inside them. */
  readonly thoughts?: { readonly start: number; readonly end: number };
}

export type FakeRequest = Partial<CompletionRequest<PartGrammar>>;

export class FakeHost {
  /** Of the first context. */
  readonly decoder: FakeDecoder;
  readonly decoders: readonly FakeDecoder[];
  readonly pool: Pool;
  readonly #host: Host;

  constructor(options: FakeHostOptions) {
    const { rows, contexts = 1, lane, queueMax = 64, thoughts } = options;
    const { readsBothWays = false, chunkTokens = readsBothWays ? 512 : 16 } = options;
    const open = () => new FakeDecoder({ slots: rows + 2, slotPositions: 512, ...options });
    this.decoder = open();
    const others = Array.from({ length: contexts - 1 }, open);
    this.decoders = [this.decoder, ...others];
    this.pool = new Pool({
      ...{ decoders: [this.decoder, ...others], table: FAKE_TABLE },
      ...{ lane, costOf: (count) => 4 + count, rows, chunkTokens, queueMax, readsBothWays },
    });
    this.#host = new Host({
      ...{ pool: this.pool, table: FAKE_TABLE },
      prompts: {
        reasoning: thoughts === undefined ? null : { ...thoughts, startText: "" },
        build: ({ messages }) => {
          const text = messages.map(({ content }) => content).join("\n");
          const startsThinking = thoughts !== undefined && text.endsWith("?");
          return { tokens: [...Buffer.from(text)], startsThinking };
        },
      },
    });
  }

  start(text: string, changes: FakeRequest = {}, lock?: TokenLock): Completion {
    const asked = request(text, changes);
    const { grammar } = asked;
    const own = grammar === null ? null : new PartLock(grammar, FAKE_TABLE);
    return this.#host.complete(asked, lock ?? own);
  }

  async ask(text: string, changes: FakeRequest = {}, lock?: TokenLock) {
    return await readAnswer(this.start(text, changes, lock));
  }

  close(): Promise<void> {
    return this.#host.close();
  }
}
