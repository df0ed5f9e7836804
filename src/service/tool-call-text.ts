/**
 * Reads a tool call from the text that its lock allows, exactly
 * `{"name":"NAME","arguments":{…}}`, while it is being written; or finds that it is plain text.
 */

export type ToolCallEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly name: string }
  | { readonly kind: "arguments"; readonly text: string };

/** Names need no escapes, so this is the only spelling. */
const CALL = /^\{"name":"([A-Za-z0-9_-]+)","arguments":/;

export class ToolCallText {
  #state: "undecided" | "text" | "name" | "arguments" = "undecided";
  /** Not given out: the call's frame, or a last character that may be its closing brace. */
  #held = "";

  get isCall(): boolean {
    return this.#state === "arguments";
  }

  push(text: string): ToolCallEvent[] {
    if (text === "") return [];
    if (this.#state === "undecided") this.#state = text.startsWith("{") ? "name" : "text";
    if (this.#state === "text") return [{ kind: "text", text }];
    this.#held += text;
    const events: ToolCallEvent[] = [];
    if (this.#state === "name") {
      const match = CALL.exec(this.#held);
      if (match === null) return [];
      this.#state = "arguments";
      this.#held = this.#held.slice(match[0].length);
      events.push({ kind: "call", name: match[1] ?? "" });
    }
    // The last character of all closes the frame.
    const given = this.#held.slice(0, -1);
    this.#held = this.#held.slice(-1);
    if (given !== "") events.push({ kind: "arguments", text: given });
    return events;
  }
}
