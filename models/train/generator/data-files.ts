/** Reads the generator's data: plain text files in `../data`, described in `../README.md`. */
import { readFileSync } from "node:fs";
import { type CaseData, isHeldOut, isJudged, isMarked, readCases } from "./case-data.ts";
import { type LabelPools, labelPools } from "./label-pools.ts";
import { readVectors } from "./vectors.ts";

export type WordLists = ReadonlyMap<string, readonly string[]>;

/** A field that templates can mention: `{name}`. */
export interface FieldDefinition {
  readonly name: string;
  /** What `Values.draw` takes. */
  readonly kind: string;
  /** Property names that ask for it. */
  readonly properties: readonly string[];
  readonly descriptions: readonly string[];
}

/** A field whose text and value differ: a class, or a boolean with the labels true and false. */
export interface ChoiceDefinition {
  readonly name: string;
  readonly properties: readonly string[];
  readonly descriptions: readonly string[];
  readonly labels: readonly ChoiceLabel[];
  /** All phrases are sentences of their own; those of other choices are parts of one. */
  readonly isSaidInSentences: boolean;
}

export interface ChoiceLabel {
  /** Names of the label, the first one its own. */
  readonly names: readonly string[];
  /** Templates that say it. */
  readonly phrases: readonly string[];
}

/** A list that templates can mention: `{rows:name}`. */
export interface ListDefinition {
  readonly name: string;
  readonly properties: readonly string[];
  readonly descriptions: readonly string[];
  /** Templates of one row; in a table all rows have the same. */
  readonly rows: readonly string[];
  /** Clauses that tell one item each, every one in its own words and with its own slots. */
  readonly told: readonly string[];
  /** What can stand before told items. */
  readonly leadIns: readonly string[];
}

export interface ToolTemplate {
  readonly tool: ToolData;
  readonly requests: readonly string[];
}

export interface ToolData {
  readonly names: readonly string[];
  readonly descriptions: readonly string[];
  /** Argument name and the field or choice that it holds. */
  readonly arguments: readonly (readonly [readonly string[], string])[];
}

/** Facts that snippets state and questions ask for. */
export interface FactData {
  readonly titles: readonly string[];
  readonly statements: readonly string[];
  readonly questions: readonly string[];
}

/** A few sentences that belong together, and what can be asked about them. */
export interface PassageData {
  readonly titles: readonly string[];
  /** Templates; `[14](n)` is a value that is another each time (`MARK_KINDS` of case-data.ts). */
  readonly sentences: readonly string[];
  readonly questions: readonly { readonly sentence: number; readonly text: string }[];
  /** Questions that it does not answer. */
  readonly unanswered: readonly string[];
}

/** What things can be measured in. */
export interface UnitData {
  /** As names of properties have it. */
  readonly names: readonly string[];
  /** What texts write behind the number, a space in front unless it stands close. */
  readonly marks: readonly string[];
  readonly low: number;
  readonly high: number;
  readonly decimals: number;
  readonly things: readonly string[];
}

/** What is counted, and what can be said of some of it; with `+` in front behind the noun. */
export interface CountedData {
  readonly noun: string;
  readonly states: readonly string[];
}

/** What a text can be about. */
export interface SubjectData {
  readonly names: readonly string[];
  readonly words: readonly string[];
}

/** Words of one kind, with texts that mean them. */
export interface GlossGroup {
  /** That ask for words of the kind. */
  readonly properties: readonly string[];
  readonly glosses: readonly { readonly names: readonly string[]; readonly text: string }[];
}

/** A label with words that stand for it; those of one group exclude each other. */
export interface LexiconEntry extends SubjectData {
  readonly group: string;
  readonly properties: readonly string[];
}

/** What a message can be about or for; those of one group are told apart. */
export interface MessageData {
  readonly group: string;
  readonly marks: MessageMarks;
  readonly properties: readonly string[];
  readonly names: readonly string[];
  /** Templates of the message. */
  readonly texts: readonly string[];
}

/** What the head of a group says of it. */
export interface MessageMarks {
  /** Asked for most often. */
  readonly isUsual: boolean;
  /** Its texts tell a story, of which one thing decides. */
  readonly isLong: boolean;
  /** Labels of other open groups can stand beside its own: none of them is right for its texts too. */
  readonly isOpen: boolean;
  /** A document can be given a sentence of it and be asked for the label. */
  readonly isGiven: boolean;
}

/** Texts that the same things are asked about. */
export interface JudgedGroup {
  readonly name: string;
  readonly aspects: readonly Aspect[];
  /** With the first name of a label for each aspect, or null where the text says nothing of it. */
  readonly texts: readonly { readonly labels: readonly (string | null)[]; readonly text: string }[];
}

