/** An answer token by token: which ones the lock forced, and how long it took for each. */
import type { StreamPiece, ToldToken } from "./api.ts";

export function AnswerText({
  isRunning,
  pieces,
}: {
  readonly isRunning: boolean;
  readonly pieces: readonly StreamPiece[];
}) {
  return (
    <pre class="answer" aria-live="polite" aria-busy={isRunning}>
      {pieces.flatMap(({ text, tokens }, piece) =>
        spansOf(text, tokens).map((token, index) => (
          <span
            key={`${piece}.${index}`}
            class={token.forced ? "forced" : "chosen"}
            title={`${originOf(token)}, ${usOf(token.mask_us)}`}
          >
            {token.text}
          </span>
        )),
      )}
    </pre>
  );
}

/** The end of an answer is a token without text: it is counted, and not seen. */
function spansOf(text: string, tokens: readonly ToldToken[]): readonly ToldToken[] {
  const seen = tokens.filter((token) => token.text !== "");
  const isWhole = seen.map((token) => token.text).join("") === text;
  return isWhole ? seen : [{ text, forced: false, mask_us: 0 }];
}

const originOf = ({ forced }: ToldToken): string => (forced ? "forced" : "chosen");

const usOf = (us: number): string => `${us.toFixed(1)} µs`;

export function TokenLegend() {
  return (
    <p class="muted">
      <span class="forced">underlined</span> forced: the lock left no choice, nothing was sampled ·{" "}
      <span class="chosen">shaded</span> chosen by the model
    </p>
  );
}

export function TokenTimes({ tokens }: { readonly tokens: readonly ToldToken[] }) {
  if (tokens.length === 0) return null;
  const forced = tokens.filter((token) => token.forced).length;
  const times = tokens.map((token) => token.mask_us);
  const total = times.reduce((sum, us) => sum + us, 0);
  const longest = Math.max(...times);
  return (
    <>
      <p data-testid="token-summary">
        {tokens.length} tokens: {forced} forced, {tokens.length - forced} chosen. The lock took{" "}
        {(total / 1000).toFixed(2)} ms: {usOf(total / tokens.length)} a token, {usOf(longest)} at
        most.
      </p>
      <details>
        <summary>Every token, with the lock's time for it</summary>
        <section class="scroll token-table" aria-label="Tokens">
          <table>
            <thead>
              <tr>
                <th class="number">no.</th>
                <th>text</th>
                <th>how</th>
                <th class="number">mask time</th>
                <th>of the longest</th>
              </tr>
            </thead>
            <tbody>
              {tokens.map((token, index) => (
                <tr key={index}>
                  <td class="number">{index + 1}</td>
                  <td>
                    {token.text === "" ? (
                      <span class="muted">no text</span>
                    ) : (
                      <code>{JSON.stringify(token.text)}</code>
                    )}
                  </td>
                  <td>{originOf(token)}</td>
                  <td class="number">{usOf(token.mask_us)}</td>
                  <td>
                    <meter max={longest || 1} value={token.mask_us}>
                      {usOf(token.mask_us)}
                    </meter>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </>
  );
}
