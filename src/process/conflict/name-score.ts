/**
 * How far two names may belong to one party: an integer from 0 to 1000 with its reasons. Both
 * names are read in the same form. Symmetric except for what one side leaves out.
 */
import { editDistance } from "./edit-distance.ts";
import {
  initialsOf,
  type NameForm,
  type NameToken,
  type ParsedName,
  sortedKey,
} from "./parse-name.ts";
import { phoneticKey } from "./phonetic.ts";
import { scoreTokens, type TokenScore, type WordScores } from "./token-score.ts";

interface Evidence {
  readonly q: string;
  readonly r: string;
  readonly s: number;
  readonly how: string;
}

export interface NameScore {
  readonly score: number;
  readonly evidence: readonly Evidence[];
  /** What lowered or capped the score, in a fixed order. */
  readonly reasons: readonly string[];
}

/** Whole-name scores, caps and losses. */
export const NAME_SCORES = {
  exact: 1000,
  joined: 980,
  reordered: 970,
  acronym: 800,
  joined_edit: 780,
  joined_sound: 760,
  subset: 740,
  suffix_conflict: 720,
  number_conflict: 720,
  initials_differ: 720,
  lone_word: 680,
  contradiction: 650,
  initials_only: 500,
  one_word_and_initial: 800,
  designator_loss: 30,
  /** Percent of its weight that a token without a partner costs. */
  unmatched_query: { person: 60, organization: 100 },
  unmatched_record: { person: 45, organization: 100 },
  joined_edits_max: 2,
  joined_edit_percent: { person: 20, organization: 12 },
} as const;

interface Pair {
  readonly q: NameToken;
  readonly r: NameToken;
  readonly score: TokenScore;
}

interface Alignment {
  readonly pairs: readonly Pair[];
  readonly onlyQuery: readonly NameToken[];
  readonly onlyRecord: readonly NameToken[];
}

/** @param words `rememberedScores(q.form)` where one name is compared with many. */
export function scoreNames(
  q: ParsedName,
  r: ParsedName,
  words: WordScores = (a, b) => scoreTokens(a, b, q.form),
): NameScore {
  if (q.tokens.length === 0 || r.tokens.length === 0) return nothing();
  const whole = scoreWhole(q, r);
  const base = whole ?? scoreParts(q, r, words);
  return withMarks(base, q, r);
}

const nothing = (): NameScore => ({ score: 0, evidence: [], reasons: [] });

/** Names that are equal but for spaces or order. */
function scoreWhole(q: ParsedName, r: ParsedName): NameScore | null {
  const how = (score: number, label: string): NameScore => ({
    score,
    evidence: [{ q: q.key, r: r.key, s: score, how: label }],
    reasons: [],
  });
  if (q.key === r.key) return how(NAME_SCORES.exact, "equal");
  if (q.joined === r.joined) return how(NAME_SCORES.joined, "equal_joined");
  if (isReordered(q, r)) return how(NAME_SCORES.reordered, "equal_reordered");
  if (isAcronym(q, r) || isAcronym(r, q)) return how(NAME_SCORES.acronym, "acronym");
  return null;
}

function isReordered(q: ParsedName, r: ParsedName): boolean {
  return q.joined.length === r.joined.length && sortedKey(q) === sortedKey(r);
}

const ACRONYM_LETTERS_MIN = 3;

function isAcronym(short: ParsedName, long: ParsedName): boolean {
  return (
    short.form === "organization" &&
    short.tokens.length === 1 &&
    short.joined.length >= ACRONYM_LETTERS_MIN &&
    long.tokens.length >= ACRONYM_LETTERS_MIN &&
    short.joined === initialsOf(long)
  );
}

function scoreParts(q: ParsedName, r: ParsedName, words: WordScores): NameScore {
  const tokens = [
    mergeNeighbours(q.tokens, r.tokens),
    mergeNeighbours(r.tokens, q.tokens),
  ] as const;
  const alignment = align(tokens[0], tokens[1], words);
  const parts = hasNumberConflict(alignment)
    ? siblings(alignment, q.form)
    : scoreAlignment(alignment, q.form);
  const joined = scoreJoined(q, r);
  return joined !== null && joined.score > parts.score ? joined : parts;
}

