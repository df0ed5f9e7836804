-- What a tenant may use. A tenant without a package has no limits.
CREATE TABLE package (
  id TEXT PRIMARY KEY,
  tier TEXT NOT NULL,
  -- Metered calls a UTC day, a billing month, and requests a minute and key; NULL: no limit.
  daily_requests INTEGER CHECK (daily_requests >= 0),
  monthly_requests INTEGER CHECK (monthly_requests >= 0),
  requests_per_minute INTEGER CHECK (requests_per_minute > 0),
  -- A JSON array of model aliases.
  model_tiers TEXT NOT NULL CHECK (json_type(model_tiers) = 'array'),
  -- The payment provider's price that buys it.
  stripe_price TEXT UNIQUE
) STRICT;
--> statement-breakpoint
INSERT INTO package VALUES ('free', 'free', 100, NULL, 60, '["svc-tier-a","svc-tier-b"]', NULL);
--> statement-breakpoint
ALTER TABLE tenant ADD COLUMN package_id TEXT REFERENCES package (id);
--> statement-breakpoint
-- Billing months are counted from here.
ALTER TABLE tenant ADD COLUMN cycle_anchor_ts INTEGER;
--> statement-breakpoint
CREATE INDEX api_key_tenant ON api_key (tenant_id);
