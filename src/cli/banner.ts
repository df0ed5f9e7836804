/** What a start prints once it can answer. */

import type { Config } from "../config.ts";
import type { Gateway } from "../gateway.ts";
import { EMBEDDING_MODEL } from "../service/embeddings.ts";
import { createdKeyBody } from "../tenant/key-wire.ts";
import type { CreatedKey } from "../tenant/tenants.ts";
import { type CliIo, print, printJson, printTable, styled } from "./io.ts";
import { curlSnippet, javascriptSnippet, opensslSnippet, pythonSnippet } from "./snippets.ts";
import { mebibytes } from "./units.ts";

export interface ReadyFacts {
  readonly config: Config;
  readonly gateway: Pick<Gateway, "engine" | "rev" | "version">;
  readonly url: string;
  /** Of a first start; null later, when a key can no longer be shown. */
  readonly key: CreatedKey | null;
  readonly isJson: boolean;
}

export function printReady(io: CliIo, facts: ReadyFacts): void {
  if (facts.isJson) printReadyJson(io, facts);
  else printReadyText(io, facts);
}

function printReadyJson(io: CliIo, { gateway, key, url }: ReadyFacts): void {
  const tiers = [...gateway.engine.tiers].map(([tier, info]) => ({
    tier,
    model: info.model,
    sha256: info.digest,
    device: info.device,
    threads: info.threads,
    context_tokens: info.contextTokens,
    rows: info.rows,
  }));
  const made = key && createdKeyBody(key);
  printJson(io, { event: "ready", url, tiers, first_key: made });
}

function printReadyText(io: CliIo, { config, gateway, key, url }: ReadyFacts): void {
  const rows: string[][] = [
    ["address", styled(io, "bold", url)],
    ["console", `${url}/console`],
  ];
  if (key === null) {
    rows.push(["key", "as shown at the first start; another: svc keys create --tenant local"]);
  } else {
    rows.push(["key", styled(io, "bold", key.apiKey)], ["hmac secret", key.hmacSecret]);
  }
  for (const [tier, info] of gateway.engine.tiers) {
    const { cellsBytes, contextTokens, device, model, threads, weightsBytes } = info;
    const on =
      device === "cpu" ? `CPU, ${threads} ${threads === 1 ? "thread" : "threads"}` : device;
    const memory = mebibytes(weightsBytes + cellsBytes);
    rows.push([tier, `${model} on ${on}, ${info.rows} × ${contextTokens} tokens, ${memory}`]);
  }
  const { embedder } = gateway.engine;
  if (embedder !== null) {
    const { contextTokens, dimensions, model } = embedder.info;
    rows.push([EMBEDDING_MODEL, `${model}, ${dimensions} numbers, ${contextTokens} tokens`]);
  }
  rows.push(["data", config.dataDir], ["build", `${gateway.version} ${gateway.rev}`]);
  if (Bun.which("svc") === null) rows.push(["commands", svcAlias()]);
  if (key !== null) {
    const snippet = { url, apiKey: key.apiKey, hmacSecret: key.hmacSecret };
    section(io, "JavaScript (npm install openai zod):", javascriptSnippet(snippet));
    section(io, "Python (pip install openai):", pythonSnippet(snippet));
    section(io, "A first answer, with curl:", curlSnippet(snippet));
    section(io, "What came back, checked with openssl:", opensslSnippet());
  }
  print(io, "");
  printTable(
    io,
    rows.map(([name = "", ...cells]) => [styled(io, "dim", name), ...cells]),
  );
  const next = key === null ? "" : " Paste one of these into another terminal.";
  print(io, "", styled(io, "dim", `Ready.${next} Ctrl-C stops it.`));
}

/** In a clone no `svc` is on the path: this makes what messages and documents say work. */
function svcAlias(): string {
  return `alias svc='${process.execPath} ${Bun.main}'`;
}

function section(io: CliIo, title: string, text: string): void {
  print(io, "", styled(io, "cyan", `# ${title}`), text);
}
