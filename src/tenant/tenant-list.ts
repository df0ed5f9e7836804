/** Tenants as the operator sees them. */
import { asc } from "drizzle-orm";
import type { Store } from "../store/store.ts";
import { tenantTable } from "./tables.ts";

export interface TenantFacts {
  readonly tenantId: string;
  readonly name: string;
  readonly type: "subscriber" | "operator";
  /** Unix milliseconds. */
  readonly createdTs: number;
  readonly packageId: string | null;
  readonly cycleAnchorTs: number | null;
  /** Chats that ask for it are kept. */
  readonly storesRequests: boolean;
}

/** The oldest first. */
export function listTenants(store: Store): TenantFacts[] {
  const rows = store.reads
    .select()
    .from(tenantTable)
    .orderBy(asc(tenantTable.createdTs), asc(tenantTable.id))
    .all();
  return rows.map(({ id: tenantId, ...rest }) => ({ tenantId, ...rest }));
}
