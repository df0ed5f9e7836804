/** The ledger's tables as drizzle sees them; the SQL is in `store/migrations`. */
import {
  blob,
  integer,
  primaryKey,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

export const chainTable = sqliteTable(
  "chain",
  {
    id: integer("id").primaryKey(),
    tenantId: text("tenant_id").notNull(),
    appId: text("app_id").notNull(),
  },
  (table) => [unique().on(table.tenantId, table.appId)],
);

export const rowTable = sqliteTable(
  "ledger_row",
  {
    id: integer("id").primaryKey(),
    chainId: integer("chain_id").notNull(),
    seq: integer("seq").notNull(),
    ts: integer("ts").notNull(),
    requestId: text("request_id").notNull(),
    body: blob("body", { mode: "buffer" }).notNull(),
    rowHash: blob("row_hash", { mode: "buffer" }).notNull(),
    rowMac: blob("row_mac", { mode: "buffer" }).notNull(),
  },
  (table) => [
    uniqueIndex("ledger_row_chain_seq").on(table.chainId, table.seq),
    uniqueIndex("ledger_row_request").on(table.requestId),
  ],
);

export const attestationKeyTable = sqliteTable("attestation_key", {
  n: integer("n").primaryKey(),
  kid: text("kid").notNull().unique(),
  record: blob("record", { mode: "buffer" }).notNull(),
  recordHash: blob("record_hash", { mode: "buffer" }).notNull(),
  signature: blob("signature", { mode: "buffer" }).notNull(),
});

export const checkpointTable = sqliteTable("checkpoint", {
  n: integer("n").primaryKey(),
  hour: integer("hour").notNull().unique(),
  captureTs: integer("capture_ts").notNull(),
  treeSize: integer("tree_size").notNull(),
  record: blob("record", { mode: "buffer" }).notNull(),
  recordHash: blob("record_hash", { mode: "buffer" }).notNull(),
  note: text("note").notNull(),
});

export const headLeafTable = sqliteTable(
  "head_leaf",
  {
    leaf: integer("leaf").primaryKey(),
    chainId: integer("chain_id").notNull(),
    height: integer("height").notNull(),
    headHash: blob("head_hash", { mode: "buffer" }).notNull(),
  },
  (table) => [uniqueIndex("head_leaf_chain").on(table.chainId, table.height)],
);

export const headNodeTable = sqliteTable(
  "head_node",
  {
    level: integer("level").notNull(),
    position: integer("position").notNull(),
    hash: blob("hash", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.level, table.position] })],
);
