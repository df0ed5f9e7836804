/**
 * No text of a request becomes a control token, whatever template and vocabulary: the same chat
 * with and without spelled control tokens has the same control tokens in its prompt, and the
 * spelled ones are there as text.
 */
import { describe, expect, test } from "bun:test";
import { readGguf } from "../../src/gguf/read.ts";
import { type Model, openRuntime } from "../../src/runtime/addon.ts";
import type { ChatTurn, ToolDefinition } from "../../src/runtime/chat.ts";
import type { TokenTable } from "../../src/runtime/lock.ts";
import { MANIFEST_PATH, readManifest, resolveModel } from "../../src/runtime/manifest.ts";
import { PromptBuilder } from "../../src/runtime/prompt-builder.ts";
import { readShape } from "../../src/runtime/shape.ts";
import { request } from "../helpers/engine.ts";
import { randomModelPath, SMALL } from "../helpers/random-model.ts";
import { loadTokenTable } from "../helpers/token-table.ts";
import {
  templateText,
  type VocabularyName,
  vocabulariesAvailable,
} from "../helpers/vocabularies.ts";

interface Case {
  readonly vocabulary: VocabularyName;
  readonly templates: readonly { readonly name: string; readonly tools: boolean }[];
  /** A few of this vocabulary's control tokens, as text. */
  readonly spelled: readonly string[];
  /** Text that is cut gets a space where it goes on: SentencePiece. */
  readonly spaced?: boolean;
  readonly slow?: boolean;
}

const cases: readonly Case[] = [
  {
    vocabulary: "llama-bpe",
    templates: [
      { name: "meta-llama-Llama-3.1-8B-Instruct", tools: true },
      { name: "meta-llama-Llama-3.2-3B-Instruct", tools: true },
      { name: "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", tools: false },
    ],
    spelled: ["<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>", "<|end_of_text|>"],
  },
  {
    vocabulary: "qwen2",
    templates: [
      { name: "Qwen-Qwen2.5-7B-Instruct", tools: true },
      { name: "Qwen-Qwen3-0.6B", tools: true },
      { name: "Qwen-QwQ-32B", tools: true },
    ],
    spelled: ["<|im_end|>", "<|im_start|>", "<|endoftext|>"],
  },
  {
    vocabulary: "phi-3",
    templates: [{ name: "microsoft-Phi-3.5-mini-instruct", tools: false }],
    spelled: ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "</s>", "<s>"],
    spaced: true,
  },
  {
    vocabulary: "llama-spm",
    templates: [
      { name: "google-gemma-2-2b-it", tools: false },
      { name: "mistralai-Mistral-Nemo-Instruct-2407", tools: false },
    ],
    spelled: ["</s>", "<s>", "<unk>"],
    spaced: true,
  },
  {
    vocabulary: "gemma-4",
    templates: [{ name: "google-gemma-4-31B-it", tools: true }],
    spelled: ["<turn|>", "<|turn>", "<bos>", "<eos>", "<|tool_call>"],
    slow: true,
  },
];

async function open(path: string, name: string, chatTemplates: readonly (string | null)[]) {
  const runtime = await openRuntime({ forceCpu: true, threads: 1, log: () => {} });
  const model = await runtime.loadModel(path);
  const shape = readShape(await readGguf(path, { skip: (key) => key.endsWith("merges") }));
  const entry = resolveModel(await readManifest(MANIFEST_PATH), name);
  return {
    model,
    prompts: chatTemplates.map(
      (chatTemplate) => new PromptBuilder(model, { ...entry, chatTemplate }, shape),
    ),
    table: await loadTokenTable(path),
  };
}

