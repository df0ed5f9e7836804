-- Nonces of signed requests, for as long as their signatures would pass.
CREATE TABLE request_nonce (
  -- Unix seconds.
  until_s INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  PRIMARY KEY (until_s, key_id, nonce)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- Answers that are given again under their Idempotency-Key, sealed under the master key.
CREATE TABLE replay (
  -- Ascending: the oldest first.
  id INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id),
  -- SHA-256 of app and Idempotency-Key.
  name_hash BLOB NOT NULL,
  -- SHA-256 of everything that the answer depends on.
  request_hash BLOB NOT NULL,
  expires_ts INTEGER NOT NULL,
  -- What it costs: the length of what is sealed, and some more.
  bytes INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  UNIQUE (tenant_id, name_hash)
) STRICT;
