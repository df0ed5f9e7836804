/** Input of `cite-check`, version 1. */
import Type, { type Static } from "typebox";
import { closed, DATE, TEXT } from "../schema-parts.ts";

export const CITATION_INPUT = closed({
  schema: Type.Optional(Type.Literal("cite-check/1")),
  text: Type.String({ maxLength: 4_194_304 }),
  /** The day on which the text is checked: no decision is younger. */
  as_of: DATE,
  /** Cases that somebody has looked up, with what is at their citation. */
  authorities: Type.Optional(
    Type.Array(
      closed({
        cite: Type.String({ minLength: 3, maxLength: 100 }),
        name: TEXT,
        year: Type.Integer({ minimum: 1600, maximum: 2200 }),
        court: Type.Optional(TEXT),
      }),
      { maxItems: 50_000 },
    ),
  ),
});

export type CitationInput = Static<typeof CITATION_INPUT>;
