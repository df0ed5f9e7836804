-- Values that must not be readable in the file, sealed under the master key and bound to their name.
CREATE TABLE sealed (
  name TEXT PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Who signed up by e-mail, by a keyed hash of the address.
CREATE TABLE signup (
  email_mac BLOB PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id),
  created_ts INTEGER NOT NULL,
  -- When the same address came last: an address that is known costs the same write as a new one.
  seen_ts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Every event of the payment provider, once.
CREATE TABLE payment_event (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  created_ts INTEGER NOT NULL,
  handled_ts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- A paid checkout, and the key that its buyer collects once.
CREATE TABLE checkout (
  session_id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id),
  created_ts INTEGER NOT NULL,
  collected_ts INTEGER
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What is known of a subscription; it may be told of before the checkout that made it.
CREATE TABLE subscription (
  id TEXT PRIMARY KEY,
  tenant_id TEXT REFERENCES tenant (id),
  price TEXT,
  status TEXT,
  period_start_ts INTEGER,
  -- When the provider made the newest event that was taken; older ones change nothing.
  event_ts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
