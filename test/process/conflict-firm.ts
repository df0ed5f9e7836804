/** A small firm for the tests of `svc-conflict-check`. */
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { svcConflictCheck } from "../../src/process/conflict/process.ts";
import type {
  ConflictInput,
  IntakeRole,
  RecordMatter,
  RecordRole,
} from "../../src/process/conflict/schema.ts";

/** Structures that tests may change in place. */
type Mutable<T> = T extends object ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : T;
export type Firm = Mutable<ConflictInput>;

export interface HitOutput {
  readonly hit_id: string;
  readonly code: string;
  readonly severity: string;
  readonly intake_party_id: string;
  readonly matched_party_id: string | null;
  readonly subject_party_id: string;
  readonly matter_id: string;
  readonly hops: number;
  readonly match: { readonly score: number; readonly band: string; readonly by: string };
  readonly waivers: readonly string[];
  readonly walls: readonly string[];
  readonly flags?: readonly unknown[];
}

/** Jane Roe at the door, in one role; Jane Roe on file, in another. */
export function firmWith(
  intakeRole: IntakeRole,
  recordRole: RecordRole,
  matter: Partial<Pick<RecordMatter, "status" | "engagement" | "source">> = {},
): Firm {
  return {
    as_of: "2026-07-01",
    intake: {
      intake_id: "I1",
      parties: [
        { party_id: "q1", kind: "person", role: intakeRole, names: [{ name: "Jane Roe" }] },
      ],
    },
    records: {
      parties: [{ party_id: "r1", kind: "person", names: [{ name: "Jane Roe" }] }],
      matters: [
        {
          matter_id: "M1",
          status: "open",
          ...matter,
          roles: [{ party_id: "r1", role: recordRole }],
        },
      ],
    },
  };
}

export function check(firm: Firm) {
  return svcConflictCheck.run(firm as JsonValue);
}

export function hitsOf(firm: Firm): readonly HitOutput[] {
  return check(firm)["hits"] as unknown as readonly HitOutput[];
}

export function notesOf(firm: Firm): readonly { readonly code: string; readonly refs: string[] }[] {
  return check(firm)["exceptions"] as unknown as { code: string; refs: string[] }[];
}
