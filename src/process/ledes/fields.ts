/** The 24 fields of LEDES 1998B: specification of the LEDES Oversight Committee, 8/23/2007. */

type FieldKind = "text" | "date" | "currency" | "units" | "type";

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly lengthMax: number;
  readonly required: boolean;
}

const field = (name: string, kind: FieldKind, lengthMax: number, required: boolean): Field => ({
  name,
  kind,
  lengthMax,
  required,
});

const DESCRIPTION_LENGTH = 15_360;

export const FIELDS: readonly Field[] = [
  field("INVOICE_DATE", "date", 8, true),
  field("INVOICE_NUMBER", "text", 20, true),
  field("CLIENT_ID", "text", 20, true),
  field("LAW_FIRM_MATTER_ID", "text", 20, true),
  field("INVOICE_TOTAL", "currency", 17, true),
  field("BILLING_START_DATE", "date", 8, true),
  field("BILLING_END_DATE", "date", 8, true),
  field("INVOICE_DESCRIPTION", "text", DESCRIPTION_LENGTH, false),
  field("LINE_ITEM_NUMBER", "text", 20, true),
  field("EXP/FEE/INV_ADJ_TYPE", "type", 2, true),
  field("LINE_ITEM_NUMBER_OF_UNITS", "units", 15, true),
  field("LINE_ITEM_ADJUSTMENT_AMOUNT", "currency", 17, false),
  field("LINE_ITEM_TOTAL", "currency", 17, true),
  field("LINE_ITEM_DATE", "date", 8, true),
  field("LINE_ITEM_TASK_CODE", "text", 20, false),
  field("LINE_ITEM_EXPENSE_CODE", "text", 20, false),
  field("LINE_ITEM_ACTIVITY_CODE", "text", 20, false),
  field("TIMEKEEPER_ID", "text", 20, false),
  field("LINE_ITEM_DESCRIPTION", "text", DESCRIPTION_LENGTH, true),
  field("LAW_FIRM_ID", "text", 20, true),
  field("LINE_ITEM_UNIT_COST", "currency", 15, true),
  field("TIMEKEEPER_NAME", "text", 30, false),
  field("TIMEKEEPER_CLASSIFICATION", "text", 10, false),
  field("CLIENT_MATTER_ID", "text", 20, false),
];

/** Fees and expenses, and adjustments of the whole invoice. */
export const LINE_TYPES = ["F", "E", "IF", "IE"] as const;

/** Classifications of the 7/2014 revision, and the shorter ones in use before. */
export const CLASSIFICATIONS: readonly string[] =
  "PARTNR PT ASSOC AS COUNSEL OC PARALEGAL LA PL CLERK LC OT OTHER LS".split(" ");

const series = (prefix: string, list: string): string[] =>
  list.split(" ").map((number) => `${prefix}${number}`);

/** UTBMS codes; of the other code sets the form alone is checked. */
export const UTBMS = {
  task: series(
    "L",
    "100 110 120 130 140 150 160 190 200 210 220 230 240 250 260 300 310 320 330 340 350 390 " +
      "400 410 420 430 440 450 460 500 510 520 530 600 601 602 603 604 605 606 607 608 609 610 " +
      "611 612 613 614 615 616 617 618 619 620 621 622 623 629 630 631 632 633 634 639 640 641 " +
      "642 643 649 650 651 652 653 654 655 656 659 660 661 662 663 664 665 666 667 669 670 671 " +
      "672 673 674 675 676 677 678 679 680 681 682 683 689 690 691 692 693 694 695 699",
  ),
  task_pattern: "^(?:P[1-9][0-9]{2}|C[1-9][0-9]{2}|B[1-9][0-9]{2}|(?:PA|TR)[0-9]{3})$",
  activity: series("A", "101 102 103 104 105 106 107 108 109 110 111"),
  expense: series(
    "E",
    "101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 " +
      "123 124",
  ),
} as const;
