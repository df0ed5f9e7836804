/**
 * Models that think before they answer, between two tokens. A model counts as one when its
 * vocabulary has the pair as single tokens and its chat template speaks of them.
 */
import type { ReasoningTokens } from "./generation.ts";

const PAIRS = [
  ["<think>", "</think>"],
  ["[THINK]", "[/THINK]"],
  ["<seed:think>", "</seed:think>"],
] as const;

export interface Reasoning extends ReasoningTokens {
  readonly startText: string;
}

export function findReasoning(
  template: string,
  tokenize: (text: string) => readonly number[],
): Reasoning | null {
  for (const [startText, endText] of PAIRS) {
    if (!template.includes(endText)) continue;
    const [start, ...moreStart] = tokenize(startText);
    const [end, ...moreEnd] = tokenize(endText);
    if (start === undefined || end === undefined) continue;
    if (moreStart.length === 0 && moreEnd.length === 0) return { start, end, startText };
  }
  return null;
}

/** Whether a prompt ends inside the thoughts: the template has opened them already. */
export function endsThinking(promptText: string, reasoning: Reasoning): boolean {
  return promptText.trimEnd().endsWith(reasoning.startText);
}
