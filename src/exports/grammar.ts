/** The package's `./grammar`: schemas and GBNF compiled, without a server. */
export { compileSchema } from "../grammar/compile.ts";
export { compileGbnf } from "../grammar/gbnf-compile.ts";
export { GbnfError } from "../grammar/gbnf-error.ts";
export type { Grammar } from "../grammar/grammar.ts";
export { Languages } from "../grammar/languages.ts";
export { SchemaError } from "../schema/schema-error.ts";
