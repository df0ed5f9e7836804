/** Whether the browser itself finds an answer genuine, and why. */
import type { Verification } from "./api.ts";

const MARKS = {
  ok: ["good", "✓"],
  failed: ["bad", "✗"],
  "not checked": ["warn", "–"],
} as const;

export function VerifyBadge({ verification }: { readonly verification: Verification }) {
  const { ok, steps } = verification;
  const isPartial = steps.some(({ state }) => state === "not checked");
  const text = ok ? (isPartial ? "Verified in part" : "Verified") : "Does not verify";
  const style = ok ? (isPartial ? "warn" : "good") : "bad";
  return (
    <div>
      <span class={`badge ${style}`} role="status" data-testid="verify-badge">
        {text}
      </span>
      <ul class="steps">
        {steps.map(({ detail, name, state }) => {
          const [color, mark] = MARKS[state];
          return (
            <li key={name}>
              <span class={color} aria-hidden="true">
                {mark}
              </span>{" "}
              {name} {state === "ok" ? "" : `${state}: `}
              <span class="muted">{detail}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