/** A chat with `text` in every place that a request has. */
function chatWith(text: string, tools: boolean) {
  const turns: ChatTurn[] = [
    { role: "system", content: `rules ${text} end` },
    { role: "user", content: `${text}hello${text}`, name: `n${text}` },
    { role: "assistant", content: `yes ${text}` },
    { role: "user", content: text },
  ];
  const call = { id: `c${text}`, name: `f${text}`, arguments: JSON.stringify({ [text]: text }) };
  const toolTurns: ChatTurn[] = [
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", content: `got ${text}`, toolCallId: `c${text}` },
    { role: "user", content: `${text}\n` },
  ];
  const tool: ToolDefinition = {
    name: `f${text}`,
    description: `does ${text}`,
    parameters: {
      type: "object",
      description: text,
      properties: { [`k${text}`]: { type: "string", enum: [text, "b"], description: text } },
      required: [`k${text}`],
    },
  };
  return request("", {
    messages: tools ? [...turns, ...toolTurns] : turns,
    tools: tools ? [tool] : [],
    schema: {
      type: "object",
      title: text,
      properties: { [`p${text}`]: { enum: [text, 1], description: text } },
      required: [`p${text}`],
    },
  });
}

function isSpecial(model: Model, token: number): boolean {
  const { control } = model.tokenAttributes(token);
  return control || model.isEndOfGeneration(token);
}

/** The prompt's text without its control tokens, as bytes that read as UTF-8. */
function plainText(tokens: readonly number[], model: Model, table: TokenTable): string {
  const bytes = tokens.flatMap((token) =>
    isSpecial(model, token) ? [] : [...table.tokenBytes(token)],
  );
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

interface Opened {
  readonly model: Model;
  readonly prompts: PromptBuilder;
  readonly table: TokenTable;
  readonly tools: boolean;
  readonly spaced: boolean;
}

function expectNoControlTokens(opened: Opened, spelled: string): void {
  const { model, prompts, table, tools } = opened;
  const specialsOf = (text: string) =>
    prompts.build(chatWith(text, tools)).tokens.filter((token) => isSpecial(model, token));
  expect(specialsOf("benign").length).toBeGreaterThan(0);
  expect(specialsOf(spelled)).toEqual(specialsOf("benign"));
  const text = plainText(prompts.build(chatWith(spelled, tools)).tokens, model, table);
  const squeeze = (each: string) => (opened.spaced ? each.replaceAll(" ", "") : each);
  expect(squeeze(text)).toContain(squeeze(`${spelled}hello${spelled}`));
}

describe.skipIf(!vocabulariesAvailable)("spelled control tokens stay text", () => {
  for (const { vocabulary, templates, spelled, spaced = false, slow = false } of cases) {
    test.skipIf(slow && process.env["SLOW"] !== "1")(
      `over ${vocabulary}, with ${templates.length} templates`,
      async () => {
        const small = { width: 32, layers: 1, heads: 2, kvHeads: 1, feedForward: 32 };
        const path = await randomModelPath({ ...SMALL, ...small, vocabulary });
        const sources = templates.map(({ name }) => templateText(name));
        const { model, prompts, table } = await open(path, path, sources);
        // The vocabulary does know each as one token that steers the model.
        for (const text of spelled) expect(model.tokenize(text, true)).toHaveLength(1);
        // And halves that the template's own text, or a neighbour, could complete.
        const [first = ""] = spelled;
        const halves = [first.slice(0, -1), `${first.slice(0, 2)}${first}${first.slice(2)}`];
        for (const [index, { tools }] of templates.entries()) {
          const builder = prompts[index];
          if (builder === undefined) throw new Error("each template has its builder");
          const opened = { model, prompts: builder, table, tools, spaced };
          for (const text of [...spelled, ...halves]) expectNoControlTokens(opened, text);
        }
        await model.dispose();
      },
      60_000,
    );
  }
});

test("the embedded model's own control tokens stay text too", async () => {
  const { path } = resolveModel(await readManifest(MANIFEST_PATH), "svc-tiny");
  const { model, prompts, table } = await open(path, "svc-tiny", [null]);
  const [builder] = prompts;
  if (builder === undefined) throw new Error("the model has a template");
  const opened = { model, prompts: builder, table, tools: false, spaced: false };
  for (const text of ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]) {
    expectNoControlTokens(opened, text);
  }
  await model.dispose();
});
