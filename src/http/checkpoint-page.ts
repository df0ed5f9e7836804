/** The public page of checkpoints: plain HTML, no script. The console shows more. */
import type { Audit } from "../service/audit.ts";
import { layout } from "./sign-up-page.ts";

/** Enough of a hash to compare by eye. */
const PREFIX_DIGITS = 16;

/** @param facts null before the first checkpoint. */
export function checkpointPage(facts: ReturnType<Audit["checkpointFacts"]>): string {
  if (facts === null) return layout("Checkpoints", "<p>There is no checkpoint yet.</p>");
  const { latest, files } = facts;
  const links = files.map((name) => `<a href="/audit/checkpoint/${name}">${name}</a>`);
  return layout(
    "Checkpoints",
    `<p>Every hour the heads of all chains go into a checkpoint, which names the one before it. Keep
one, and nobody can show you another history.</p>
<dl>
<dt>Last checkpoint</dt><dd><time datetime="${latest.captured_at}">${latest.captured_at}</time></dd>
<dt>Global head</dt><dd><code>${latest.global_head.slice(0, PREFIX_DIGITS)}…</code></dd>
<dt>Partitions snapshotted</dt><dd>${latest.partitions}</dd>
<dt>Checkpoints in the chain</dt><dd>${latest.n}</dd>
<dt>Files</dt><dd>${links.join("<br>")}</dd>
</dl>
<p><a href="/audit/checkpoint/latest">latest</a> · <a href="/audit/checkpoint/verify">verify</a> ·
<a href="/attestation/keys">keys</a></p>`,
  );
}
