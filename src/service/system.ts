/** What the server says about itself and about the caller. */
import type { Embedder } from "../runtime/embedder.ts";
import type { Engine } from "../runtime/engine.ts";
import type { Identity } from "../tenant/tenants.ts";
import { EMBEDDING_MODEL } from "./embeddings.ts";

export interface SystemDeps {
  readonly engine: Pick<Engine, "ready" | "tiers" | "whenReady" | "embedder" | "stats">;
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
        /** As of now: answers that run, requests that wait. */
        readonly rows_used: number;
        readonly queued: number;
        readonly device: string;
        readonly deterministic: boolean;
        readonly system_fingerprint: string;
      }
    >
  >;
  /** Where an embedding model is configured. */
  readonly embeddings?: {
    readonly model: string;
    readonly sha256: string;
    readonly context_tokens: number;
    readonly dimensions: number;
    readonly device: string;
    readonly deterministic: boolean;
    readonly system_fingerprint: string;
  };
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
        rows_used: engine.stats(name)?.rowsUsed ?? 0,
        queued: engine.stats(name)?.queued ?? 0,
        device: tier.device,
        deterministic: tier.deterministic,
        system_fingerprint: tier.fingerprint,
      };
      return [name, facts] as const;
    });
    const status = engine.ready ? "ready" : this.#failure === null ? "loading" : "failed";
    const embeddings =
      engine.embedder === null ? {} : { embeddings: embedderFacts(engine.embedder) };
    return { status, message: this.#failure, tiers: Object.fromEntries(tiers), ...embeddings };
  }

  /** The two tiers, whatever serves them, and the embedding model where there is one. */
  models(): readonly Model[] {
    const created = Math.floor(this.#deps.startedMs / 1000);
    const { embedder } = this.#deps.engine;
    const names = ["svc-tier-a", "svc-tier-b", ...(embedder === null ? [] : [EMBEDDING_MODEL])];
    return names.map((id) => ({
      id,
      object: "model",
      created,
      owned_by: SERVICE_NAME,
    }));
  }
}

function embedderFacts({ info }: Pick<Embedder, "info">): NonNullable<Readiness["embeddings"]> {
  return {
    model: info.model,
    sha256: info.digest,
    context_tokens: info.contextTokens,
    dimensions: info.dimensions,
    device: info.device,
    deterministic: info.deterministic,
    system_fingerprint: info.fingerprint,
  };
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
