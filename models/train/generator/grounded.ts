/** Answers from numbered snippets: the sentence that says it, word for word, and the snippet's number. */
import { BEGINNING, COPIED, type Piece } from "./answer.ts";
import { MARK_KINDS } from "./case-data.ts";
import type { Conversation } from "./converse.ts";
import type { GeneratorData } from "./data-files.ts";
import { capital, inWords } from "./names.ts";
import type { Filled, Renderer, Scope } from "./render.ts";
import { resampled } from "./resample.ts";

/** A sentence, a question that it answers, and the slots that it fills. */
interface Source {
  readonly title: string;
  readonly sentence: string;
  readonly question: string;
  readonly slots: ReadonlySet<string>;
}

interface Snippet {
  readonly title: string;
  readonly text: string;
  readonly questions: readonly { readonly question: string; readonly sentence: string }[];
  /** Questions about the same that it does not answer. */
  readonly unanswered: readonly string[];
  readonly slots: ReadonlySet<string>;
}

/** Snippets that somebody wrote whole; the others are sentences from anywhere. */
const PASSAGE_SHARE = 0.6;
/** Of sources: written for questions; the others are texts of any kind. */
const FACT_SHARE = 0.45;
const MISSING_SHARE = 0.15;
/** The first name of a field is the plainest. */
const NAMES_MAX = 6;
const LONGEST = 220;
/** Weight in the loss: which snippet it is. */
const CITED = 4;

export function grounded(renderer: Renderer, data: GeneratorData): Conversation {
  const { rng, values } = renderer;
  values.newDocument();
  const count = rng.weighted([
    [1, 1],
    [2, 4],
    [3, 4],
    [4, 2],
  ]);
  const snippets: Snippet[] = [];
  while (snippets.length < count) {
    const isPassage = rng.chance(PASSAGE_SHARE);
    const snippet = isPassage ? ofPassage(renderer, data) : ofSources(renderer, data, snippets);
    if (snippets.every(({ slots }) => slots.isDisjointFrom(snippet.slots))) snippets.push(snippet);
  }
  const system = snippets.map(({ title, text }, i) => `[${i + 1}] ${title}: ${text}`).join("\n");
  const asked = rng.int(0, snippets.length - 1);
  const { questions, unanswered } = snippets[asked] as Snippet;
  if (rng.chance(MISSING_SHARE)) {
    const question =
      unanswered.length > 0 ? rng.pick(unanswered) : drawApart(renderer, data, snippets).question;
    const answer = rng.pick(data.phrases.get("not_found") ?? []);
    return { system, tools: [], user: asTyped(renderer, question), answer: begin(answer) };
  }
  const { question, sentence } = rng.pick(questions);
  const answer: Piece[] = [...begin(sentence), [` [${asked + 1}]`, CITED]];
  return { system, tools: [], user: asTyped(renderer, question), answer };
}

function ofSources(renderer: Renderer, data: GeneratorData, others: readonly Snippet[]): Snippet {
  const length = renderer.rng.weighted([
    [1, 5],
    [2, 3],
    [3, 1],
  ]);
  const sources: Source[] = [];
  while (sources.length < length) {
    sources.push(drawApart(renderer, data, [...others, ...sources]));
  }
  return {
    title: sources[0]?.title ?? "",
    text: sources.map(({ sentence }) => sentence).join(" "),
    questions: sources,
    unanswered: [],
    slots: new Set(sources.flatMap(({ slots }) => [...slots])),
  };
}

/** A value in a passage. */
export const VALUE = /\[([^[\]]+)\]\(([a-z])\)/g;

