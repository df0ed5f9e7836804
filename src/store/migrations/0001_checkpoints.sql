-- The attestation key of every start: `record` is certified by the root key's signature over it.
CREATE TABLE attestation_key (
  n INTEGER PRIMARY KEY,
  kid TEXT NOT NULL UNIQUE,
  record BLOB NOT NULL,
  record_hash BLOB NOT NULL,
  signature BLOB NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TRIGGER attestation_key_no_update BEFORE UPDATE ON attestation_key
BEGIN SELECT RAISE(ABORT, 'attestation_key is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER attestation_key_no_delete BEFORE DELETE ON attestation_key
BEGIN SELECT RAISE(ABORT, 'attestation_key is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER attestation_key_must_link BEFORE INSERT ON attestation_key
WHEN NEW.n IS NOT 1 + coalesce((SELECT max(n) FROM attestation_key), 0)
  OR (CAST(NEW.record AS TEXT) ->> '$.prev') IS NOT coalesce(
    (SELECT lower(hex(record_hash)) FROM attestation_key WHERE n = NEW.n - 1),
    '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'attestation_key does not continue its chain'); END;
--> statement-breakpoint
-- `hour` is capture_ts in whole hours: one checkpoint an hour, whoever asks for it and how often.
CREATE TABLE checkpoint (
  n INTEGER PRIMARY KEY,
  hour INTEGER NOT NULL UNIQUE,
  capture_ts INTEGER NOT NULL,
  tree_size INTEGER NOT NULL,
  record BLOB NOT NULL,
  record_hash BLOB NOT NULL,
  note TEXT NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TRIGGER checkpoint_no_update BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'checkpoint is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER checkpoint_no_delete BEFORE DELETE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'checkpoint is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER checkpoint_must_link BEFORE INSERT ON checkpoint
WHEN NEW.n IS NOT 1 + coalesce((SELECT max(n) FROM checkpoint), 0)
  OR NEW.hour <= (SELECT max(hour) FROM checkpoint)
  OR (CAST(NEW.record AS TEXT) ->> '$.prev') IS NOT coalesce(
    (SELECT lower(hex(record_hash)) FROM checkpoint WHERE n = NEW.n - 1),
    '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'checkpoint does not continue its chain'); END;
--> statement-breakpoint
-- Leaves of the tree of heads: a checkpoint adds one for each chain that grew since the last one.
CREATE TABLE head_leaf (
  leaf INTEGER PRIMARY KEY,
  chain_id INTEGER NOT NULL REFERENCES chain (id),
  height INTEGER NOT NULL,
  head_hash BLOB NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX head_leaf_chain ON head_leaf (chain_id, height);
--> statement-breakpoint
CREATE TRIGGER head_leaf_no_update BEFORE UPDATE ON head_leaf
BEGIN SELECT RAISE(ABORT, 'head_leaf is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER head_leaf_no_delete BEFORE DELETE ON head_leaf
BEGIN SELECT RAISE(ABORT, 'head_leaf is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER head_leaf_must_follow BEFORE INSERT ON head_leaf
WHEN NEW.leaf IS NOT 1 + coalesce((SELECT max(leaf) FROM head_leaf), -1)
BEGIN SELECT RAISE(ABORT, 'head_leaf does not continue its tree'); END;
--> statement-breakpoint
-- Hashes of the tree's complete subtrees; level 0 holds the leaves' own.
CREATE TABLE head_node (
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (level, position)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER head_node_no_update BEFORE UPDATE ON head_node
BEGIN SELECT RAISE(ABORT, 'head_node is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER head_node_no_delete BEFORE DELETE ON head_node
BEGIN SELECT RAISE(ABORT, 'head_node is append-only'); END;
--> statement-breakpoint
-- One row per checkpoint and timestamping service: a queue until it is answered, then the proof.
CREATE TABLE anchor (
  checkpoint_n INTEGER NOT NULL REFERENCES checkpoint (n),
  kind TEXT NOT NULL CHECK (kind IN ('ots', 'rfc3161')),
  target TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'pending', 'confirmed')),
  proof BLOB,
  attempts INTEGER NOT NULL,
  next_ts INTEGER NOT NULL,
  last_error TEXT,
  PRIMARY KEY (checkpoint_n, kind, target)
) STRICT;
--> statement-breakpoint
CREATE INDEX anchor_due ON anchor (state, next_ts);
