/**
 * The figures that a reconciliation decides by. Profile `generic`: no state's rule, only what the
 * model rules and bank law have in common. Everything here belongs to the engine version.
 */
import type { IoltaInput } from "./schema.ts";

export interface Policy {
  /** Most of the firm's own money that may sit in the account; null = no figure was given. */
  readonly firmFundsLimit: number | null;
  /** UCC 4-404: a bank need not pay a check older than six months. */
  readonly staleCheckDays: number;
  readonly agedCheckDays: number;
  readonly agedDepositDays: number;
  readonly dormantDays: number;
  /** California RPC 1.15: undisputed funds are presumed late after 45 days. */
  readonly holdDays: number;
  /** Days between the bank's credit and collected funds; the bank's figure, none is assumed. */
  readonly clearingDays: number;
  readonly depositWindowDays: number;
  readonly otherWindowDays: number;
  /** How much earlier than the book a bank may date a line. */
  readonly earlyDays: number;
  readonly preparationDeadlineDays: number | null;
  readonly batchItemsMax: number;
  readonly goodFundsInstruments: ReadonlySet<string>;
  readonly requiredEntryFields: readonly string[];
}

/** Final on receipt: nobody can take these back after the fact. */
const GOOD_FUNDS = ["ach_credit_final", "cash", "wire"] as const;

export const GENERIC_PROFILE = {
  id: "generic",
  stale_check_days: 180,
  aged_check_days: 90,
  aged_deposit_days: 3,
  dormant_days: 365,
  hold_days: 45,
  clearing_days: 0,
  date_window_deposit_days: 7,
  date_window_other_days: 5,
  early_days: 1,
  batch_max_items: 8,
  good_funds_instruments: GOOD_FUNDS,
} as const;

/** Bounds of the search for sums: counts, so that load can never change an answer. */
export const SUM_SEARCH = {
  candidates_max: 20,
  split_lines_max: 4,
  /** About 0.1 s; past it the rest stays unmatched and `not_tested` says so. */
  steps_max: 10_000_000,
} as const;

/** A larger jump in check numbers is a new check book, not a gap. */
export const CHECK_GAP_MAX = 100;

export const HINTS_MAX = 20;

/** Shown beside an ambiguous match; more would only repeat that there are many. */
export const AMBIGUOUS_SHOWN_MAX = 3;

export function policyOf(input: IoltaInput): Policy {
  const given = input.policy ?? {};
  const generic = GENERIC_PROFILE;
  return {
    firmFundsLimit: given.firm_funds_limit ?? null,
    staleCheckDays: given.stale_check_days ?? generic.stale_check_days,
    agedCheckDays: given.aged_check_days ?? generic.aged_check_days,
    agedDepositDays: given.aged_deposit_days ?? generic.aged_deposit_days,
    dormantDays: given.dormant_days ?? generic.dormant_days,
    holdDays: given.hold_days ?? generic.hold_days,
    clearingDays: given.clearing_days ?? generic.clearing_days,
    depositWindowDays: given.date_window_deposit_days ?? generic.date_window_deposit_days,
    otherWindowDays: given.date_window_other_days ?? generic.date_window_other_days,
    earlyDays: given.early_days ?? generic.early_days,
    preparationDeadlineDays: given.preparation_deadline_days ?? null,
    batchItemsMax: given.batch_max_items ?? generic.batch_max_items,
    goodFundsInstruments: new Set<string>(given.good_funds_instruments ?? GOOD_FUNDS),
    requiredEntryFields: [...(given.required_entry_fields ?? [])].sort(),
  };
}

/** `[profile, note]`: which profile was used, and what to tell someone who asked for another. */
export function profileOf(jurisdiction: string | undefined): readonly [string, string | null] {
  if (jurisdiction === undefined) return [GENERIC_PROFILE.id, null];
  return [GENERIC_PROFILE.id, `jurisdiction ${jurisdiction} has no verified profile`];
}
