-- Versions of matter records, one chain of versions for each matter of a tenant's app.
CREATE TABLE matter_version (
  tenant_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  matter_id TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version > 0),
  ts INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('created', 'updated', 'deleted')),
  request_id TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant_id, app_id, matter_id, version)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER matter_version_no_update BEFORE UPDATE ON matter_version
BEGIN SELECT RAISE(ABORT, 'matter_version is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER matter_version_must_link BEFORE INSERT ON matter_version
WHEN NEW.version IS NOT 1 + coalesce(
    (SELECT max(version) FROM matter_version WHERE tenant_id = NEW.tenant_id
      AND app_id = NEW.app_id AND matter_id = NEW.matter_id), 0)
  OR NEW.prev_hash IS NOT coalesce(
    (SELECT content_hash FROM matter_version WHERE tenant_id = NEW.tenant_id
      AND app_id = NEW.app_id AND matter_id = NEW.matter_id AND version = NEW.version - 1),
    '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'matter_version does not continue its chain'); END;
--> statement-breakpoint
-- The newest version of each matter; a deleted one stays as its tombstone.
CREATE TABLE matter (
  n INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  matter_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  ts INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  body TEXT NOT NULL,
  UNIQUE (tenant_id, app_id, matter_id)
) STRICT;
--> statement-breakpoint
-- Folded words of current matters, by `matter.n`.
CREATE VIRTUAL TABLE matter_text USING fts5 (
  clients, parties, people, title, rest, tokenize = "unicode61 remove_diacritics 0"
);
