/** The schema compiler in its worker, as a hook: the newest text wins. */
import { useEffect, useRef, useState } from "preact/hooks";

export interface CompileQuestion {
  readonly n: number;
  readonly text: string;
}

export interface CompileAnswer {
  readonly n: number;
  readonly ms: number;
  /** Null where the schema compiles. */
  readonly problem: {
    readonly message: string;
    readonly line: number;
    readonly column: number;
    /** Null where the text is not JSON. */
    readonly pointer: string | null;
  } | null;
  readonly grammar: {
    readonly id: string;
    readonly gbnf: string;
    readonly annotations: readonly string[];
  } | null;
}

const TYPING_PAUSE_MS = 200;

/** @returns the answer to the newest text; null while it is compiled. */
export function useCompiled(text: string): CompileAnswer | null {
  const worker = useRef<Worker | null>(null);
  const newest = useRef(0);
  const [answer, setAnswer] = useState<CompileAnswer | null>(null);
  useEffect(() => {
    const made = new Worker("/console/compile.js", { type: "module" });
    made.addEventListener("message", ({ data }: MessageEvent<CompileAnswer>) => {
      if (data.n === newest.current) setAnswer(data);
    });
    worker.current = made;
    return () => made.terminate();
  }, []);
  useEffect(() => {
    newest.current += 1;
    const question: CompileQuestion = { n: newest.current, text };
    const timer = setTimeout(() => worker.current?.postMessage(question), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return answer?.n === newest.current ? answer : null;
}
