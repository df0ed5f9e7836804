/** The numbers that may stand at a place: a finite list, or a union of number sets. */
import {
  compare,
  type Decimal,
  decimalOf,
  isInteger,
  isMultipleOf,
  leastCommonMultiple,
  ONE,
  parseDecimal,
  printDecimal,
  scaled,
} from "../automaton/decimal.ts";
import type { NumberAutomaton } from "../automaton/number-automaton.ts";
import type { NumberBound, NumberSet, NumberSpelling } from "../automaton/number-set.ts";
import { NumberUnion } from "../automaton/number-union.ts";
import { TextList } from "../automaton/text-list.ts";
import { type Atom, and } from "../schema/formula.ts";
import { NUMBER } from "../schema/json-type.ts";
import { PLANS_MAX } from "../schema/limits.ts";
import { type Plan, plansOf } from "../schema/plan.ts";
import type { Languages } from "./languages.ts";
import type { Place, Verdict } from "./place.ts";

export type NumberView = NumberList | NumberLanguage;

export interface NumberList {
  readonly kind: "list";
  readonly texts: TextList;
  /** A lower bound on the number of different values. */
  readonly distinct: number;
  verdict(text: string): Verdict;
}

export interface NumberLanguage {
  readonly kind: "language";
  readonly automaton: NumberAutomaton | NumberUnion;
  /** A lower bound on the number of different values. */
  readonly distinct: number;
  /** Set where every number, or every integer, may stand. */
  readonly plain: PlainNumbers | null;
  verdict(text: string): Verdict;
}

export interface PlainNumbers {
  readonly spelling: NumberSpelling;
  readonly isInteger: boolean;
}

/** @returns null where no number may stand. */
export function numberView(
  place: Place,
  spelling: NumberSpelling,
  languages: Languages,
): NumberView | null {
  const plans = place.wantFormulas(NUMBER).flatMap((want) => plansOf(and([want])));
  const verdict = (text: string): Verdict => {
    const value = parseDecimal(text);
    return place.verdictOf(NUMBER, (atom) => value !== null && numberHolds(atom, value));
  };
  const listed: Decimal[] = [];
  const sets: NumberSet[] = [];
  for (const plan of plans) {
    const values = listedValues(plan);
    if (values) listed.push(...values);
    else sets.push(...numberSets(plan));
  }
  if (sets.length === 0) return listView(listed, spelling, verdict);
  const points = listed.map(pointSet);
  const automata = [...sets, ...points]
    .slice(0, PLANS_MAX)
    .map((set) => languages.numbers(set, spelling))
    .filter((automaton) => !automaton.isEmpty);
  const [only] = automata;
  if (!only) return null;
  const automaton = automata.length === 1 ? only : new NumberUnion(automata);
  const distinct = Math.max(1, ...sets.map((set) => distinctMembers(set, spelling)));
  return { kind: "language", automaton, distinct, plain: plainOf(sets, points, spelling), verdict };
}

function plainOf(
  sets: readonly NumberSet[],
  points: readonly NumberSet[],
  spelling: NumberSpelling,
): PlainNumbers | null {
  const [set] = sets;
  if (sets.length !== 1 || points.length > 0 || !set || set.min || set.max) return null;
  if (set.notSteps.length > 0 || set.excluded.length > 0) return null;
  if (set.step === null) return { spelling, isInteger: false };
  // Where 1.0 is an integer, integers have more spellings than their digits.
  const isOne = compare(set.step, ONE) === 0;
  return isOne && !spelling.zeroFraction ? { spelling, isInteger: true } : null;
}

/** More than any array could hold. */
const MANY = 1_000_000;

function distinctMembers(set: NumberSet, spelling: NumberSpelling): number {
  if (!set.min || !set.max) return MANY;
  const scale = Math.max(
    set.step?.scale ?? spelling.fractionDigitsMax,
    set.min.value.scale,
    set.max.value.scale,
  );
  const unit = set.step ? scaled(set.step, scale) : 1n;
  const low = scaled(set.min.value, scale) + (set.min.exclusive ? 1n : 0n);
  const high = scaled(set.max.value, scale) - (set.max.exclusive ? 1n : 0n);
  if (set.notSteps.length > 0 || high < low) return 0;
  const members = high / unit - (low - 1n) / unit - BigInt(set.excluded.length);
  return Math.max(0, Math.min(MANY, Number(members) - 1));
}

