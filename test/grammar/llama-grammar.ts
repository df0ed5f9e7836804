/** llama.cpp's own grammar engine, which needs no model: a judge that we did not write. */
import { LlamaGrammar } from "node-llama-cpp";
import { openLlama } from "../helpers/llama.ts";

export interface LlamaTextGrammar {
  _testText(text: string): boolean;
}

/** @returns a function that parses GBNF, and throws where llama.cpp refuses it. */
export async function llamaGrammars(): Promise<(gbnf: string) => LlamaTextGrammar> {
  const llama = await openLlama();
  // An inner method of node-llama-cpp, not in its types.
  return (grammar) => new LlamaGrammar(llama, { grammar }) as unknown as LlamaTextGrammar;
}
