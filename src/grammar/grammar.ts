/** Whatever an answer can be locked to. */
import type { SchemaGrammar } from "./compile.ts";
import type { CfgGrammar } from "./gbnf-compile.ts";
import type { ToolCallGrammar } from "./tool-call.ts";

export type Grammar = SchemaGrammar | ToolCallGrammar | CfgGrammar;
