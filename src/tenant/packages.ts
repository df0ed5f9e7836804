/** Packages: what a tenant may use, and what each key is told about it. */
import { asc, eq } from "drizzle-orm";
import type { Store } from "../store/store.ts";
import { packageTable, tenantTable } from "./tables.ts";
import { TenantError } from "./tenant-error.ts";

export interface Package {
  /** What tenants and payments name it by. */
  readonly id: string;
  readonly tier: string;
  /** Metered calls a UTC day; null: no limit. */
  readonly dailyRequests: number | null;
  /** Metered calls a billing month. */
  readonly monthlyRequests: number | null;
  /** Requests a minute of each key. */
  readonly requestsPerMinute: number | null;
  readonly modelTiers: readonly string[];
  /** The payment provider's price that buys this package. */
  readonly stripePrice: string | null;
}

const PACKAGE_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const MODEL_TIER = /^[a-z0-9][a-z0-9._-]{0,62}$/;

export class Packages {
  readonly #store: Store;
  readonly #byId: Map<string, Package>;

  constructor(store: Store) {
    this.#store = store;
    const rows = store.db.select().from(packageTable).orderBy(asc(packageTable.id)).all();
    this.#byId = new Map(rows.map((row) => [row.id, { ...row, modelTiers: row.modelTiers }]));
  }

  /** By id. */
  all(): readonly Package[] {
    return [...this.#byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** @throws TenantError `unknown_package`. */
  get(id: string): Package {
    const found = this.#byId.get(id);
    if (found !== undefined) return found;
    const known = this.all().map((each) => each.id);
    const message = `there is no package ${JSON.stringify(id)}; there are: ${known.join(", ")}`;
    throw new TenantError("unknown_package", message);
  }

  /** @returns null when no package has this price. */
  ofPrice(stripePrice: string): Package | null {
    return this.all().find((each) => each.stripePrice === stripePrice) ?? null;
  }

  /**
   * Makes a package or changes one: tenants that have it are bound by the new limits at once.
   * @throws TenantError `invalid_package`, saying which member.
   */
  put(given: Package): void {
    assertPackage(given);
    const { id, ...rest } = given;
    const other = given.stripePrice === null ? null : this.ofPrice(given.stripePrice);
    if (other !== null && other.id !== id) {
      throw invalid("stripe_price", `is the price of package ${other.id} already`);
    }
    const values = { ...rest, modelTiers: [...given.modelTiers] };
    this.#store.transact(() =>
      this.#store.db
        .insert(packageTable)
        .values({ id, ...values })
        .onConflictDoUpdate({ target: packageTable.id, set: values })
        .run(),
    );
    this.#byId.set(id, { ...given, modelTiers: values.modelTiers });
  }

  /** @throws TenantError `unknown_package`; `package_in_use` while a tenant has it. */
  remove(id: string): void {
    this.get(id);
    const { db } = this.#store;
    const holder = db.select().from(tenantTable).where(eq(tenantTable.packageId, id)).get();
    if (holder !== undefined) {
      throw new TenantError("package_in_use", `tenant ${holder.id} has package ${id}`);
    }
    this.#store.transact(() => db.delete(packageTable).where(eq(packageTable.id, id)).run());
    this.#byId.delete(id);
  }
}

function assertPackage(given: Package): void {
  if (!PACKAGE_ID.test(given.id)) throw invalid("id", `does not match ${PACKAGE_ID.source}`);
  if (!PACKAGE_ID.test(given.tier)) throw invalid("tier", `does not match ${PACKAGE_ID.source}`);
  const counts: readonly (readonly [string, number | null, number])[] = [
    ["daily_requests", given.dailyRequests, 0],
    ["monthly_requests", given.monthlyRequests, 0],
    ["requests_per_minute", given.requestsPerMinute, 1],
  ];
  for (const [name, count, min] of counts) {
    if (count === null || (Number.isSafeInteger(count) && count >= min)) continue;
    throw invalid(name, `is neither null nor a whole number of at least ${min}`);
  }
  if (given.modelTiers.length === 0 || !given.modelTiers.every((tier) => MODEL_TIER.test(tier))) {
    throw invalid("model_tiers", "is not a list of model aliases");
  }
  if (given.stripePrice !== null && !/^[A-Za-z0-9_]{1,255}$/.test(given.stripePrice)) {
    throw invalid("stripe_price", "is not the id of a price");
  }
}

function invalid(member: string, problem: string): TenantError {
  return new TenantError("invalid_package", `a package's ${member} ${problem}`);
}
