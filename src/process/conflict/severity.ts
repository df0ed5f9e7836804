/**
 * What a match means: the side that the intake party takes, against the side that the record party
 * took. Data, part of the engine version; the rules are the ABA Model Rules of Professional
 * Conduct. A lawyer decides; this only says where to look, and how soon.
 */
import type { IntakeRole, RecordMatter, RecordRole } from "./schema.ts";

export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

export type IntakeClass =
  | "prospect"
  | "adverse"
  | "witness"
  | "related"
  | "neutral"
  | "counsel"
  | "payor"
  | "lateral_lawyer";

export type RecordClass =
  | "current_client"
  | "former_client"
  | "prospective_client"
  | "adverse_open"
  | "adverse_closed"
  | "lateral_client"
  | "firm_personnel"
  | "other_open"
  | "other_closed";

export type Cell = {
  readonly severity: Severity;
  readonly code: string;
  readonly rule: string;
};

export const INTAKE_CLASS: Readonly<Record<IntakeRole, IntakeClass>> = {
  prospective_client: "prospect",
  co_client: "prospect",
  adverse_party: "adverse",
  adverse_affiliate: "adverse",
  adverse_insurer: "adverse",
  opposing_counsel: "counsel",
  related: "related",
  affiliate: "related",
  guarantor: "related",
  witness: "witness",
  expert: "witness",
  judge: "neutral",
  mediator: "neutral",
  referrer: "payor",
  payor: "payor",
  lateral_lawyer: "lateral_lawyer",
};

const cell = (severity: Severity, code: string, rule: string): Cell => ({ severity, code, rule });

