/**
 * Ways to satisfy a formula. A plan is a set of atoms that must hold together and clauses, in each
 * of which at least one atom must fail. What must fail is not spread out into cases: `oneOf` of k
 * branches makes k plans, not a product of everything that could go wrong in the others.
 */
import type { Atom, Formula } from "./formula.ts";
import { PLANS_MAX } from "./limits.ts";

export interface Plan {
  /** Atoms that must hold, by id. */
  readonly holds: readonly Atom[];
  /** In each clause, at least one atom must fail. */
  readonly fails: readonly (readonly Atom[])[];
}

/** At most `PLANS_MAX` plans; those past it are dropped, which makes the language narrower. */
export function plansOf(formula: Formula): readonly Plan[] {
  let drafts: Draft[] = [{ holds: new Map(), fails: new Map() }];
  for (const part of formula.kind === "and" ? formula.items : [formula]) {
    drafts = extend(drafts, part);
    if (drafts.length === 0) return [];
  }
  const plans = new Map<string, Plan>();
  for (const draft of drafts) {
    const plan = finish(draft);
    if (plan) plans.set(keyOf(plan), plan);
  }
  return [...plans.values()];
}

interface Draft {
  readonly holds: ReadonlyMap<number, Atom>;
  /** Clauses by key, so that the same demand counts once. */
  readonly fails: ReadonlyMap<string, readonly Atom[]>;
}

function extend(drafts: readonly Draft[], part: Formula): Draft[] {
  switch (part.kind) {
    case "constant":
      return part.value ? [...drafts] : [];
    case "atom":
      return part.positive
        ? drafts.map((draft) => withAtom(draft, part.atom))
        : drafts.map((draft) => withClause(draft, [part.atom]));
    case "and":
      return part.items.reduce<Draft[]>(extend, [...drafts]);
    case "or": {
      const clauses = clausesOf(part);
      if (clauses) return drafts.map((draft) => clauses.reduce(withClause, draft));
      return choices(drafts, part.items);
    }
  }
}

function choices(drafts: readonly Draft[], items: readonly Formula[]): Draft[] {
  const next: Draft[] = [];
  for (const draft of drafts) {
    const extended = items.flatMap((item) => extend([draft], item)).filter(isConsistent);
    next.push(...extended);
    if (next.length >= PLANS_MAX) return next.slice(0, PLANS_MAX);
  }
  return next;
}

/** Clauses more than this come from a formula that choices serve better. */
const CLAUSES_MAX = 16;

/** A formula of negative atoms alone, as clauses; null for any other. */
function clausesOf(formula: Formula): readonly (readonly Atom[])[] | null {
  switch (formula.kind) {
    case "constant":
      return null;
    case "atom":
      return formula.positive ? null : [[formula.atom]];
    case "and": {
      const parts = formula.items.map(clausesOf);
      return parts.every((part) => part !== null) ? parts.flat() : null;
    }
    case "or": {
      let product: readonly (readonly Atom[])[] = [[]];
      for (const item of formula.items) {
        const clauses = clausesOf(item);
        if (clauses === null) return null;
        product = product.flatMap((left) => clauses.map((right) => [...left, ...right]));
        if (product.length > CLAUSES_MAX) return null;
      }
      return product;
    }
  }
}

function withAtom(draft: Draft, atom: Atom): Draft {
  return { ...draft, holds: new Map(draft.holds).set(atom.id, atom) };
}

function withClause(draft: Draft, clause: readonly Atom[]): Draft {
  const unique = [...new Map(clause.map((atom) => [atom.id, atom])).values()];
  const key = unique
    .map((atom) => atom.id)
    .sort((a, b) => a - b)
    .join();
  return { ...draft, fails: new Map(draft.fails).set(key, unique) };
}

/** No clause asks only for atoms that must hold. */
function isConsistent(draft: Draft): boolean {
  for (const clause of draft.fails.values()) {
    if (clause.every((atom) => draft.holds.has(atom.id))) return false;
  }
  return true;
}

function finish(draft: Draft): Plan | null {
  if (!isConsistent(draft)) return null;
  const holds = [...draft.holds.values()].sort((a, b) => a.id - b.id);
  const fails = [...draft.fails.values()].map((clause) =>
    clause.filter((atom) => !draft.holds.has(atom.id)),
  );
  return { holds, fails };
}

function keyOf(plan: Plan): string {
  const ids = (atoms: readonly Atom[]): string => atoms.map((atom) => atom.id).join();
  return `${ids(plan.holds)};${plan.fails.map(ids).sort().join("|")}`;
}
