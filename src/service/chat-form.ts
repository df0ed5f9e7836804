/** How a chat's answer is written: as OpenAI's chat completions, or as its responses. */
import type { ApiError } from "./api-error.ts";
import type { Choice, ChoiceEnd, ChoiceEvent } from "./chat-choice.ts";
import { type ChatFacts, completionBody } from "./chat-response.ts";
import { type ChatPiece, type Chunk, chatPieces, type StreamHead } from "./chat-stream.ts";

export interface ChatForm {
  /** Of a whole answer, as JSON. */
  body(facts: ChatFacts, choices: readonly Choice[]): object;
  /** @param factsOf what is said of the answers once all have ended. */
  pieces(
    head: StreamHead,
    choices: readonly AsyncIterable<ChoiceEvent>[],
    factsOf: (ends: readonly ChoiceEnd[]) => ChatFacts,
  ): AsyncGenerator<ChatPiece, void>;
  /** A failure in the middle of a stream; null where it is an error body like any other. */
  errorChunk(error: ApiError): Chunk | null;
}

export const CHAT_COMPLETIONS: ChatForm = {
  body: completionBody,
  pieces: chatPieces,
  errorChunk: () => null,
};