export const MATRIX: Readonly<Record<IntakeClass, Readonly<Record<RecordClass, Cell>>>> = {
  prospect: {
    current_client: cell("info", "EXISTING_CLIENT", "ABA 1.7"),
    former_client: cell("info", "RETURNING_CLIENT", "ABA 1.9"),
    prospective_client: cell("info", "RETURNING_PROSPECT", "ABA 1.18"),
    adverse_open: cell("critical", "PROSPECT_IS_ADVERSE", "ABA 1.7(a)(1)"),
    adverse_closed: cell("low", "PROSPECT_WAS_ADVERSE", "ABA 1.7(a)(2)"),
    lateral_client: cell("low", "PROSPECT_WAS_LATERALS_CLIENT", "ABA 1.10(a)(2)"),
    firm_personnel: cell("high", "PROSPECT_IS_FIRM_PERSONNEL", "ABA 1.7(a)(2),1.8"),
    other_open: cell("low", "PROSPECT_IN_OPEN_MATTER", "ABA 1.7(a)(2)"),
    other_closed: cell("info", "PROSPECT_IN_CLOSED_MATTER", "ABA 1.7(a)(2)"),
  },
  adverse: {
    current_client: cell("critical", "ADVERSE_TO_CURRENT_CLIENT", "ABA 1.7(a)(1)"),
    former_client: cell("high", "ADVERSE_TO_FORMER_CLIENT", "ABA 1.9(a),(c)"),
    prospective_client: cell("high", "ADVERSE_TO_PROSPECTIVE_CLIENT", "ABA 1.18(c)"),
    adverse_open: cell("info", "COMMON_ADVERSARY", "ABA 1.7(a)(2)"),
    adverse_closed: cell("info", "PAST_ADVERSARY", "ABA 1.7(a)(2)"),
    lateral_client: cell("high", "ADVERSE_TO_LATERALS_CLIENT", "ABA 1.9(b),1.10(a)(2)"),
    firm_personnel: cell("high", "ADVERSE_TO_FIRM_PERSONNEL", "ABA 1.7(a)(2),1.8"),
    other_open: cell("low", "ADVERSE_IN_OPEN_MATTER", "ABA 1.7(a)(2)"),
    other_closed: cell("info", "ADVERSE_IN_CLOSED_MATTER", "ABA 1.7(a)(2)"),
  },
  witness: {
    current_client: cell("high", "CURRENT_CLIENT_IS_WITNESS", "ABA 1.7(a)(2)"),
    former_client: cell("medium", "FORMER_CLIENT_IS_WITNESS", "ABA 1.9(c)"),
    prospective_client: cell("medium", "PROSPECTIVE_CLIENT_IS_WITNESS", "ABA 1.18(c)"),
    adverse_open: cell("info", "ADVERSARY_IS_WITNESS", "ABA 1.7(a)(2)"),
    adverse_closed: cell("info", "PAST_ADVERSARY_IS_WITNESS", "ABA 1.7(a)(2)"),
    lateral_client: cell("medium", "LATERALS_CLIENT_IS_WITNESS", "ABA 1.10(a)(2)"),
    firm_personnel: cell("high", "FIRM_PERSONNEL_IS_WITNESS", "ABA 1.7(a)(2),3.7"),
    other_open: cell("low", "WITNESS_IN_OPEN_MATTER", "ABA 1.7(a)(2)"),
    other_closed: cell("info", "WITNESS_IN_CLOSED_MATTER", "ABA 1.7(a)(2)"),
  },
  related: {
    current_client: cell("medium", "RELATED_TO_CURRENT_CLIENT", "ABA 1.7(a)(2)"),
    former_client: cell("low", "RELATED_TO_FORMER_CLIENT", "ABA 1.9(c)"),
    prospective_client: cell("low", "RELATED_TO_PROSPECTIVE_CLIENT", "ABA 1.18(c)"),
    adverse_open: cell("medium", "RELATED_TO_ADVERSARY", "ABA 1.7(a)(2)"),
    adverse_closed: cell("info", "RELATED_TO_PAST_ADVERSARY", "ABA 1.7(a)(2)"),
    lateral_client: cell("low", "RELATED_TO_LATERALS_CLIENT", "ABA 1.10(a)(2)"),
    firm_personnel: cell("high", "RELATED_TO_FIRM_PERSONNEL", "ABA 1.7(a)(2),1.8"),
    other_open: cell("low", "RELATED_IN_OPEN_MATTER", "ABA 1.7(a)(2)"),
    other_closed: cell("info", "RELATED_IN_CLOSED_MATTER", "ABA 1.7(a)(2)"),
  },
  neutral: {
    current_client: cell("medium", "NEUTRAL_IS_CURRENT_CLIENT", "ABA 1.12"),
    former_client: cell("low", "NEUTRAL_IS_FORMER_CLIENT", "ABA 1.12"),
    prospective_client: cell("info", "NEUTRAL_IS_PROSPECTIVE_CLIENT", "ABA 1.12"),
    adverse_open: cell("low", "NEUTRAL_IS_ADVERSARY", "ABA 1.12"),
    adverse_closed: cell("info", "NEUTRAL_WAS_ADVERSARY", "ABA 1.12"),
    lateral_client: cell("low", "NEUTRAL_WAS_LATERALS_CLIENT", "ABA 1.12"),
    firm_personnel: cell("high", "NEUTRAL_IS_FIRM_PERSONNEL", "ABA 1.12"),
    other_open: cell("low", "NEUTRAL_IN_OPEN_MATTER", "ABA 1.12"),
    other_closed: cell("info", "NEUTRAL_IN_CLOSED_MATTER", "ABA 1.12"),
  },
  counsel: {
    current_client: cell("medium", "OPPOSING_COUNSEL_IS_CLIENT", "ABA 1.7(a)(2)"),
    former_client: cell("low", "OPPOSING_COUNSEL_WAS_CLIENT", "ABA 1.9(c)"),
    prospective_client: cell("info", "OPPOSING_COUNSEL_IS_PROSPECT", "ABA 1.18(c)"),
    adverse_open: cell("low", "OPPOSING_COUNSEL_IS_ADVERSARY", "ABA 1.7(a)(2)"),
    adverse_closed: cell("info", "OPPOSING_COUNSEL_WAS_ADVERSARY", "ABA 1.7(a)(2)"),
    lateral_client: cell("low", "OPPOSING_COUNSEL_WAS_LATERALS_CLIENT", "ABA 1.10(a)(2)"),
    firm_personnel: cell("high", "OPPOSING_COUNSEL_IS_FIRM_PERSONNEL", "ABA 1.7(a)(2),1.10"),
    other_open: cell("info", "OPPOSING_COUNSEL_IN_OPEN_MATTER", "ABA 1.7(a)(2)"),
    other_closed: cell("info", "OPPOSING_COUNSEL_IN_CLOSED_MATTER", "ABA 1.7(a)(2)"),
  },
  payor: {
    current_client: cell("low", "PAYOR_IS_CURRENT_CLIENT", "ABA 1.8(f)"),
    former_client: cell("info", "PAYOR_IS_FORMER_CLIENT", "ABA 1.8(f)"),
    prospective_client: cell("info", "PAYOR_IS_PROSPECTIVE_CLIENT", "ABA 1.8(f)"),
    adverse_open: cell("medium", "PAYOR_IS_ADVERSARY", "ABA 1.8(f),1.7(a)(2)"),
    adverse_closed: cell("low", "PAYOR_WAS_ADVERSARY", "ABA 1.8(f)"),
    lateral_client: cell("info", "PAYOR_WAS_LATERALS_CLIENT", "ABA 1.8(f)"),
    firm_personnel: cell("high", "PAYOR_IS_FIRM_PERSONNEL", "ABA 1.8(f),1.8"),
    other_open: cell("low", "PAYOR_IN_OPEN_MATTER", "ABA 1.8(f)"),
    other_closed: cell("info", "PAYOR_IN_CLOSED_MATTER", "ABA 1.8(f)"),
  },
  lateral_lawyer: {
    current_client: cell("medium", "LATERAL_IS_CURRENT_CLIENT", "ABA 1.7(a)(2)"),
    former_client: cell("low", "LATERAL_IS_FORMER_CLIENT", "ABA 1.9(c)"),
    prospective_client: cell("low", "LATERAL_IS_PROSPECTIVE_CLIENT", "ABA 1.18(c)"),
    adverse_open: cell("high", "LATERAL_IS_ADVERSARY", "ABA 1.7(a)(2),1.10"),
    adverse_closed: cell("low", "LATERAL_WAS_ADVERSARY", "ABA 1.10"),
    lateral_client: cell("low", "LATERAL_IS_LATERALS_CLIENT", "ABA 1.10(a)(2)"),
    firm_personnel: cell("info", "LATERAL_IS_FIRM_PERSONNEL", "ABA 1.10"),
    other_open: cell("medium", "LATERAL_IN_OPEN_MATTER", "ABA 1.10(a)(2)"),
    other_closed: cell("low", "LATERAL_IN_CLOSED_MATTER", "ABA 1.10(a)(2)"),
  },
};

