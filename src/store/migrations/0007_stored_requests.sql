-- Whether the tenant's chats may be kept where they ask for it: switched on by the tenant, 1 or 0.
ALTER TABLE tenant ADD COLUMN stores_requests INTEGER NOT NULL DEFAULT 0 CHECK (stores_requests IN (0, 1));
