/** Text, Markdown, HTML and PDF files as a title and plain text. */
import { extname } from "node:path";
import { Parser } from "htmlparser2";
import { extractText, getDocumentProxy, getMeta } from "unpdf";

export interface Document {
  readonly title: string;
  readonly text: string;
}

export const DOCUMENT_EXTENSIONS = [
  ".txt",
  ".text",
  ".md",
  ".markdown",
  ".html",
  ".htm",
  ".pdf",
] as const;

/**
 * @param path for its extension and, where the document has no title, its name.
 * @returns null for a kind of file that is not read.
 * @throws Error for a PDF that cannot be parsed.
 */
export async function readDocument(path: string, bytes: Uint8Array): Promise<Document | null> {
  const extension = extname(path).toLowerCase();
  const fallback = path.split("/").at(-1) ?? path;
  if (extension === ".pdf") return readPdf(bytes, fallback);
  if (!(DOCUMENT_EXTENSIONS as readonly string[]).includes(extension)) return null;
  const text = new TextDecoder().decode(bytes);
  if (extension === ".html" || extension === ".htm") return readHtml(text, fallback);
  return { title: headingOf(text) ?? fallback, text: tidied(text) };
}

/** The first heading of a Markdown file; plain text has none. */
function headingOf(text: string): string | null {
  return /^#{1,6}[ \t]+(.+?)[ \t#]*$/m.exec(text)?.[1]?.trim() ?? null;
}

/** What a reader does not see. */
const HIDDEN: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg"]);

/** Elements that end a line. */
const BLOCKS = /^(?:p|div|br|li|tr|h[1-6]|section|article|table|ul|ol|blockquote|pre|title)$/;

function readHtml(html: string, fallback: string): Document {
  let text = "";
  let title = "";
  let hidden = 0;
  let inTitle = false;
  const parser = new Parser({
    onopentagname: (name) => {
      if (HIDDEN.has(name)) hidden += 1;
      if (name === "title") inTitle = true;
      if (BLOCKS.test(name)) text += "\n";
    },
    ontext: (part) => {
      if (inTitle) title += part;
      else if (hidden === 0) text += part;
    },
    onclosetag: (name) => {
      if (HIDDEN.has(name)) hidden = Math.max(0, hidden - 1);
      if (name === "title") inTitle = false;
      if (BLOCKS.test(name)) text += "\n";
    },
  });
  parser.end(html);
  return { title: title.replace(/\s+/g, " ").trim() || fallback, text: tidied(text) };
}

async function readPdf(bytes: Uint8Array, fallback: string): Promise<Document> {
  // The parser keeps the buffer that it is given.
  // Damage that it can repair is not for the terminal (verbosity 0: errors alone).
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  try {
    const { text } = await extractText(pdf, { mergePages: false });
    const { info } = await getMeta(pdf);
    const title: unknown = info["Title"];
    return {
      title: typeof title === "string" && title.trim() !== "" ? title.trim() : fallback,
      text: tidied(text.join("\n\n")),
    };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

/** No runs of space, at most one empty line between paragraphs. */
function tidied(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[ \t\f\v\u00a0]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