function scoreAlignment(alignment: Alignment, form: NameForm): NameScore {
  const reasons: string[] = [];
  let score = weightedMean(alignment, form);
  if (form === "person" && score < NAME_SCORES.subset && isSubset(alignment)) {
    score = NAME_SCORES.subset;
    reasons.push("subset");
  }
  for (const [limit, reason] of capsOf(alignment, form)) {
    score = Math.min(score, limit);
    reasons.push(reason);
  }
  return { score, evidence: evidenceOf(alignment), reasons };
}

/** "Fund IV" and "Fund V": two entities of one family. */
function siblings(alignment: Alignment, form: NameForm): NameScore {
  const words = (tokens: readonly NameToken[]): NameToken[] =>
    tokens.filter(({ kind }) => kind !== "number");
  const rest = scoreAlignment(
    {
      pairs: alignment.pairs,
      onlyQuery: words(alignment.onlyQuery),
      onlyRecord: words(alignment.onlyRecord),
    },
    form,
  );
  return {
    ...rest,
    score: Math.min(rest.score, NAME_SCORES.number_conflict),
    reasons: [...rest.reasons, "number_conflict"],
  };
}

function hasNumberConflict({ pairs, onlyQuery, onlyRecord }: Alignment): boolean {
  const isNumber = ({ kind }: NameToken): boolean => kind === "number";
  return pairs.length > 0 && onlyQuery.some(isNumber) && onlyRecord.some(isNumber);
}

/** Percent of the weights, pairs at their scores. */
function weightedMean({ pairs, onlyQuery, onlyRecord }: Alignment, form: NameForm): number {
  let support = 0;
  let weight = 0;
  for (const { q, r, score } of pairs) {
    const own = Math.min(q.weight, r.weight);
    support += own * score.score;
    weight += own;
  }
  const lossOf = (tokens: readonly NameToken[], percent: number): number =>
    tokens.reduce((sum, token) => sum + token.weight * percent, 0);
  const loss =
    lossOf(onlyQuery, NAME_SCORES.unmatched_query[form]) +
    lossOf(onlyRecord, NAME_SCORES.unmatched_record[form]);
  return support === 0 ? 0 : Math.floor((100 * support) / (100 * weight + loss));
}

const isFull = ({ kind }: NameToken): boolean => kind === "word" || kind === "surname";

/** All of the shorter name is in the longer one, by two full words at least. */
function isSubset({ pairs, onlyQuery, onlyRecord }: Alignment): boolean {
  const supported = pairs.filter(({ q, r }) => isFull(q) && isFull(r));
  const isWhole = !onlyQuery.some(isNamed) || !onlyRecord.some(isNamed);
  const mean = supported.reduce((sum, { score }) => sum + score.score, 0) / supported.length;
  return isWhole && supported.length >= 2 && mean >= SUBSET_MEAN_MIN;
}

const SUBSET_MEAN_MIN = 850;

const isNamed = ({ kind }: NameToken): boolean => kind !== "particle";

const isInitial = ({ kind }: NameToken): boolean => kind === "initial";

function capsOf(
  { pairs, onlyQuery, onlyRecord }: Alignment,
  form: NameForm,
): readonly (readonly [limit: number, reason: string])[] {
  const caps: [limit: number, reason: string][] = [];
  const full = pairs.filter(({ q, r }) => isFull(q) && isFull(r));
  const initials = pairs.filter(({ score }) => score.how === "initial");
  // What one name leaves out is no contradiction; what each has and the other lacks is one.
  if (
    (onlyQuery.some(isFull) && onlyRecord.some(isNamed)) ||
    (onlyQuery.some(isNamed) && onlyRecord.some(isFull))
  )
    caps.push([NAME_SCORES.contradiction, "contradiction"]);
  if (form !== "person") return caps;
  if (onlyQuery.some(isInitial) && onlyRecord.some(isInitial))
    caps.push([NAME_SCORES.initials_differ, "initials_differ"]);
  if (full.length === 0) caps.push([NAME_SCORES.initials_only, "initials_only"]);
  else if (full.length === 1 && initials.length > 0)
    caps.push([NAME_SCORES.one_word_and_initial, "one_word_and_initial"]);
  else if (full.length === 1 && (onlyQuery.some(isNamed) || onlyRecord.some(isNamed)))
    caps.push([NAME_SCORES.lone_word, "lone_word"]);
  return caps;
}

