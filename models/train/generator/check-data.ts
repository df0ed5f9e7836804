/** Finds mistakes in the data files: slots that nothing defines, labels without phrases, and so on. */
import { MARK_KINDS } from "./case-data.ts";
import {
  type GeneratorData,
  type JudgedGroup,
  type PassageData,
  readGeneratorData,
} from "./data-files.ts";
import { VALUE } from "./grounded.ts";
import { inWords } from "./names.ts";
import { slotsIn } from "./render.ts";
import { Rng } from "./rng.ts";
import { Values } from "./values.ts";

/** Sentences, each naming one mistake. */
export function dataMistakes(data: GeneratorData): string[] {
  return [
    ...fieldMistakes(data),
    ...choiceMistakes(data),
    ...[...data.lists.values()]
      .filter(({ rows, properties }) => rows.length === 0 || properties.length === 0)
      .map(({ name }) => `list ${name} is incomplete`),
    ...data.judged.flatMap(judgedMistakes),
    ...[...data.labels].flatMap(labelMistakes),
    ...data.passages.flatMap(passageMistakes),
    ...[...data.clauses].flatMap(([slot, clauses]) => [
      ...slotMistakes(data, slot, "clauses"),
      ...clauses.filter((clause) => clause.split("{}").length !== 2),
    ]),
    ...[...allSlots(data)].flatMap(([template, slots]) => [
      ...slots.flatMap((slot) => slotMistakes(data, slot, template)),
      ...bracketMistakes(template),
    ]),
  ];
}

function fieldMistakes(data: GeneratorData): string[] {
  const values = new Values(new Rng(1), data.words);
  return [...data.fields.values()].flatMap(({ name, kind, properties }) => {
    const mistakes = properties.length === 0 ? [`field ${name} has no property name`] : [];
    try {
      values.draw(kind);
    } catch (error) {
      mistakes.push(`field ${name}: ${String(error)}`);
    }
    return mistakes;
  });
}

function choiceMistakes(data: GeneratorData): string[] {
  const unknown = (data.phrases.get("topical") ?? []).filter((name) => !data.choices.has(name));
  const incomplete = [...data.choices.values()].flatMap(({ name, labels, properties }) => [
    ...(data.fields.has(name) ? [`${name} is both a field and a choice`] : []),
    ...(labels.length < 2 || properties.length === 0 ? [`choice ${name} is incomplete`] : []),
    ...labels
      .filter(({ phrases }) => phrases.length === 0)
      .map(({ names }) => `choice ${name}: ${names[0]} has no phrase`),
  ]);
  return [...unknown.map((name) => `topical choice ${name} is not defined`), ...incomplete];
}

function passageMistakes({ sentences, questions, unanswered, titles }: PassageData): string[] {
  const texts = [...titles, ...sentences, ...questions.map(({ text }) => text), ...unanswered];
  return texts.flatMap((text) => {
    const letters = [...text.matchAll(VALUE)].map(([, , letter = ""]) => letter);
    const unknown = letters.filter((letter) => !Object.hasOwn(MARK_KINDS, letter));
    const isLeft = /[[\]]/.test(text.replace(VALUE, ""));
    return [
      ...unknown.map((letter) => `no such kind of value: ${letter} in ${text}`),
      ...(isLeft ? [`a bracket that is no value: ${text}`] : []),
      ...bracketMistakes(text.replace(VALUE, "$1")),
    ];
  });
}

function labelMistakes([label, others]: readonly [string, readonly string[]]): string[] {
  const names = [label, ...others];
  return [
    ...names
      .filter((name) => name !== inWords(name))
      .map((name) => `labels.txt: not in small letters and spaces: ${name}`),
    ...(new Set(names).size < names.length ? [`labels.txt: ${label} has a name twice`] : []),
  ];
}

function judgedMistakes({ name, aspects, texts }: JudgedGroup): string[] {
  return texts.flatMap(({ labels, text }) => {
    const where = `${name}: ${text}`;
    const unknown = labels.filter(
      (label, i) =>
        label !== null && !aspects[i]?.labels.some(({ names: [first] }) => first === label),
    );
    return [
      ...unknown.map((label) => `no such label ${label}: ${where}`),
      ...(labels.length === aspects.length ? [] : [`${labels.length} labels: ${where}`]),
      ...(text === "" ? [`no text: ${where}`] : []),
      ...bracketMistakes(text),
    ];
  });
}

function slotMistakes(data: GeneratorData, slot: string, template: string): string[] {
  // What the renderer does not read as a slot would stand in the text.
  if (slotsIn(`{${slot}}`).length === 0) return [`{${slot}} is not written as a slot: ${template}`];
  const [head = "", part] = slot.split("@");
  const [name = "", list] = head.split(":");
  const isKnown =
    list === undefined ? data.fields.has(name) || data.choices.has(name) : data.lists.has(list);
  const isPart = part === undefined || data.parts.has(part);
  return [
    ...(isKnown ? [] : [`{${slot}} is not defined: ${template}`]),
    ...(isPart ? [] : [`part ${part} is not defined: ${template}`]),
  ];
}

function bracketMistakes(template: string): string[] {
  const count = (mark: string) => template.split(mark).length;
  return count("(") === count(")") ? [] : [`a bracket is open: ${template}`];
}

function* allSlots(data: GeneratorData): Generator<readonly [string, readonly string[]]> {
  const texts = [
    ...[...data.templates.values(), ...data.documents.values()].flat(),
    ...[...data.lists.values()].flatMap(({ rows, told }) => [...rows, ...told]),
    ...[...data.choices.values()].flatMap(({ labels }) => labels.flatMap(({ phrases }) => phrases)),
    ...data.facts.flatMap((fact) => [...fact.titles, ...fact.statements, ...fact.questions]),
    ...data.tools.flatMap(({ requests }) => requests),
    ...data.chat.flatMap(([said]) => said),
    ...data.messages.flatMap(({ texts }) => texts),
  ];
  for (const text of texts)
    yield [text, [...text.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? "")];
  for (const { tool } of data.tools)
    yield [tool.names[0] ?? "", tool.arguments.map(([, slot]) => slot)];
}

if (import.meta.main) {
  const mistakes = dataMistakes(readGeneratorData());
  for (const mistake of mistakes) process.stdout.write(`${mistake}\n`);
  process.exit(mistakes.length === 0 ? 0 : 1);
}
