/** A host over a fake decoder: prompts are the bytes of the messages. */
import { DeviceLock } from "../../src/runtime/device-lock.ts";
import { Host } from "../../src/runtime/host.ts";
import type { Lane } from "../../src/runtime/lane.ts";
import type { TokenLock } from "../../src/runtime/lock.ts";
import type { Completion, CompletionRequest } from "../../src/runtime/request.ts";
import { Scheduler } from "../../src/runtime/scheduler.ts";
import { readAnswer, request } from "./engine.ts";
import { FAKE_TABLE, FakeDecoder, type FakeOptions } from "./fake-decoder.ts";
import { type PartGrammar, PartLock } from "./part-lock.ts";

export interface FakeHostOptions extends Partial<FakeOptions> {
  readonly rows: number;
  readonly lane: Lane;
  readonly chunkTokens?: number;
  readonly queueMax?: number;
  /** Tokens around thoughts; prompts that end with a question mark begin inside them. */
  readonly thoughts?: { readonly start: number; readonly end: number };
}

export type FakeRequest = Partial<CompletionRequest<PartGrammar>>;

export class FakeHost {
  readonly decoder: FakeDecoder;
  readonly scheduler: Scheduler;
  readonly #host: Host;

  constructor(options: FakeHostOptions) {
    const { rows, lane, chunkTokens = 16, queueMax = 64, thoughts } = options;
    this.decoder = new FakeDecoder({ slots: rows + 2, slotPositions: 512, ...options });
    this.scheduler = new Scheduler({
      ...{ decoder: this.decoder, table: FAKE_TABLE, device: new DeviceLock() },
      ...{ lane, rows, chunkTokens, queueMax },
    });
    this.#host = new Host({
      ...{ decoder: this.decoder, scheduler: this.scheduler, table: FAKE_TABLE },
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
