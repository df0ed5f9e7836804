/** The engines that test/bench/maskbench.ts can run: ours, and XGrammar's WebAssembly build. */
import { GrammarCompiler, GrammarMatcher, TokenizerInfo } from "@mlc-ai/web-xgrammar";
import { readGguf } from "../../src/gguf/read.ts";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Languages } from "../../src/grammar/languages.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import type { Vocabulary } from "../../src/mask/vocabulary.ts";

/** Bit (t & 31) of word t >> 5 is token t. */
type Mask = Uint32Array | Int32Array;

/** The lock of one row. */
export interface BenchLock {
  reset(): void;
  mask(): Mask | Promise<Mask>;
  accept(token: number): boolean;
  dispose(): void;
}

export interface BenchEngine {
  readonly name: string;
  /** Throws for a schema that the engine refuses. */
  compile(schema: unknown): BenchLock | Promise<BenchLock>;
}

export function ourEngine(vocabulary: Vocabulary): BenchEngine {
  const languages = new Languages();
  return {
    name: "svc",
    compile: (schema) => {
      const options = { objects: "open", whitespace: "flexible" } as const;
      const matcher = new Matcher(compileSchema(schema, options, languages), vocabulary);
      return {
        reset: () => matcher.reset(),
        mask: () => matcher.computeMask(),
        accept: (token) => matcher.accept(token),
        dispose: () => undefined,
      };
    },
  };
}

/** As MaskBench runs it: any white space, and keys that the schema does not state. */
export async function xgrammarEngine(
  ggufPath: string,
  vocabulary: Vocabulary,
): Promise<BenchEngine> {
  const { metadata } = await readGguf(ggufPath);
  const texts = metadata.get("tokenizer.ggml.tokens")?.value as readonly string[];
  const stop = [...vocabulary.endTokens];
  const info = await TokenizerInfo.createTokenizerInfo(
    [...texts],
    "byte_level",
    false,
    texts.length,
    stop,
  );
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  return {
    name: "xgrammar",
    compile: async (schema) => {
      const text = JSON.stringify(schema);
      const grammar = await compiler.compileJSONSchema(text, true, undefined, undefined, false);
      const matcher = await GrammarMatcher.createGrammarMatcher(grammar);
      return {
        reset: () => matcher.reset(),
        mask: () => matcher.getNextTokenBitmask(),
        accept: (token) => matcher.acceptToken(token),
        dispose: () => {
          matcher.dispose();
          grammar.dispose();
        },
      };
    },
  };
}
