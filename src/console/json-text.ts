/** Places in JSON texts as people write them: where one goes wrong, and where a pointer leads. */
import {
  findNodeAtLocation,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

export interface TextPlace {
  /** Both count from 1; a column is a UTF-16 unit, as editors count. */
  readonly line: number;
  readonly column: number;
}

/** @returns the first thing that is not JSON; null where the text is JSON. */
export function findJsonError(
  text: string,
): (TextPlace & { readonly offset: number; readonly problem: string }) | null {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true, allowEmptyContent: false });
  const [first] = errors;
  if (first === undefined) return null;
  // "CommaExpected" reads as "comma expected".
  const words = printParseErrorCode(first.error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
  const { offset } = first;
  return { ...placeAt(text, offset), offset, problem: words.toLowerCase() };
}

/** Where the value that a JSON Pointer names begins; its nearest ancestor where there is none. */
export function placeOfPointer(text: string, pointer: string): TextPlace | null {
  const root = parseTree(text);
  if (root === undefined) return null;
  const tokens = pointer.split("/").slice(1).map(unescapePointer);
  for (let length = tokens.length; length >= 0; length--) {
    const path = tokens.slice(0, length);
    const node = findNodeAtLocation(root, path) ?? findNodeAtLocation(root, path.map(asIndex));
    // A member's own line is where its key stands.
    if (node !== undefined) return placeAt(text, keyOffset(node) ?? node.offset);
  }
  return null;
}

function keyOffset(node: { readonly parent?: { type: string; offset: number } }): number | null {
  return node.parent?.type === "property" ? node.parent.offset : null;
}

function unescapePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

function asIndex(token: string): string | number {
  return /^(0|[1-9]\d*)$/.test(token) ? Number(token) : token;
}

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  return {
    line: before.split("\n").length,
    column: offset - (before.lastIndexOf("\n") + 1) + 1,
  };
}
