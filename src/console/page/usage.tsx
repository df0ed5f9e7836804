/** Requests, tokens and latency over time, added up from the tenant's own rows. */
import { useEffect, useRef, useState } from "preact/hooks";
import UPlot from "uplot";
import { getJson } from "./api.ts";
import { Facts, Failure, timeOf, useLoaded } from "./parts.tsx";
import type { Session } from "./session.ts";
import { type Bucket, type UsageFigures, type UsageRow, usageFigures } from "./usage-figures.ts";

const HOUR_MS = 3_600_000;
const RANGES = {
  "last hour": [HOUR_MS, 60_000],
  "last day": [24 * HOUR_MS, HOUR_MS],
  "last 30 days": [720 * HOUR_MS, 24 * HOUR_MS],
} as const;
type Range = keyof typeof RANGES;

/** More rows than this are not loaded into a page. */
const ROWS_MAX = 20_000;

interface Loaded {
  readonly figures: UsageFigures;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly isCut: boolean;
}

async function load(session: Session, range: Range): Promise<Loaded> {
  const [spanMs, bucketMs] = RANGES[range];
  const toMs = Date.now() + 1;
  const fromMs = toMs - spanMs;
  const rows: UsageRow[] = [];
  let after: string | null = null;
  do {
    const more: string = after === null ? "" : `&after=${encodeURIComponent(after)}`;
    const path = `/v1/audit?since=${fromMs}&limit=1000${more}`;
    const slice: { readonly rows: readonly UsageRow[]; readonly next: string | null } =
      await getJson(session, path);
    rows.push(...slice.rows);
    after = slice.next;
  } while (after !== null && rows.length < ROWS_MAX);
  const identity = await getJson<Loaded["identity"]>(session, "/v1/me");
  return { figures: usageFigures(rows, fromMs, toMs, bucketMs), identity, isCut: after !== null };
}

export function Usage({ session }: { readonly session: Session }) {
  const [range, setRange] = useState<Range>("last day");
  const { problem, reload, value } = useLoaded(() => load(session, range), [session, range]);
  return (
    <>
      <section class="panel row" aria-label="Range">
        <label>
          Range
          <select value={range} onChange={(event) => setRange(event.currentTarget.value as Range)}>
            {Object.keys(RANGES).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={reload}>
          Reload
        </button>
      </section>
      <Failure message={problem} />
      {value !== null && <Figures loaded={value} />}
    </>
  );
}

function Figures({ loaded }: { readonly loaded: Loaded }) {
  const { figures, identity, isCut } = loaded;
  const shown: readonly (readonly [string, string])[] = [
    ["requests", figures.requests.toLocaleString("en")],
    ["prompt tokens", figures.promptTokens.toLocaleString("en")],
    ["answer tokens", figures.completionTokens.toLocaleString("en")],
    ["median latency", figures.medianMs === null ? "–" : `${figures.medianMs} ms`],
    ["95 % within", figures.p95Ms === null ? "–" : `${figures.p95Ms} ms`],
  ];
  const { buckets } = figures;
  const quota = identity["monthly_request_quota"];
  return (
    <>
      {isCut && (
        <p class="warn">Only the first {ROWS_MAX.toLocaleString("en")} rows are counted.</p>
      )}
      <div class="figures">
        {shown.map(([name, text]) => (
          <div key={name} class="panel">
            <b>{text}</b>
            {name}
          </div>
        ))}
      </div>
      <section class="panel" aria-label="Over time">
        <Plot title="requests" buckets={buckets} pick={requestsOf} />
        <Plot title="tokens" buckets={buckets} pick={tokensOf} />
        <Plot title="median latency, ms" buckets={buckets} pick={latencyOf} />
        <details>
          <summary>As a table</summary>
          <BucketTable buckets={buckets} />
        </details>
      </section>
      <section class="panel" aria-labelledby="quota-title">
        <h2 id="quota-title">Quota</h2>
        <Facts
          facts={[
            ["package", String(identity["package_id"] ?? "none")],
            ["requests a month", quota === null ? "no limit" : String(quota)],
          ]}
        />
      </section>
    </>
  );
}

function BucketTable({ buckets }: { readonly buckets: readonly Bucket[] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>From (UTC)</th>
            <th class="number">Requests</th>
            <th class="number">Tokens</th>
            <th class="number">Median ms</th>
          </tr>
        </thead>
        <tbody>
          {buckets
            .filter(({ requests }) => requests > 0)
            .map(({ medianMs, requests, startMs, tokens }) => (
              <tr key={startMs}>
                <td>{timeOf(startMs)}</td>
                <td class="number">{requests}</td>
                <td class="number">{tokens}</td>
                <td class="number">{medianMs}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

interface PlotProps {
  readonly title: string;
  readonly buckets: readonly Bucket[];
  readonly pick: (bucket: Bucket) => number | null;
}

const requestsOf = ({ requests }: Bucket): number => requests;
const tokensOf = ({ tokens }: Bucket): number => tokens;
const latencyOf = ({ medianMs }: Bucket): number | null => medianMs;

/** Drawn on a canvas; the table says the same to those who do not see it. */
function Plot({ buckets, pick, title }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const isDark = useDark();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const line = { stroke: color("--line"), width: 1 };
    const axis = { stroke: color("--muted"), grid: line, ticks: line };
    const bars = UPlot.paths.bars?.({ size: [0.8, 40] });
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: 150,
        title,
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [axis, { ...axis, size: 60 }],
        series: [
          {},
          {
            label: title,
            stroke: color("--accent"),
            fill: `${color("--accent")}66`,
            points: { show: false },
            ...(bars && { paths: bars }),
          },
        ],
      },
      [buckets.map(({ startMs }) => startMs / 1000), buckets.map(pick)],
      element,
    );
    const onResize = (): void => plot.setSize({ width: element.clientWidth, height: 150 });
    addEventListener("resize", onResize);
    return () => {
      removeEventListener("resize", onResize);
      plot.destroy();
    };
  }, [buckets, isDark, pick, title]);
  return <div ref={place} class="plot" aria-hidden="true" />;
}

/** Colours on a canvas do not follow the style sheet by themselves. */
function useDark(): boolean {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [isDark, setIsDark] = useState(query.matches);
  useEffect(() => {
    const onChange = (): void => setIsDark(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, [query]);
  return isDark;
}
