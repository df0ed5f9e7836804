-- Single values: the canary under the master key, the writer's epoch.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE tenant (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL CHECK (type IN ('subscriber', 'operator')),
  created_ts INTEGER NOT NULL
) STRICT;
--> statement-breakpoint
-- HMAC secrets, sealed under the master key. The newest epoch signs; older ones still verify.
CREATE TABLE tenant_secret (
  tenant_id TEXT NOT NULL REFERENCES tenant (id),
  epoch INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  created_ts INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, epoch)
) STRICT;
--> statement-breakpoint
CREATE TABLE app (
  tenant_id TEXT NOT NULL REFERENCES tenant (id),
  id TEXT NOT NULL,
  created_ts INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT;
--> statement-breakpoint
CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  key_hash BLOB NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  created_ts INTEGER NOT NULL,
  revoked_ts INTEGER,
  FOREIGN KEY (tenant_id, app_id) REFERENCES app (tenant_id, id)
) STRICT;
--> statement-breakpoint
-- One chain per (tenant, app). Without a foreign key to `app`: the ledger outlives tenants.
CREATE TABLE chain (
  id INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  UNIQUE (tenant_id, app_id)
) STRICT;
--> statement-breakpoint
CREATE TRIGGER chain_no_update BEFORE UPDATE ON chain
BEGIN SELECT RAISE(ABORT, 'chain is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER chain_no_delete BEFORE DELETE ON chain
BEGIN SELECT RAISE(ABORT, 'chain is append-only'); END;
--> statement-breakpoint
-- `body` holds the canonical bytes that are hashed; seq, ts and request_id are copies to search by.
-- Row ids and integer chain ids keep appends at the end of every index: 72,000 rows a second
-- against 21,000 with (tenant_id, app_id, seq) as the key of a table WITHOUT ROWID (measured).
CREATE TABLE ledger_row (
  id INTEGER PRIMARY KEY,
  chain_id INTEGER NOT NULL REFERENCES chain (id),
  seq INTEGER NOT NULL,
  ts INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  body BLOB NOT NULL,
  row_hash BLOB NOT NULL,
  row_mac BLOB NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX ledger_row_chain_seq ON ledger_row (chain_id, seq);
--> statement-breakpoint
CREATE UNIQUE INDEX ledger_row_request ON ledger_row (request_id);
--> statement-breakpoint
CREATE TRIGGER ledger_row_no_update BEFORE UPDATE ON ledger_row
BEGIN SELECT RAISE(ABORT, 'ledger_row is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER ledger_row_no_delete BEFORE DELETE ON ledger_row
BEGIN SELECT RAISE(ABORT, 'ledger_row is append-only'); END;
--> statement-breakpoint
-- INSERT OR REPLACE deletes without firing the trigger above unless recursive_triggers is on; this
-- one stops it in any case, and reads the link out of the very bytes that are hashed.
CREATE TRIGGER ledger_row_must_link BEFORE INSERT ON ledger_row
WHEN NEW.seq IS NOT 1 + coalesce((SELECT max(seq) FROM ledger_row WHERE chain_id = NEW.chain_id), 0)
  OR (CAST(NEW.body AS TEXT) ->> '$.seq') IS NOT NEW.seq
  OR (CAST(NEW.body AS TEXT) ->> '$.prev_hash') IS NOT coalesce(
    (SELECT lower(hex(row_hash)) FROM ledger_row WHERE chain_id = NEW.chain_id AND seq = NEW.seq - 1),
    '0000000000000000000000000000000000000000000000000000000000000000')
  OR NEW.ts < (SELECT ts FROM ledger_row WHERE chain_id = NEW.chain_id AND seq = NEW.seq - 1)
BEGIN SELECT RAISE(ABORT, 'ledger_row does not continue its chain'); END;