export interface Aspect {
  readonly properties: readonly string[];
  readonly labels: readonly { readonly names: readonly string[] }[];
}

export interface GeneratorData {
  readonly words: WordLists;
  readonly fields: ReadonlyMap<string, FieldDefinition>;
  /** Words for the part that somebody plays: `{name@sender}`. */
  readonly parts: ReadonlyMap<string, readonly string[]>;
  readonly choices: ReadonlyMap<string, ChoiceDefinition>;
  readonly lists: ReadonlyMap<string, ListDefinition>;
  /** Templates by domain. */
  readonly templates: ReadonlyMap<string, readonly string[]>;
  /** Whole texts by kind, as templates are written. */
  readonly documents: ReadonlyMap<string, readonly string[]>;
  /** Ways to say one field or list, `{}` being the value. */
  readonly clauses: ReadonlyMap<string, readonly string[]>;
  readonly phrases: ReadonlyMap<string, readonly string[]>;
  readonly subjects: readonly SubjectData[];
  readonly messages: readonly MessageData[];
  readonly judged: readonly JudgedGroup[];
  /** Of cases: other labels that say the same, by the label; all `inWords`. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
  /** Those to extract from, and those to classify; some are both. */
  readonly markedCases: readonly CaseData[];
  readonly judgedCases: readonly CaseData[];
  readonly labelPools: LabelPools;
  readonly lexicon: readonly LexiconEntry[];
  readonly glosses: readonly GlossGroup[];
  readonly units: readonly UnitData[];
  readonly counted: readonly CountedData[];
  readonly tools: readonly ToolTemplate[];
  readonly facts: readonly FactData[];
  readonly passages: readonly PassageData[];
  /** `%` stands for the name of what is asked for. */
  readonly questions: readonly string[];
  /** What is said, and what is answered. */
  readonly chat: readonly (readonly [readonly string[], readonly string[]])[];
}

const FOLDER = new URL("../data/", import.meta.url).pathname;

let known: GeneratorData | null = null;

/** Read once: it takes seconds. */
export function readGeneratorData(): GeneratorData {
  known ??= readFiles();
  return known;
}

function readFiles(): GeneratorData {
  const lexicon = sections("lexicon.txt").flatMap(readLexicon);
  const anything = lexicon.flatMap(({ group, words }) => (group === "thing" ? words : []));
  const messages = sections("messages.txt").flatMap(readMessages);
  const cases = readCases().filter((one) => !isHeldOut(one));
  const measures = new Map(sections("measures.txt").map(({ head, lines }) => [head, lines]));
  return {
    words: new Map([
      ...readWords(),
      ["anything", anything],
      ["english", readVectors().words],
      ["said", messages.flatMap(sayings)],
    ]),
    fields: readFields(),
    parts: new Map(
      sections("parts.txt").map(({ head, lines }) => [head, lines.join(" ").split(" ")]),
    ),
    choices: new Map(sections("choices.txt").map((s) => [firstWord(s.head), readChoice(s)])),
    lists: readLists(),
    templates: new Map(sections("templates.txt").map(({ head, lines }) => [head, lines])),
    documents: new Map(sections("documents.txt").map(({ head, lines }) => [head, lines])),
    phrases: new Map(sections("phrases.txt").map(({ head, lines }) => [head, lines])),
    clauses: new Map(readLines("clauses.txt").map(readClauses)),
    subjects: readLines("topics.txt").map(readSubject),
    messages,
    judged: sections("judged.txt").map(readJudged),
    labels: readLabels(),
    markedCases: cases.filter(isMarked),
    judgedCases: cases.filter(isJudged),
    labelPools: labelPools(cases),
    lexicon,
    glosses: sections("glosses.txt").map(readGlosses),
    units: (measures.get("units") ?? []).map(readUnit),
    counted: (measures.get("counts") ?? []).map(readCounted),
    tools: sections("tools.txt").map(readTool),
    facts: sections("facts.txt").map(readFact),
    passages: readPassages(),
    questions: readLines("questions.txt"),
    chat: sections("chat.txt").map(({ lines }) => [tagged(lines, "> "), tagged(lines, "< ")]),
  };
}

interface Section {
  /** The line after `@`. */
  readonly head: string;
  readonly lines: readonly string[];
}

