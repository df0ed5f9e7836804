/** llama.cpp itself, for what needs no model: a judge that we did not write. */
import { getLlama, LlamaLogLevel } from "node-llama-cpp";

export function openLlama(): ReturnType<typeof getLlama> {
  return getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    logLevel: LlamaLogLevel.disabled,
  });
}

/** The model's own tokenizer, from a vocabulary-only file. */
export async function llamaTokenizer(path: string): Promise<(text: string) => number[]> {
  const llama = await openLlama();
  const model = await llama.loadModel({ modelPath: path, vocabOnly: true });
  return (text) => [...model.tokenize(text, false)];
}
