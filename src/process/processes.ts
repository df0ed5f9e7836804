/** Every engine of this build. An engine that was ever released stays in this list. */
import { citeCheck } from "./citation/process.ts";
import { svcConflictCheck } from "./conflict/process.ts";
import { deadlineCompute } from "./deadline/process.ts";
import type { ProcessEngine } from "./definition.ts";
import { ioltaReconcile } from "./iolta/process.ts";
import { ledesValidate } from "./ledes/process.ts";

export const PROCESS_ENGINES: readonly ProcessEngine[] = [
  ioltaReconcile,
  svcConflictCheck,
  deadlineCompute,
  ledesValidate,
  citeCheck,
];