function readLines(file: string): string[] {
  const lines = readFileSync(FOLDER + file, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

/** Sections of one name are joined, so that related lines can stand where they are readable. */
function sections(file: string): Section[] {
  const found = new Map<string, string[]>();
  let lines: string[] | undefined;
  for (const line of readLines(file)) {
    if (line.startsWith("@")) {
      const head = line.slice(1).trim();
      lines = found.get(head) ?? [];
      found.set(head, lines);
    } else if (lines === undefined) throw new Error(`${file}: a line before the first @: ${line}`);
    else lines.push(line.trimEnd());
  }
  return [...found].map(([head, all]) => ({ head, lines: all }));
}

function readWords(): WordLists {
  const lists = [...sections("words.txt"), ...sections("names.txt")].map(({ head, lines }) => {
    const words = lines
      .join(" ")
      .split(",")
      .map((word) => word.trim());
    return [head, words.filter((word) => word !== "")] as const;
  });
  return new Map(lists);
}

function readFields(): ReadonlyMap<string, FieldDefinition> {
  const fields = readLines("fields.txt").map((line) => {
    const { name, rest, properties, descriptions } = readHead(line);
    if (rest === "") throw new Error(`fields.txt: ${name} has no kind`);
    return [name, { name, kind: rest, properties, descriptions }] as const;
  });
  return new Map(fields);
}

/** `name rest : property property | description; description` */
function readHead(line: string): {
  readonly name: string;
  readonly rest: string;
  readonly properties: readonly string[];
  readonly descriptions: readonly string[];
} {
  const [left = "", right = ""] = cut(line, " : ");
  const [name = "", ...rest] = left.trim().split(" ");
  const [names = "", described = ""] = cut(right, "|");
  return {
    name,
    rest: rest.join(" "),
    properties: names
      .trim()
      .split(/\s+/)
      .filter((word) => word !== ""),
    descriptions: described
      .split(";")
      .map((text) => text.trim())
      .filter((text) => text !== ""),
  };
}

function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

const firstWord = (text: string): string => text.split(" ")[0] ?? "";

const isSentence = (text: string): boolean => /^[A-Z("'].*[.!?]["')]?$/.test(text);

/** Labels start at the margin and end with ` :`; their phrases are indented. */
function readChoice({ head, lines }: Section): ChoiceDefinition {
  const { name, properties, descriptions } = readHead(head);
  const labels: { names: readonly string[]; phrases: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith(" ")) labels.at(-1)?.phrases.push(line.trim());
    else {
      const [names, inline] = cut(`${line} `, " : ");
      const phrases = inline.split(";").map((text) => text.trim());
      labels.push({
        names: names
          .replace(/ :\s*$/, "")
          .trim()
          .split(/\s+/),
        phrases: phrases.filter((text) => text !== ""),
      });
    }
  }
  const isSaidInSentences = labels.every(({ phrases }) => phrases.every(isSentence));
  return { name, properties, descriptions, labels, isSaidInSentences };
}

/** `told.txt` has what people say of the items of a list, `> ` lead-ins among it. */
function readLists(): ReadonlyMap<string, ListDefinition> {
  const told = new Map(sections("told.txt").map(({ head, lines }) => [head, lines]));
  const lists = sections("lists.txt").map(({ head, lines }) => {
    const { name, properties, descriptions } = readHead(head);
    const said = told.get(name) ?? [];
    const list: ListDefinition = {
      ...{ name, properties, descriptions, rows: lines },
      told: said.filter((line) => !line.startsWith("> ")),
      leadIns: tagged(said, "> "),
    };
    told.delete(name);
    return [name, list] as const;
  });
  for (const name of told.keys()) throw new Error(`told.txt: no such list: ${name}`);
  return new Map(lists);
}

function readClauses(line: string): [string, readonly string[]] {
  const [slot, clauses] = cut(line, " : ");
  return [slot, clauses.split(" | ").map((clause) => clause.trim())];
}

function readSubject(line: string): SubjectData {
  const [names, words] = cut(line, " : ");
  return { names: names.split(" "), words: commaList(words) };
}

function readGlosses({ head, lines }: Section): GlossGroup {
  const glosses = lines.map((line) => {
    const [names, text] = cut(line, " : ");
    return { names: names.split(" "), text };
  });
  return { properties: head.split(" "), glosses };
}

function readLabels(): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const line of readLines("labels.txt")) {
    const [label, others] = cut(line, " = ");
    if (found.has(label)) throw new Error(`labels.txt: ${label} is there twice`);
    found.set(label, commaList(others));
  }
  return found;
}

function readUnit(line: string): UnitData {
  const [names = "", marks = "", range = "", things = ""] = line.split(" : ");
  const [, low = "", high = "", decimals = ""] = /^(-?\d+)\.\.(\d+) (\d)$/.exec(range) ?? [];
  if (decimals === "") throw new Error(`measures.txt: no range: ${line}`);
  return {
    names: names.split(" "),
    marks: commaList(marks).map((mark) => (mark.startsWith("_") ? mark.slice(1) : ` ${mark}`)),
    ...{ low: Number(low), high: Number(high), decimals: Number(decimals) },
    things: commaList(things),
  };
}

function readCounted(line: string): CountedData {
  const [noun, states] = cut(line, " : ");
  return { noun, states: commaList(states) };
}

const commaList = (text: string): string[] => text.split(",").map((one) => one.trim());

function readMessages({ head, lines }: Section): MessageData[] {
  const { name: group, rest, properties } = readHead(head);
  const words = rest.split(" ");
  const marks = {
    isUsual: words.includes("usual"),
    isLong: words.includes("long"),
    isOpen: words.includes("open"),
    isGiven: words.includes("given"),
  };
  return lines.map((line) => {
    const [names, texts] = cut(line, " : ");
    const all = texts.split(";").map((one) => one.trim());
    return { group, marks, properties, names: names.split(" "), texts: all };
  });
}

/** `= property property : label synonym | label`, then `label, label : text`. */
function readJudged({ head, lines }: Section): JudgedGroup {
  const aspects = tagged(lines, "= ").map((line): Aspect => {
    const [properties, labels] = cut(line, " : ");
    return {
      properties: properties.trim().split(/\s+/),
      labels: labels.split(" | ").map((names) => ({ names: names.trim().split(/\s+/) })),
    };
  });
  // Sections of one name are joined, which would give these texts the aspects of others.
  if (lines.findLastIndex((line) => line.startsWith("= ")) >= aspects.length) {
    throw new Error(`judged.txt: two groups are called ${head}`);
  }
  const texts = lines.flatMap((line) => {
    if (line.startsWith("= ")) return [];
    const [labels, text] = cut(line, " : ");
    const said = labels.split(",").map((label) => (label.trim() === "-" ? null : label.trim()));
    return [{ labels: said, text: text.trim() }];
  });
  return { name: head, aspects, texts };
}

/** Texts of a message that are short and have nothing to fill: what a note or a reason can say. */
const sayings = ({ texts }: MessageData): string[] =>
  texts.filter((text) => !/[(){}|]/.test(text) && text.length < 48 && text.includes(" "));

/** `@group property property`, then `name name : word word`. */
function readLexicon({ head, lines }: Section): LexiconEntry[] {
  const [group = "", ...properties] = head.split(" ");
  return lines.map((line) => {
    const [names, words] = cut(line, " : ");
    return { group, properties, names: names.split(" "), words: words.split(" ") };
  });
}

const tagged = (lines: readonly string[], tag: string): string[] =>
  lines.filter((line) => line.startsWith(tag)).map((line) => line.slice(tag.length).trim());

/** Head: the tool's names; `: ` descriptions, `= ` arguments as `name/synonym field`, `> ` requests. */
function readTool({ head, lines }: Section): ToolTemplate {
  const tool: ToolData = {
    names: head.split(" "),
    descriptions: tagged(lines, ": "),
    arguments: tagged(lines, "= ").map((line) => {
      const [names = "", field = ""] = line.split(" ");
      return [names.split("/"), field] as const;
    }),
  };
  return { tool, requests: tagged(lines, "> ") };
}

function readPassages(): PassageData[] {
  const blocks = readLines("passages.txt")
    .join("\n")
    .split(/\n(?== )/);
  return blocks.map((block) => readPassage(block.split("\n")));
}

/** `= ` titles; `. ` sentences, `? 2 ` questions that the second of them answers, `- ` questions that none does. */
function readPassage(lines: readonly string[]): PassageData {
  const sentences = tagged(lines, ". ");
  const questions = tagged(lines, "? ").map((line) => {
    const [number, text] = cut(line, " ");
    return { sentence: Number(number) - 1, text: text.trim() };
  });
  if (
    questions.length === 0 ||
    questions.some(({ sentence }) => sentences[sentence] === undefined)
  ) {
    throw new Error(`passages.txt: a question without its sentence: ${lines[0]}`);
  }
  return {
    titles: tagged(lines, "= ").flatMap((line) => line.split("|").map((title) => title.trim())),
    sentences,
    questions,
    unanswered: tagged(lines, "- "),
  };
}

/** `# ` is a comment, so titles are `= `, statements `. `, questions `? `. */
function readFact({ lines }: Section): FactData {
  return {
    titles: tagged(lines, "= "),
    statements: tagged(lines, ". "),
    questions: tagged(lines, "? "),
  };
}
