/** A chat as the engine takes it. */

export interface ChatTurn {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly name?: string;
  /** Of an assistant's turn; `arguments` is JSON text. */
  readonly toolCalls?: readonly ToolCall[];
  /** Of a tool's turn. */
  readonly toolCallId?: string;
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string | null;
  /** A JSON Schema. */
  readonly parameters: unknown;
}
