/** The tables of tenants and keys as drizzle sees them; the SQL is in `store/migrations`. */
import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const tenantTable = sqliteTable("tenant", {
  id: text("id").primaryKey(),
  name: text("name").notNull().unique(),
  type: text("type", { enum: ["subscriber", "operator"] }).notNull(),
  createdTs: integer("created_ts").notNull(),
  packageId: text("package_id"),
  cycleAnchorTs: integer("cycle_anchor_ts"),
  storesRequests: integer("stores_requests", { mode: "boolean" }).notNull().default(false),
});

export const packageTable = sqliteTable("package", {
  id: text("id").primaryKey(),
  tier: text("tier").notNull(),
  dailyRequests: integer("daily_requests"),
  monthlyRequests: integer("monthly_requests"),
  requestsPerMinute: integer("requests_per_minute"),
  modelTiers: text("model_tiers", { mode: "json" }).$type<string[]>().notNull(),
  stripePrice: text("stripe_price").unique(),
});

export const tenantSecretTable = sqliteTable(
  "tenant_secret",
  {
    tenantId: text("tenant_id").notNull(),
    epoch: integer("epoch").notNull(),
    sealed: blob("sealed", { mode: "buffer" }).notNull(),
    createdTs: integer("created_ts").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.epoch] })],
);

export const appTable = sqliteTable(
  "app",
  {
    tenantId: text("tenant_id").notNull(),
    id: text("id").notNull(),
    createdTs: integer("created_ts").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);

export const apiKeyTable = sqliteTable("api_key", {
  id: text("id").primaryKey(),
  keyHash: blob("key_hash", { mode: "buffer" }).notNull().unique(),
  tenantId: text("tenant_id").notNull(),
  appId: text("app_id").notNull(),
  createdTs: integer("created_ts").notNull(),
  revokedTs: integer("revoked_ts"),
  publicKey: blob("public_key", { mode: "buffer" }),
});

export const sealedTable = sqliteTable("sealed", {
  name: text("name").primaryKey(),
  sealed: blob("sealed", { mode: "buffer" }).notNull(),
});

export const signupTable = sqliteTable("signup", {
  emailMac: blob("email_mac", { mode: "buffer" }).primaryKey(),
  tenantId: text("tenant_id").notNull(),
  createdTs: integer("created_ts").notNull(),
  seenTs: integer("seen_ts").notNull(),
});

export const paymentEventTable = sqliteTable("payment_event", {
  id: text("id").primaryKey(),
  type: text("type").notNull(),
  createdTs: integer("created_ts").notNull(),
  handledTs: integer("handled_ts").notNull(),
});

export const checkoutTable = sqliteTable("checkout", {
  sessionId: text("session_id").primaryKey(),
  tenantId: text("tenant_id").notNull(),
  createdTs: integer("created_ts").notNull(),
  collectedTs: integer("collected_ts"),
});

export const subscriptionTable = sqliteTable("subscription", {
  id: text("id").primaryKey(),
  tenantId: text("tenant_id"),
  price: text("price"),
  status: text("status"),
  periodStartTs: integer("period_start_ts"),
  eventTs: integer("event_ts").notNull(),
});

export const requestNonceTable = sqliteTable(
  "request_nonce",
  {
    untilS: integer("until_s").notNull(),
    keyId: text("key_id").notNull(),
    nonce: text("nonce").notNull(),
  },
  (table) => [primaryKey({ columns: [table.untilS, table.keyId, table.nonce] })],
);

export const replayTable = sqliteTable("replay", {
  id: integer("id").primaryKey(),
  tenantId: text("tenant_id").notNull(),
  nameHash: blob("name_hash", { mode: "buffer" }).notNull(),
  requestHash: blob("request_hash", { mode: "buffer" }).notNull(),
  expiresTs: integer("expires_ts").notNull(),
  bytes: integer("bytes").notNull(),
  sealed: blob("sealed", { mode: "buffer" }).notNull(),
});
