/** Everything that a validation can complain about: a closed table, part of the engine version. */

export const FINDING_KINDS = {
  IDENTIFIER_LINE_MISSING: "error",
  HEADER_LINE_WRONG: "error",
  NO_LINE_ITEMS: "error",
  LINE_END_MISSING: "error",
  FIELD_COUNT_WRONG: "error",
  FIELD_REQUIRED: "error",
  FIELD_TOO_LONG: "error",
  DATE_INVALID: "error",
  NUMBER_INVALID: "error",
  LINE_TYPE_INVALID: "error",
  UNITS_NEGATIVE: "error",
  LINE_TOTAL_MISMATCH: "error",
  INVOICE_TOTAL_MISMATCH: "error",
  INVOICE_TOTAL_VARIES: "error",
  INVOICE_DATE_VARIES: "warning",
  CLIENT_VARIES: "warning",
  BILLING_PERIOD_REVERSED: "error",
  LINE_DATE_OUTSIDE_PERIOD: "warning",
  LINE_NUMBER_REPEATED: "error",
  TASK_CODE_UNKNOWN: "warning",
  ACTIVITY_CODE_UNKNOWN: "warning",
  EXPENSE_CODE_UNKNOWN: "warning",
  EXPENSE_CODE_MISSING: "error",
  TIMEKEEPER_MISSING: "error",
  FEE_WITH_EXPENSE_CODE: "error",
  CLASSIFICATION_UNKNOWN: "warning",
  RATE_OVER_CAP: "guideline",
  TIMEKEEPER_NOT_APPROVED: "guideline",
  HOURS_PER_DAY_EXCEEDED: "guideline",
  UNITS_NOT_IN_INCREMENTS: "guideline",
  EXPENSE_NOT_ALLOWED: "guideline",
  BLOCK_BILLING: "guideline",
  DESCRIPTION_TOO_SHORT: "guideline",
} as const;

export type FindingCode = keyof typeof FINDING_KINDS;

export interface Finding {
  readonly code: FindingCode;
  /** 1 for the file's first line; 0 for the file as a whole. */
  readonly line: number;
  readonly field?: string;
  readonly value?: string;
  readonly expected?: string;
}

export type AddFinding = (finding: Finding) => void;
