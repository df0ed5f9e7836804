/** What the server says about itself and about the caller. */
import type { Engine } from "../runtime/engine.ts";
import type { Identity } from "../tenant/tenants.ts";

export interface SystemDeps {
  readonly engine: Pick<Engine, "ready" | "tiers" | "whenReady">;
  readonly version: string;
  readonly rev: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly nowMs: () => number;
}

export interface Health {
  readonly status: "ok";
  readonly service: string;
  readonly version: string;
  readonly rev: string;
  readonly uptime_s: number;
  readonly timestamp: string;
}

export interface Readiness {
  readonly status: "ready" | "loading" | "failed";
  /** Why loading failed. */
  readonly message: string | null;
  readonly tiers: Readonly<
    Record<
      string,
      {
        readonly model: string;
        readonly sha256: string;
        readonly context_tokens: number;
        readonly rows: number;
        readonly device: string;
        readonly deterministic: boolean;
        readonly system_fingerprint: string;
      }
    >
  >;
}

/** The service's own label, in `/health` and as `owned_by` of its models. */
const SERVICE_NAME = "svc";

export class System {
  readonly #deps: SystemDeps;
  #failure: string | null = null;

  constructor(deps: SystemDeps) {
    this.#deps = deps;
    deps.engine.whenReady.catch((error: unknown) => {
      this.#failure = error instanceof Error ? error.message : "the models could not be loaded";
    });
  }

  get version(): string {
    return this.#deps.version;
  }

  health(): Health {
    const { nowMs, startedMs, version, rev } = this.#deps;
    const now = nowMs();
    return {
      status: "ok",
      service: SERVICE_NAME,
      version,
      rev,
      uptime_s: Math.max(0, Math.floor((now - startedMs) / 1000)),
      timestamp: new Date(now).toISOString(),
    };
  }

  readiness(): Readiness {
    const { engine } = this.#deps;
    const tiers = [...engine.tiers].map(([name, tier]) => {
      const facts = {
        model: tier.model,
        sha256: tier.digest,
        context_tokens: tier.contextTokens,
        rows: tier.rows,
        device: tier.device,
        deterministic: tier.deterministic,
        system_fingerprint: tier.fingerprint,
      };
      return [name, facts] as const;
    });
    const status = engine.ready ? "ready" : this.#failure === null ? "loading" : "failed";
    return { status, message: this.#failure, tiers: Object.fromEntries(tiers) };
  }

  /** The two tiers, whatever serves them. */
  models(): readonly Model[] {
    const created = Math.floor(this.#deps.startedMs / 1000);
    return ["svc-tier-a", "svc-tier-b"].map((id) => ({
      id,
      object: "model",
      created,
      owned_by: SERVICE_NAME,
    }));
  }
}

export interface Model {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

/** The response of `GET /v1/me`. */
export function identityBody(identity: Identity): Readonly<Record<string, unknown>> {
  return {
    ok: true,
    tenant_id: identity.tenantId,
    tenant_type: identity.tenantType,
    key_id: identity.keyId,
    app_id: identity.appId,
    tier: identity.tier,
    scheme: identity.scheme,
    active: identity.active,
    monthly_request_quota: identity.monthlyRequestQuota,
    allowed_model_tiers: identity.allowedModelTiers,
    package_id: identity.packageId,
    cycle_start_ms: identity.cycleStartMs,
  };
}
