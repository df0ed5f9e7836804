/** One thing that `svc doctor` looked at. */
export interface Check {
  readonly name: string;
  /** `warn`: it works, but not as well as it could. */
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** What to do; null where all is well. */
  readonly fix: string | null;
}
