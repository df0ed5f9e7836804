/** Single named values of the database. */
import { blob, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const metaTable = sqliteTable("meta", {
  name: text("name").primaryKey(),
  value: blob("value", { mode: "buffer" }).notNull(),
});