function evidenceOf({ pairs, onlyQuery, onlyRecord }: Alignment): Evidence[] {
  return [
    ...pairs.map(({ q, r, score }) => ({ q: q.text, r: r.text, s: score.score, how: score.how })),
    ...onlyQuery.map(({ text }) => ({ q: text, r: "", s: 0, how: "only_in_query" })),
    ...onlyRecord.map(({ text }) => ({ q: "", r: text, s: 0, how: "only_in_record" })),
  ];
}

/** Names run together, or spelled by another system, that no pair of words shows. */
function scoreJoined(q: ParsedName, r: ParsedName): NameScore | null {
  // An edit that turns one initial into another is no slip.
  if (q.tokens.some(isInitial) || r.tokens.some(isInitial)) return null;
  const length = Math.max(q.joined.length, r.joined.length);
  const share = Math.floor((length * NAME_SCORES.joined_edit_percent[q.form]) / 100);
  const limit = digitsOf(q) === digitsOf(r) ? Math.min(share, NAME_SCORES.joined_edits_max) : 0;
  const distance = limit === 0 ? 1 : editDistance(q.joined, r.joined, limit);
  const found = (cap: number, how: string, score: number): NameScore => ({
    score: Math.min(cap, score),
    evidence: [{ q: q.joined, r: r.joined, s: Math.min(cap, score), how }],
    reasons: ["joined"],
  });
  if (distance <= limit) {
    const score = Math.floor((1000 * (length - distance)) / length);
    return found(NAME_SCORES.joined_edit, `joined_edit:${distance}`, score);
  }
  // Systems of romanisation also part syllables differently: Tse-tung, Zedong.
  if (q.form !== "person" || q.tokens.length === r.tokens.length) return null;
  const key = phoneticKey(q.joined);
  return key.length >= JOINED_KEY_MIN && key === phoneticKey(r.joined)
    ? found(NAME_SCORES.joined_sound, "joined_phonetic", NAME_SCORES.joined_sound)
    : null;
}

const JOINED_KEY_MIN = 4;

function digitsOf({ joined }: ParsedName): string {
  return /[0-9]/.test(joined) ? joined.replace(/[^0-9]/g, "") : "";
}

/** Marks that belong to the whole name: generations and legal forms. */
function withMarks(base: NameScore, q: ParsedName, r: ParsedName): NameScore {
  const reasons = [...base.reasons];
  let { score } = base;
  if (q.suffix !== "" && r.suffix !== "" && q.suffix !== r.suffix) {
    score = Math.min(score, NAME_SCORES.suffix_conflict);
    reasons.push("suffix_conflict");
  }
  if (haveDifferentForms(q, r) && score > 0) {
    score = Math.max(0, score - NAME_SCORES.designator_loss);
    reasons.push("designators_differ");
  }
  return { score, evidence: base.evidence, reasons };
}

/** Several forms in one name ("Co., Ltd.") differ only when none is shared. */
function haveDifferentForms(q: ParsedName, r: ParsedName): boolean {
  return (
    q.designators.length > 0 &&
    r.designators.length > 0 &&
    !q.designators.some((form) => r.designators.includes(form))
  );
}