const CLIENT_ROLES: ReadonlySet<RecordRole> = new Set(["client", "co_client"]);

/**
 * @param ended whether the party's role was over at the day of the check.
 */
export function recordClassOf(
  matter: Pick<RecordMatter, "status" | "engagement" | "source">,
  role: RecordRole,
  ended: boolean,
): RecordClass {
  if (role === "firm_personnel") return "firm_personnel";
  const isOver = ended || matter.status === "closed" || matter.engagement === "withdrawn";
  if (CLIENT_ROLES.has(role)) {
    if (matter.source === "lateral") return "lateral_client";
    const neverEngaged = matter.status === "prospective" || matter.engagement === "declined";
    if (neverEngaged) return "prospective_client";
    return isOver ? "former_client" : "current_client";
  }
  if (role === "adverse_party") return isOver ? "adverse_closed" : "adverse_open";
  return isOver ? "other_closed" : "other_open";
}

/** One level down for each hop, and one for a match that is not strong. */
export function loweredSeverity(severity: Severity, levels: number): Severity {
  const index = Math.min(SEVERITIES.indexOf(severity) + levels, SEVERITIES.length - 1);
  return SEVERITIES[index] ?? "info";
}

const SHORT_ROWS: Readonly<Record<IntakeClass, string>> = {
  prospect: "PRO",
  adverse: "ADV",
  witness: "WIT",
  related: "REL",
  neutral: "NEU",
  counsel: "CSL",
  payor: "PAY",
  lateral_lawyer: "LAT",
};

const SHORT_COLUMNS: Readonly<Record<RecordClass, string>> = {
  current_client: "CURRENT",
  former_client: "FORMER",
  prospective_client: "PROSPECTIVE",
  adverse_open: "OPPONENT",
  adverse_closed: "PAST_OPPONENT",
  lateral_client: "LATERAL",
  firm_personnel: "PERSONNEL",
  other_open: "OTHER",
  other_closed: "PAST_OTHER",
};

/** Names the cell of the matrix. */
export function explanationCode(row: IntakeClass, column: RecordClass): string {
  return `${SHORT_ROWS[row]}_${SHORT_COLUMNS[column]}`;
}

export type Outcome = "no_hits" | "hits_low" | "review_required" | "conflict_indicated";

/** "No conflict" is not among them: that is a lawyer's word. */
export function outcomeOf(severities: readonly Severity[]): Outcome {
  const has = (severity: Severity): boolean => severities.includes(severity);
  if (has("critical")) return "conflict_indicated";
  if (has("high") || has("medium")) return "review_required";
  return severities.length > 0 ? "hits_low" : "no_hits";
}
