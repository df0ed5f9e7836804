/** A model's way from chats to tokens. */
import type { Model } from "./addon.ts";
import { ModelError } from "./errors.ts";
import type { ModelEntry } from "./manifest.ts";
import { type ControlToken, ControlTokens, tokenizePrompt } from "./prompt.ts";
import { endsThinking, findReasoning, type Reasoning } from "./reasoning.ts";
import type { CompletionRequest } from "./request.ts";
import { placeSchema } from "./schema-prompt.ts";
import type { ModelShape } from "./shape.ts";
import { ChatTemplate } from "./template.ts";

export class PromptBuilder {
  readonly #model: Model;
  readonly #entry: ModelEntry;
  readonly #control: ControlTokens;
  readonly #template: ChatTemplate;
  readonly reasoning: Reasoning | null;

  /** @throws ModelError `no_chat_template`, `invalid_chat_template`. */
  constructor(model: Model, entry: ModelEntry, shape: ModelShape) {
    const source = entry.chatTemplate ?? shape.chatTemplate;
    if (source === null) {
      throw new ModelError(
        `${entry.path} has no chat template; name one for it in models/manifest.json, as the ` +
          "entry's chatTemplate",
        { code: "no_chat_template" },
      );
    }
    this.#model = model;
    this.#entry = entry;
    this.#control = new ControlTokens(controlTokens(model, shape.vocabularySize, source));
    this.#template = new ChatTemplate({
      source,
      beginText: textOf(model, model.beginToken),
      endText: textOf(model, model.endToken),
      control: this.#control.pattern,
    });
    this.#tryTemplate();
    this.reasoning = findReasoning(source, (text) => model.tokenize(text, true));
  }

  /** What the template engine cannot run must not wait for the first request. */
  #tryTemplate(): void {
    try {
      this.#template.render([{ role: "user", content: "Hello" }], []);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : "";
      throw new ModelError(`${this.#entry.path}: ${reason}`, {
        code: "invalid_chat_template",
        cause,
      });
    }
  }

  /** @throws EngineError `template_refused`. */
  build(request: CompletionRequest): {
    readonly tokens: readonly number[];
    readonly startsThinking: boolean;
  } {
    const { schemaPrompt } = this.#entry;
    const turns =
      request.schema !== null && request.schema !== undefined && request.schemaInPrompt
        ? placeSchema(request.messages, request.schema, schemaPrompt)
        : request.messages;
    const spans = this.#template.render(turns, request.tools);
    const ending = spans.at(-1)?.foreign === false ? (spans.at(-1)?.text ?? "") : "";
    return {
      tokens: tokenizePrompt(this.#model, this.#control, spans),
      startsThinking: this.reasoning !== null && endsThinking(ending, this.reasoning),
    };
  }
}

const textOf = (model: Model, token: number | null): string =>
  token === null ? "" : model.tokenText(token);

/** Tokens that text must not be able to spell. */
function controlTokens(model: Model, vocabularySize: number, template: string): ControlToken[] {
  const tokens: ControlToken[] = [];
  for (let id = 0; id < vocabularySize; id++) {
    const attributes = model.tokenAttributes(id);
    if (!attributes.control && !attributes.userDefined) continue;
    const text = model.tokenText(id);
    // Tokens that files declare as text of their own are markers where the template uses them, or
    // where they look like one; the rest is HTML, white space and the like.
    const isMarker = /^<\|.+\|>$/.test(text) || (text.trim() !== "" && template.includes(text));
    if (attributes.control || model.isEndOfGeneration(id) || isMarker) {
      tokens.push({ id, text, ...attributes });
    }
  }
  return tokens;
}