/** "Maria de la Cruz" and "Maria Delacruz": neighbours that are one word of the other name. */
function mergeNeighbours(
  tokens: readonly NameToken[],
  others: readonly NameToken[],
): readonly NameToken[] {
  if (!tokens.some((token) => startsLonger(token, others))) return tokens;
  for (let span = Math.min(MERGE_SPAN_MAX, tokens.length); span >= 2; span -= 1) {
    for (let start = 0; start + span <= tokens.length; start += 1) {
      const part = tokens.slice(start, start + span);
      const text = part.map((token) => token.text).join("");
      const other = others.find((token) => token.text === text);
      if (!other) continue;
      const merged = { text, kind: other.kind, weight: other.weight };
      return mergeNeighbours(
        [...tokens.slice(0, start), merged, ...tokens.slice(start + span)],
        others,
      );
    }
  }
  return tokens;
}

/** Whether a word of the other name goes on after this one. */
function startsLonger({ text }: NameToken, others: readonly NameToken[]): boolean {
  return others.some((other) => other.text.length > text.length && other.text.startsWith(text));
}

const MERGE_SPAN_MAX = 3;

/** Names of more words are paired off greedily. */
const ASSIGNED_TOKENS_MAX = 10;

/** The pairing of words with the most weighted support. */
function align(
  queries: readonly NameToken[],
  records: readonly NameToken[],
  words: WordScores,
): Alignment {
  const scores = queries.map((q) => records.map((r) => words(q, r)));
  const gain = (query: number, record: number): number =>
    (scores[query]?.[record]?.score ?? 0) *
    Math.min(queries[query]?.weight ?? 0, records[record]?.weight ?? 0);
  const isSmall = queries.length <= ASSIGNED_TOKENS_MAX && records.length <= ASSIGNED_TOKENS_MAX;
  const chosen = (isSmall ? bestPairing : greedyPairing)(queries.length, records.length, gain);
  const pairs: Pair[] = [];
  const taken = new Set<number>();
  for (const [query, record] of chosen.entries()) {
    const q = queries[query];
    const r = records[record];
    const score = scores[query]?.[record];
    if (!q || !r || !score) continue;
    pairs.push({ q, r, score });
    taken.add(record);
  }
  return {
    pairs,
    onlyQuery: queries.filter((_, query) => (chosen[query] ?? -1) < 0),
    onlyRecord: records.filter((_, record) => !taken.has(record)),
  };
}

type Gain = (query: number, record: number) => number;

/** @returns for each query the record, or -1; the first of equally good pairings. */
function bestPairing(queries: number, records: number, gain: Gain): number[] {
  const memo = new Map<number, { readonly total: number; readonly record: number }>();
  const best = (query: number, used: number): number => {
    if (query === queries) return 0;
    const key = query * 1024 + used;
    const known = memo.get(key);
    if (known) return known.total;
    let total = best(query + 1, used);
    let record = -1;
    for (let candidate = 0; candidate < records; candidate += 1) {
      const own = (used & (1 << candidate)) === 0 ? gain(query, candidate) : 0;
      if (own === 0) continue;
      const sum = own + best(query + 1, used | (1 << candidate));
      if (sum <= total) continue;
      total = sum;
      record = candidate;
    }
    memo.set(key, { total, record });
    return total;
  };
  best(0, 0);
  const chosen: number[] = [];
  let used = 0;
  for (let query = 0; query < queries; query += 1) {
    const record = memo.get(query * 1024 + used)?.record ?? -1;
    chosen.push(record);
    if (record >= 0) used |= 1 << record;
  }
  return chosen;
}

function greedyPairing(queries: number, records: number, gain: Gain): number[] {
  const chosen = new Array<number>(queries).fill(-1);
  const taken = new Set<number>();
  for (let step = 0; step < Math.min(queries, records); step += 1) {
    let most = 0;
    let pick: readonly [number, number] | null = null;
    for (let query = 0; query < queries; query += 1) {
      for (let record = 0; record < records && (chosen[query] ?? -1) < 0; record += 1) {
        const own = taken.has(record) ? 0 : gain(query, record);
        if (own > most) {
          most = own;
          pick = [query, record];
        }
      }
    }
    if (!pick) break;
    chosen[pick[0]] = pick[1];
    taken.add(pick[1]);
  }
  return chosen;
}
