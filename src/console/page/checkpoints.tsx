/** The public checkpoints, newest first, and what the server finds when it checks them all. */
import { getIfAny, getJson } from "./api.ts";
import { Facts, Failure, timeOf, useLoaded } from "./parts.tsx";
import type { Session } from "./session.ts";

interface Checkpoint {
  readonly n: number;
  readonly capture_ts: number;
  readonly global_head: string;
  readonly partitions: number;
  readonly tree_size: number;
  readonly record: string;
  readonly note: string;
  readonly anchors: readonly Anchor[];
}

interface Anchor {
  readonly kind: "ots" | "rfc3161";
  readonly target: string;
  readonly state: "queued" | "pending" | "confirmed";
}

/** A day of hours. */
const SHOWN = 24;

/** The newest ones; none before the first. */
async function newest(session: Session): Promise<readonly Checkpoint[]> {
  const latest = await getIfAny<Checkpoint>(session, "/audit/checkpoint/latest");
  if (latest === null) return [];
  const found = [latest];
  while (found.length < SHOWN) {
    const oldest = found.at(-1);
    if (oldest === undefined || oldest.n === 1) break;
    const path = `/audit/checkpoint?ts=${oldest.capture_ts - 1}`;
    found.push(await getJson<Checkpoint>(session, path));
  }
  return found;
}

const verifyAll = (session: Session): Promise<Readonly<Record<string, unknown>>> =>
  getJson(session, "/audit/checkpoint/verify");

export function Checkpoints({ session }: { readonly session: Session }) {
  const list = useLoaded(() => newest(session), [session]);
  const verdict = useLoaded(() => verifyAll(session), [session]);
  return (
    <>
      <p class="lead">
        Once an hour the heads of all chains go into a checkpoint, which names the one before. Keep
        a hash from here: whatever was written before it can no longer be changed unnoticed.
      </p>
      <section class="panel" aria-labelledby="verdict-title">
        <h2 id="verdict-title">All of them, checked by the server just now</h2>
        {verdict.value !== null && (
          <Facts
            facts={Object.entries(verdict.value).map(
              ([name, value]) => [name, <code key={name}>{JSON.stringify(value)}</code>] as const,
            )}
          />
        )}
        <Failure message={verdict.problem} />
      </section>
      <Failure message={list.problem} />
      {list.value?.length === 0 && <p>There is none yet: the first is written within the hour.</p>}
      {list.value !== null && list.value.length > 0 && (
        <div class="panel scroll">
          <table>
            <thead>
              <tr>
                <th class="number">Number</th>
                <th>Time (UTC)</th>
                <th class="number">Chains</th>
                <th class="number">Leaves</th>
                <th>Anchors</th>
                <th>Hash</th>
                <th>Signed note</th>
              </tr>
            </thead>
            <tbody>
              {list.value.map((each) => (
                <tr key={each.n}>
                  <td class="number">{each.n}</td>
                  <td>{timeOf(each.capture_ts)}</td>
                  <td class="number">{each.partitions}</td>
                  <td class="number">{each.tree_size}</td>
                  <td>
                    <Anchors anchors={each.anchors} />
                  </td>
                  <td>
                    <code>{each.global_head}</code>
                  </td>
                  <td>
                    <details>
                      <summary>show</summary>
                      <pre>{each.note}</pre>
                    </details>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

const STYLES = { queued: "warn", pending: "warn", confirmed: "good" } as const;
const KINDS = { ots: "OpenTimestamps", rfc3161: "RFC 3161" } as const;

/** Proofs of a checkpoint's age from elsewhere. */
function Anchors({ anchors }: { readonly anchors: readonly Anchor[] }) {
  if (anchors.length === 0) return <>none asked for</>;
  return (
    <ul class="anchors">
      {anchors.map(({ kind, state, target }) => (
        <li key={`${kind} ${target}`}>
          <span class={`badge ${STYLES[state]}`}>{state}</span> {KINDS[kind]}, {target}
        </li>
      ))}
    </ul>
  );
}