function ofPassage(renderer: Renderer, data: GeneratorData): Snippet {
  const { rng, values } = renderer;
  const passage = rng.pick(data.passages);
  const known = new Map<string, string>();
  const fill = (template: string): string =>
    renderer.alternatives(template).replace(VALUE, (mark, words: string, letter: string) => {
      const kind = MARK_KINDS[letter as keyof typeof MARK_KINDS];
      const text = known.get(mark) ?? resampled(rng, values, { kind, words, number: null }).text;
      known.set(mark, text);
      return text;
    });
  const sentences = passage.sentences.map(fill);
  return {
    title: fill(rng.pick(passage.titles)),
    text: sentences.join(" "),
    questions: passage.questions.map(({ sentence, text }) => ({
      question: fill(text),
      sentence: sentences[sentence] ?? "",
    })),
    unanswered: passage.unanswered.map(fill),
    slots: new Set(passage.titles),
  };
}

const begin = (text: string): Piece[] => {
  const first = /^\s*\S+/.exec(text)?.[0] ?? "";
  return [
    [first, BEGINNING],
    [text.slice(first.length), COPIED],
  ];
};

const asTyped = ({ rng }: Renderer, question: string): string =>
  rng.chance(0.2) ? question.toLowerCase().replace(/\?$/, "") : question;

/** A source that fills no slot of the others, so that a question has one answer. */
function drawApart(
  renderer: Renderer,
  data: GeneratorData,
  others: readonly Pick<Source, "slots">[],
): Source {
  for (;;) {
    const isFact = renderer.rng.chance(FACT_SHARE);
    const source = isFact ? ofFact(renderer, data) : ofTemplate(renderer, data);
    if (source === null) continue;
    const isApart = others.every(({ slots }) => slots.isDisjointFrom(source.slots));
    if (isApart) return source;
  }
}

function ofFact(renderer: Renderer, data: GeneratorData): Source {
  const { rng } = renderer;
  const fact = rng.pick(data.facts);
  const scope: Scope = new Map();
  const sentence = renderer.render(rng.pick(fact.statements), scope);
  const question = renderer.render(rng.pick(fact.questions), scope);
  const title = renderer.render(rng.pick(fact.titles), scope);
  return { title, sentence, question, slots: new Set([title, ...scope.keys()]) };
}

/** A line of a template, asked for one of its values; null for one that is no sentence. */
function ofTemplate(renderer: Renderer, data: GeneratorData): Source | null {
  const { rng } = renderer;
  const [domain, templates] = rng.pick([...data.templates]);
  const template = rng.pick(templates);
  if (template.includes("{rows:") || template.includes("\\n")) return null;
  const scope: Scope = new Map();
  const text = renderer.render(template, scope).trim();
  const filled = [...scope].filter(([, { kind }]) => kind === "value");
  if (filled.length === 0 || text.length > LONGEST || /[\n:]/.test(text)) return null;
  const [key] = rng.pick(filled);
  const other = filled.find(([name]) => name !== key)?.[1];
  const question = ask(renderer, data, nameOf(renderer, data, key), textOf(other));
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  const title = capital(rng.pick([domain, nameOf(renderer, data, key)])).replaceAll("_", " ");
  return { title, sentence, question, slots: new Set(scope.keys()) };
}

const textOf = (slot: Filled | undefined): string | null =>
  slot?.kind === "value" ? slot.value.text : null;

/** A field in words: `due_date` is the due date, `city@sender` the city of the sender. */
function nameOf({ rng }: Renderer, data: GeneratorData, key: string): string {
  const [field = "", part] = key.split("@");
  const names = data.fields.get(field)?.properties.slice(0, NAMES_MAX) ?? [];
  const name = inWords(rng.pick(names));
  if (part === undefined) return name;
  const said = part.replaceAll("_", " ");
  return rng.chance(0.5) ? `${name} of the ${said}` : `${said} ${name}`;
}

function ask(
  { rng }: Renderer,
  { questions }: GeneratorData,
  name: string,
  other: string | null,
): string {
  const frame = rng.pick(questions);
  const about =
    other !== null && rng.chance(0.4) ? ` ${rng.pick(["for", "of", "with"])} ${other}` : "";
  return frame.replace("%", name + about);
}
