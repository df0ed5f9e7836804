/** The receiving end of an answer: events pushed by the scheduler, taken by one reader. */
import type { Completion, CompletionEvent } from "./request.ts";

export class Answer implements Completion {
  readonly promptTokens: number;
  readonly #progress: { readonly completionTokens: () => number; readonly position: () => number };
  readonly #cancel: () => void;
  readonly #events: CompletionEvent[] = [];
  #error: unknown = null;
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(
    promptTokens: number,
    progress: { readonly completionTokens: () => number; readonly position: () => number },
    cancel: () => void,
  ) {
    this.promptTokens = promptTokens;
    this.#progress = progress;
    this.#cancel = cancel;
  }

  get completionTokens(): number {
    return this.#progress.completionTokens();
  }

  get queuePosition(): number {
    return this.#progress.position();
  }

  push(event: CompletionEvent): void {
    this.#events.push(event);
    if (event.kind === "end") this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CompletionEvent, void> {
    let next = 0;
    try {
      for (;;) {
        const event = this.#events[next];
        if (event !== undefined) {
          next += 1;
          yield event;
          if (event.kind === "end") return;
        } else if (this.#ended) {
          throw this.#error;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = null;
        }
      }
    } finally {
      // A reader that left: nobody wants the rest.
      if (!this.#ended) this.#cancel();
    }
  }
}
