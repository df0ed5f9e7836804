/** Small pieces that every page uses. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Read out as soon as it appears. */
export function Failure({ message }: { readonly message: string | null }) {
  return (
    <p role="alert" class="bad">
      {message ?? ""}
    </p>
  );
}

export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl>
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** What loads, what came, or why it did not. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly problem: string | null;
  readonly reload: () => void;
}

/** Loads at first, when `keys` change, on `reload`, and every `everyMs` where that is given. */
export function useLoaded<T>(
  load: () => Promise<T>,
  keys: readonly unknown[],
  everyMs: number | null = null,
): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    const once = async (): Promise<void> => {
      try {
        const loaded = await load();
        if (isOver) return;
        setValue(() => loaded);
        setProblem(null);
      } catch (error) {
        if (!isOver) setProblem(error instanceof Error ? error.message : String(error));
      }
    };
    void once();
    const timer = everyMs === null ? null : setInterval(() => void once(), everyMs);
    return () => {
      isOver = true;
      if (timer !== null) clearInterval(timer);
    };
  }, [...keys, turn]);
  return { value, problem, reload: () => setTurn((n) => n + 1) };
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

export function CopyButton({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 2000);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-live="polite">
      {isCopied ? "Copied" : label}
    </button>
  );
}
