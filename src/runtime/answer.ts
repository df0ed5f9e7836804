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
  #hasNews = false;

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

  /** The reader gets it with the next `deliver`, unless it is the end. */
  push(event: CompletionEvent): void {
    this.#events.push(event);
    this.#hasNews = true;
    if (event.kind !== "end") return;
    this.#ended = true;
    this.deliver();
  }

  /** Wakes the reader if there is something new. */
  deliver(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.#ended = true;
    this.#wake?.();
  }

  /** No generator: each of its tokens would wait for three promises instead of one. */
  [Symbol.asyncIterator](): AsyncIterator<CompletionEvent, void> {
    let taken = 0;
    let hasEnded = false;
    const end: IteratorReturnResult<void> = { done: true, value: undefined };
    return {
      next: async () => {
        if (hasEnded) return end;
        if (this.#events.length === taken && !this.#ended) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = null;
        }
        const value = this.#events[taken];
        taken += 1;
        hasEnded = value === undefined || value.kind === "end";
        if (value === undefined) throw this.#error;
        return { done: false, value };
      },
      return: async () => {
        hasEnded = true;
        // A reader that left: nobody wants the rest.
        if (!this.#ended) this.#cancel();
        return end;
      },
    };
  }
}
