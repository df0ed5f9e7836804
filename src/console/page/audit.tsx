/** The tenant's rows, each chain followed here in the browser, and a break where it is. */
import { useState } from "preact/hooks";
import { findBreak, type ServedRow } from "../../verify/online.ts";
import { getBlob, getJson } from "./api.ts";
import { Failure, timeOf, useLoaded } from "./parts.tsx";
import type { Session } from "./session.ts";

interface Slice {
  readonly rows: readonly ServedRow[];
  readonly chain_ok: boolean;
  readonly chain_break: Readonly<Record<string, unknown>> | null;
  readonly next: string | null;
}

const ROWS = 100;

export function Audit({ session }: { readonly session: Session }) {
  const [since, setSince] = useState("");
  const [appId, setAppId] = useState("");
  const [after, setAfter] = useState<string | null>(null);
  const query = new URLSearchParams({ limit: String(ROWS) });
  if (since !== "") query.set("since", String(Date.parse(`${since}Z`)));
  if (appId !== "") query.set("app_id", appId);
  if (after !== null) query.set("after", after);
  const path = `/v1/audit?${query}`;
  const loaded = useLoaded(() => getJson<Slice>(session, path), [path, session]);
  const slice = loaded.value;
  return (
    <>
      <p class="lead">
        Each billable call is one row; each row names the one before it by its hash. Your browser
        derives every hash on this page again.
      </p>
      <section class="panel row" aria-label="Which rows">
        <label>
          From (UTC)
          <input
            type="datetime-local"
            value={since}
            onInput={(event) => {
              setSince(event.currentTarget.value);
              setAfter(null);
            }}
          />
        </label>
        <label>
          App
          <input
            placeholder="all apps"
            value={appId}
            onInput={(event) => {
              setAppId(event.currentTarget.value);
              setAfter(null);
            }}
          />
        </label>
        <button type="button" onClick={loaded.reload}>
          Reload
        </button>
        <button type="button" disabled={!slice?.next} onClick={() => setAfter(slice?.next ?? null)}>
          Later rows
        </button>
        <button type="button" disabled={after === null} onClick={() => setAfter(null)}>
          From the start
        </button>
        <ExportButton session={session} />
      </section>
      <Failure message={loaded.problem} />
      {slice !== null && <Rows slice={slice} />}
    </>
  );
}

function ExportButton({ session }: { readonly session: Session }) {
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    try {
      const url = URL.createObjectURL(await getBlob(session, "/v1/audit/export"));
      const link = document.createElement("a");
      link.href = url;
      link.download = "svc-export.tar";
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>
        Download an export
      </button>
      {problem !== null && <Failure message={problem} />}
    </>
  );
}

function Rows({ slice }: { readonly slice: Slice }) {
  const { chain_break: serverBreak, chain_ok: serverOk, rows } = slice;
  const [chosen, setChosen] = useState<number | null>(null);
  const broken = findBreak(rows);
  const row = chosen === null ? undefined : rows[chosen];
  if (rows.length === 0) return <p>There are no rows here.</p>;
  return (
    <>
      <p role="status" data-testid="chain-status">
        {broken === null ? (
          <span class="badge good">{rows.length} rows, every hash and link holds</span>
        ) : (
          <span class="badge bad">
            Broken at row {broken.index + 1}: {broken.message}
          </span>
        )}{" "}
        {serverOk ? (
          <span class="muted">The server finds its chain whole.</span>
        ) : (
          <span class="bad wrap">
            The server reports a break:{" "}
            {Object.entries(serverBreak ?? {})
              .map(([name, value]) => `${name} ${String(value)}`)
              .join(", ")}
          </span>
        )}
      </p>
      <div class="panel scroll">
        <table>
          <thead>
            <tr>
              <th aria-label="Chain" />
              <th class="number">Height</th>
              <th>App</th>
              <th>Time (UTC)</th>
              <th>Call</th>
              <th class="number">Status</th>
              <th>Model</th>
              <th class="number">Tokens</th>
              <th class="number">ms</th>
              <th>Hash</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((each, index) => (
              <tr key={String(each["row_hash"])} class={broken?.index === index ? "broken" : ""}>
                <td class="chain">
                  <Link isBroken={broken?.index === index} />
                </td>
                <td class="number">{String(each["seq"])}</td>
                <td>{String(each["app_id"])}</td>
                <td>{timeOf(Number(each["ts"]))}</td>
                <td>
                  <code>{String(each["path"])}</code>
                </td>
                <td class="number">{String(each["status"])}</td>
                <td>{String(each["model"] ?? "")}</td>
                <td class="number">
                  {String(each["prompt_tokens"])} + {String(each["completion_tokens"])}
                </td>
                <td class="number">{String(each["ms"])}</td>
                <td>
                  <button type="button" class="mono" onClick={() => setChosen(index)}>
                    {String(each["row_hash"]).slice(0, 12)}…
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {row !== undefined && (
        <section class="panel" aria-labelledby="row-title">
          <h2 id="row-title">Row {String(row["seq"])}</h2>
          <pre>{JSON.stringify(row, null, 2)}</pre>
        </section>
      )}
    </>
  );
}

/** A link of the chain; torn where it does not hold. */
function Link({ isBroken }: { readonly isBroken: boolean }) {
  return (
    <svg viewBox="0 0 20 34" role="img" aria-label={isBroken ? "broken here" : "linked"}>
      <rect x="6" y="10" width="8" height="14" rx="4" />
      {isBroken ? <path d="M10 0v3M7 4l6 3" /> : <path d="M10 0v12" />}
      <path d="M10 22v12" />
    </svg>
  );
}
