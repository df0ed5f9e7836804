/** The lock of one answer, as an engine asks for it: with the token table that it was given. */
import { assert } from "../bytes/assert.ts";
import type { Grammar } from "../grammar/grammar.ts";
import { Matcher } from "./matcher.ts";
import { Vocabulary } from "./vocabulary.ts";

/** @param table the vocabulary that `loadVocabulary` gave the engine. */
export function lockOf(grammar: Grammar, table: object): Matcher {
  assert(table instanceof Vocabulary, "the engine's token table is the vocabulary");
  return new Matcher(grammar, table);
}