function numberHolds(atom: Atom, value: Decimal): boolean {
  if (atom.kind === "numbers") {
    return atom.values.some((other) => compare(decimalOf(other), value) === 0);
  }
  if (atom.kind !== "number") return true;
  if (atom.integer && !isInteger(value)) return false;
  const { minimum, maximum, multipleOf } = atom.rules ?? {};
  if (minimum && compare(value, minimum.value) < (minimum.exclusive ? 1 : 0)) return false;
  if (maximum && compare(value, maximum.value) > (maximum.exclusive ? -1 : 0)) return false;
  return !multipleOf || isMultipleOf(value, multipleOf);
}

/** The finitely many values of a plan that demands one of a list; null for any other plan. */
function listedValues(plan: Plan): Decimal[] | null {
  const list = plan.holds.find((atom) => atom.kind === "numbers");
  if (list?.kind !== "numbers") return null;
  return list.values
    .map(decimalOf)
    .filter((value) => plan.holds.every((atom) => numberHolds(atom, value)))
    .filter((value) =>
      plan.fails.every((clause) => clause.some((atom) => !numberHolds(atom, value))),
    );
}

function listView(
  values: readonly Decimal[],
  spelling: NumberSpelling,
  verdict: (text: string) => Verdict,
): NumberList | null {
  if (values.length === 0) return null;
  const texts = values.flatMap((value) => spellings(value, spelling));
  const distinct = new Set(values.map(printDecimal)).size;
  return { kind: "list", texts: new TextList(texts), distinct, verdict };
}

function spellings(value: Decimal, spelling: NumberSpelling): string[] {
  const plain = printDecimal(value);
  const texts = [plain.length <= 40 ? plain : String(Number(plain))];
  if (spelling.zeroFraction) {
    texts.push(String(Number(plain)));
    if (isInteger(value) && plain.length <= 40) texts.push(`${plain}.0`);
  }
  return texts;
}

function pointSet(value: Decimal): NumberSet {
  const bound = { value, exclusive: false };
  return { min: bound, max: bound, step: null, notSteps: [], excluded: [] };
}

const EVERYTHING: NumberSet = { min: null, max: null, step: null, notSteps: [], excluded: [] };

/** A plan as a union of sets: each clause says which of its atoms fails, and how. */
function numberSets(plan: Plan): NumberSet[] {
  let sets = [plan.holds.reduce(restrict, EVERYTHING)];
  for (const clause of plan.fails) {
    const failures = clause.flatMap(failuresOf);
    sets = sets.flatMap((set) => failures.map((failure) => meet(set, failure))).slice(0, PLANS_MAX);
  }
  return sets;
}

function restrict(set: NumberSet, atom: Atom): NumberSet {
  if (atom.kind !== "number") return set;
  const { minimum = null, maximum = null, multipleOf = null } = atom.rules ?? {};
  const own = { ...EVERYTHING, min: minimum, max: maximum, step: multipleOf };
  return meet(atom.integer ? meet(set, { ...EVERYTHING, step: ONE }) : set, own);
}

function failuresOf(atom: Atom): NumberSet[] {
  if (atom.kind === "numbers") return [{ ...EVERYTHING, excluded: atom.values.map(decimalOf) }];
  if (atom.kind !== "number") return [];
  const { minimum, maximum, multipleOf } = atom.rules ?? {};
  const failures: NumberSet[] = [];
  if (atom.integer) failures.push({ ...EVERYTHING, notSteps: [ONE] });
  if (minimum) failures.push({ ...EVERYTHING, max: complementBound(minimum) });
  if (maximum) failures.push({ ...EVERYTHING, min: complementBound(maximum) });
  if (multipleOf) failures.push({ ...EVERYTHING, notSteps: [multipleOf] });
  return failures;
}

function complementBound(bound: NumberBound): NumberBound {
  return { value: bound.value, exclusive: !bound.exclusive };
}

function meet(a: NumberSet, b: NumberSet): NumberSet {
  return {
    min: tighter(a.min, b.min, 1),
    max: tighter(a.max, b.max, -1),
    step: a.step && b.step ? leastCommonMultiple(a.step, b.step) : (a.step ?? b.step),
    notSteps: [...a.notSteps, ...b.notSteps],
    excluded: [...a.excluded, ...b.excluded],
  };
}

function tighter(a: NumberBound | null, b: NumberBound | null, sign: 1 | -1): NumberBound | null {
  if (!a || !b) return a ?? b;
  const order = compare(a.value, b.value);
  if (order === 0) return a.exclusive ? a : b;
  return order === sign ? a : b;
}
