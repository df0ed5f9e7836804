/** The anchors' queue as drizzle sees it; the SQL is in `store/migrations`. */
import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const anchorTable = sqliteTable(
  "anchor",
  {
    checkpointN: integer("checkpoint_n").notNull(),
    kind: text("kind", { enum: ["ots", "rfc3161"] }).notNull(),
    target: text("target").notNull(),
    state: text("state", { enum: ["queued", "pending", "confirmed"] }).notNull(),
    proof: blob("proof", { mode: "buffer" }),
    attempts: integer("attempts").notNull(),
    nextTs: integer("next_ts").notNull(),
    lastError: text("last_error"),
  },
  (table) => [primaryKey({ columns: [table.checkpointN, table.kind, table.target] })],
);
