/**
 * Recording a billable call. `service/metered-call.ts` is the only module that may import this one
 * (a test sees to it): "exactly one row per billable call" has one home.
 */
import type { Ledger } from "./ledger.ts";
import type { CallRow } from "./row.ts";
import type { AppendedRow } from "./row-writer.ts";

/**
 * Appends one row to the chain of the call's tenant and app.
 * @param onDurable called in the step in which the row begins to count, before anything else runs:
 *   give it the call's reservation to release. Not called when there is no row.
 * @param alongside writes what must be durable with the row or not at all, in its transaction.
 * @returns once the row is durable. Only then may anything be signed or sent.
 * @throws (rejects) LedgerError `ledger_busy`, `clock_behind`, `duplicate_request_id`, `closed`;
 *   StoreError `disk_full`, `read_only`, `busy`: there is no row. StoreError `state_unknown`: it
 *   cannot be known, and the process is about to end.
 */
export function appendCall(
  ledger: Ledger,
  call: CallRow,
  onDurable?: () => void,
  alongside?: (row: AppendedRow) => void,
): Promise<AppendedRow> {
  return ledger.writer.push(call, onDurable, alongside);
}
