/** Compiles schemas beside the page, so that typing never waits for a large one. */
import "./buffer.ts";
import { compileSchema } from "../../grammar/compile.ts";
import { SchemaError } from "../../schema/schema-error.ts";
import { findJsonError, placeOfPointer } from "../json-text.ts";
import type { CompileAnswer, CompileQuestion } from "./compile.ts";

self.addEventListener("message", ({ data }: MessageEvent<CompileQuestion>) => {
  const startedMs = performance.now();
  const answer = compile(data);
  self.postMessage({ ...answer, n: data.n, ms: performance.now() - startedMs });
});

function compile({ text }: CompileQuestion): Omit<CompileAnswer, "n" | "ms"> {
  const notJson = findJsonError(text);
  if (notJson !== null) {
    const { column, line, problem } = notJson;
    return {
      problem: { message: `not JSON: ${problem}`, line, column, pointer: null },
      grammar: null,
    };
  }
  try {
    const { annotations, gbnf, id } = compileSchema(JSON.parse(text));
    return { problem: null, grammar: { id, gbnf, annotations } };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { message, pointer } = error;
    const { column, line } = placeOfPointer(text, pointer) ?? { line: 1, column: 1 };
    return { problem: { message, line, column, pointer }, grammar: null };
  }
}
