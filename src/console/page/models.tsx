/** What runs behind each tier, and whether it can answer yet. */
import { getReadiness } from "./api.ts";
import { Facts, Failure, useLoaded } from "./parts.tsx";

interface Readiness {
  readonly status: "ready" | "loading" | "failed";
  readonly message: string | null;
  readonly tiers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Health {
  readonly version: string;
  readonly rev: string;
  readonly uptime_s: number;
}

async function load(): Promise<{ readonly readiness: Readiness; readonly health: Health }> {
  const [readiness, health] = await Promise.all([
    getReadiness<Readiness>(),
    fetch("/health", { cache: "no-store" }).then((response) => response.json() as Promise<Health>),
  ]);
  return { readiness, health };
}

const STYLES = { ready: "good", loading: "warn", failed: "bad" } as const;
const REFRESH_MS = 2000;

export function Models() {
  const { problem, value } = useLoaded(load, [], REFRESH_MS);
  return (
    <>
      <Failure message={problem} />
      {value !== null && (
        <>
          <p role="status">
            <span class={`badge ${STYLES[value.readiness.status]}`}>{value.readiness.status}</span>{" "}
            {value.readiness.message}
          </p>
          <div class="columns">
            {Object.entries(value.readiness.tiers).map(([tier, facts]) => (
              <section key={tier} class="panel" aria-label={tier}>
                <h2>{tier}</h2>
                <Facts
                  facts={Object.entries(facts).map(
                    ([name, fact]) =>
                      [name.replaceAll("_", " "), <code key={name}>{String(fact)}</code>] as const,
                  )}
                />
              </section>
            ))}
          </div>
          <section class="panel" aria-labelledby="build-title">
            <h2 id="build-title">Build</h2>
            <Facts
              facts={[
                ["version", value.health.version],
                ["revision", <code key="rev">{value.health.rev}</code>],
                ["up for", `${value.health.uptime_s} s`],
              ]}
            />
          </section>
        </>
      )}
    </>
  );
}
