/**
 * A model's chat template: Jinja, as it stands in the GGUF. Rendering depends on nothing but its
 * input: where a template asks for the time of day it gets a fixed one, or the same chat would be
 * another prompt tomorrow.
 */
import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";
import type { ChatTurn, ToolDefinition } from "./chat.ts";
import { EngineError, ModelError } from "./errors.ts";
import { chooseMarks, mark, readMarks, type Span } from "./marks.ts";

/** What Meta's templates themselves fall back to (Llama 3.1, 3.2). */
const FIXED_DATE = new Date("2024-07-26T00:00:00Z");

export interface ChatTemplateOptions {
  /** Jinja. */
  readonly source: string;
  /** Texts of the begin and end tokens; templates print them. */
  readonly beginText: string;
  readonly endText: string;
  /** Matches the text of every control token, with flag `g`. */
  readonly control: RegExp;
}

/** @throws ModelError `invalid_chat_template` for what is not Jinja. */
export function assertTemplate(source: string): void {
  parsed(source);
}

function parsed(source: string): ReturnType<typeof parse> {
  try {
    // The options that Transformers renders chat templates with.
    return parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
  } catch (cause) {
    throw new ModelError(`the chat template does not parse: ${message(cause)}`, {
      code: "invalid_chat_template",
      cause,
    });
  }
}

export class ChatTemplate {
  readonly #program: ReturnType<typeof parse>;
  readonly #options: ChatTemplateOptions;

  /** @throws ModelError `invalid_chat_template` for what is not Jinja. */
  constructor(options: ChatTemplateOptions) {
    this.#options = options;
    this.#program = parsed(options.source);
  }

  /**
   * The prompt that asks for the next assistant's turn.
   * @throws EngineError `template_refused` where the template has no place for such a chat.
   */
  render(turns: readonly ChatTurn[], tools: readonly ToolDefinition[]): Span[] {
    const { source, control } = this.#options;
    const marks = chooseMarks([source, JSON.stringify([turns, tools])]);
    const foreign = (text: string) => mark(text, marks, control);
    try {
      return readMarks(this.#run(turns, tools, foreign), marks);
    } catch (error) {
      // Some templates (Gemma) know no system role; its text then opens the first user's turn.
      const merged = error instanceof Refusal ? withoutSystem(turns) : null;
      if (merged === null) throw refused(error);
      try {
        return readMarks(this.#run(merged, tools, foreign), marks);
      } catch (second) {
        throw refused(second);
      }
    }
  }

  #run(
    turns: readonly ChatTurn[],
    tools: readonly ToolDefinition[],
    foreign: (text: string) => string,
  ): string {
    const environment = new Environment();
    const variables = {
      ...GLOBALS,
      messages: turns.map((turn) => templateTurn(turn, foreign)),
      tools: tools.length === 0 ? null : tools.map((tool) => templateTool(tool, foreign)),
      add_generation_prompt: true,
      bos_token: this.#options.beginText,
      eos_token: this.#options.endText,
    };
    for (const [name, value] of Object.entries(variables)) environment.set(name, value);
    const result: unknown = new Interpreter(environment).run(this.#program).value;
    if (typeof result !== "string") throw new Refusal("the template gives no text");
    return result;
  }
}

/** The template called `raise_exception`. */
class Refusal extends Error {}

/** What every template may use. The library's own set asks the clock, so it is not taken over. */
const GLOBALS = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  range: (start: number, stop?: number, step = 1): number[] => {
    const [first, end] = stop === undefined ? [0, start] : [start, stop];
    const length = Math.max(0, Math.ceil((end - first) / step));
    return Array.from({ length }, (_, index) => first + index * step);
  },
  raise_exception: (text: unknown) => {
    throw new Refusal(String(text));
  },
  strftime_now: formatFixedDate,
};

function refused(cause: unknown): EngineError {
  return new EngineError(`the model's chat template refuses this chat: ${message(cause)}`, {
    code: "template_refused",
    cause,
  });
}

const message = (error: unknown): string => (error instanceof Error ? error.message : "");

function withoutSystem(turns: readonly ChatTurn[]): ChatTurn[] | null {
  const [system, first, ...rest] = turns;
  if (system?.role !== "system" || first?.role !== "user") return null;
  return [{ ...first, content: `${system.content}\n\n${first.content}` }, ...rest];
}

type Foreign = (text: string) => string;

function templateTurn(turn: ChatTurn, foreign: Foreign): Record<string, unknown> {
  return {
    role: turn.role,
    content: foreign(turn.content),
    ...(turn.name === undefined ? {} : { name: foreign(turn.name) }),
    ...(turn.toolCallId === undefined ? {} : { tool_call_id: foreign(turn.toolCallId) }),
    ...(turn.toolCalls === undefined || turn.toolCalls.length === 0
      ? {}
      : {
          tool_calls: turn.toolCalls.map((call) => ({
            id: foreign(call.id),
            type: "function",
            function: { name: foreign(call.name), arguments: callArguments(call, foreign) },
          })),
        }),
  };
}

/** Templates print arguments with `tojson`, so they get the object, and text if it is none. */
function callArguments({ arguments: text }: { arguments: string }, foreign: Foreign): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return markJson(value, foreign);
  } catch {
    // What the client sent as an earlier call need not be JSON.
  }
  return foreign(text);
}

function templateTool(tool: ToolDefinition, foreign: Foreign): Record<string, unknown> {
  return {
    type: "function",
    function: {
      name: foreign(tool.name),
      description: foreign(tool.description ?? ""),
      parameters: markJson(tool.parameters, foreign),
    },
  };
}

/** Words of JSON Schema that templates compare with; none of them can be anything else. */
const SCHEMA_WORDS = new Set(
  (
    "type object array string number integer boolean null properties required items description " +
    "enum const title default format additionalProperties anyOf oneOf allOf nullable"
  ).split(" "),
);

function markJson(value: unknown, foreign: Foreign): unknown {
  if (typeof value === "string") return SCHEMA_WORDS.has(value) ? value : foreign(value);
  if (Array.isArray(value)) return value.map((item) => markJson(item, foreign));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      SCHEMA_WORDS.has(key) ? key : foreign(key),
      markJson(member, foreign),
    ]),
  );
}

/** The few fields of strftime that templates use. */
function formatFixedDate(format: string): string {
  const text = (options: Intl.DateTimeFormatOptions) =>
    FIXED_DATE.toLocaleDateString("en-US", { ...options, timeZone: "UTC" });
  const fields: Readonly<Record<string, string>> = {
    "%d": text({ day: "2-digit" }),
    "%m": text({ month: "2-digit" }),
    "%Y": text({ year: "numeric" }),
    "%b": text({ month: "short" }),
    "%B": text({ month: "long" }),
    "%a": text({ weekday: "short" }),
    "%A": text({ weekday: "long" }),
    "%H": "00",
    "%M": "00",
    "%S": "00",
  };
  return format.replace(/%[a-zA-Z]/g, (field) => fields[field] ?? "");
}
