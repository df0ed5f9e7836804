/** What a caller can get wrong about tenants and keys. */
export type TenantErrorCode =
  | "invalid_tenant_name"
  | "invalid_app_name"
  | "invalid_email"
  /** A public key that is not safe, not proven to be held, or registered already. */
  | "invalid_public_key"
  /** Of those that sign requests: revoke one first. */
  | "too_many_keys"
  | "unknown_key"
  | "unknown_tenant"
  /** An event that is not the payment provider's, or not one at all. */
  | "bad_payment_event"
  | "unknown_package"
  | "invalid_package"
  /** A tenant has the package: give it another one first. */
  | "package_in_use"
  | "wrong_master_key";

export class TenantError extends Error {
  override readonly name = "TenantError";
  readonly code: TenantErrorCode;
  constructor(code: TenantErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
