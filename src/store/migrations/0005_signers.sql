-- A key that signs requests instead of being sent: its Ed25519 public key. NULL: a bearer key.
ALTER TABLE api_key ADD COLUMN public_key BLOB;
