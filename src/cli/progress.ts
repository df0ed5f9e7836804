/** A bar for work that takes a while; only where a person watches. */
import { type CliIo, styled } from "./io.ts";
import { mebibytes } from "./units.ts";

const WIDTH = 30;

export class Progress {
  readonly #io: CliIo;
  readonly #label: string;
  readonly #total: number;
  #done = 0;
  #shown = -1;

  constructor(io: CliIo, label: string, total: number) {
    this.#io = io;
    this.#label = label;
    this.#total = total;
  }

  add(amount: number): void {
    this.#done += amount;
    const percent = Math.floor((100 * this.#done) / Math.max(1, this.#total));
    if (!this.#io.isTerminal || percent === this.#shown) return;
    this.#shown = percent;
    const filled = Math.round((WIDTH * Math.min(percent, 100)) / 100);
    const bar = styled(this.#io, "cyan", "█".repeat(filled)) + "░".repeat(WIDTH - filled);
    const sizes = `${mebibytes(this.#done)} of ${mebibytes(this.#total)}`;
    this.#io.stderr(`\r${this.#label} ${bar} ${String(percent).padStart(3)} %  ${sizes}`);
  }

  /** Takes the bar away again. */
  end(): void {
    if (this.#shown >= 0) this.#io.stderr("\r\u001b[2K");
  }
}
