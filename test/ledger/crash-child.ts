/**
 * A service that is going to be killed: appends calls as fast as it can and prints a line for each
 * that was acknowledged, as a response would leave. Arguments: data directory, and where to die.
 *
 *   outside         its parent kills it, whenever that is
 *   begun N         by its own hand in the Nth transaction, right after BEGIN
 *   inserted N      the same, rows inserted, before COMMIT
 *   committed N     right after the Nth COMMIT, before anyone was answered
 *   sequential N    N calls, one after the other, then a clean end
 *
 * Who dies by its own hand says first whether a transaction is open: the database is asked.
 */
import { writeSync } from "node:fs";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { attest } from "../../src/receipt/attestation.ts";
import { openTrust } from "../../src/service/open-trust.ts";
import type { Transactions } from "../../src/store/store.ts";
import { callOf } from "../trust-lab.ts";

const [dataDir = "", mode = "", count = "0"] = process.argv.slice(2);
const TENANTS = 3;
const CALLS_AT_ONCE = 24;
const EXIT_SOFTWARE = 70;

let transactions = 0;
let isServing = false;

function dyingAt(plain: Transactions): Transactions {
  const dieAt = (place: string): void => {
    if (!isServing || mode !== place || transactions !== Number(count)) return;
    writeSync(1, `dies ${trust.store.writer.inTransaction ? "inside" : "outside"}\n`);
    process.kill(process.pid, "SIGKILL");
  };
  return {
    ...plain,
    begin: () => {
      plain.begin();
      if (isServing) transactions += 1;
      dieAt("begun");
    },
    commit: () => {
      dieAt("inserted");
      plain.commit();
      dieAt("committed");
    },
  };
}

const trust = openTrust({
  dataDir,
  rev: "0123456789ab",
  onFatal: () => process.exit(EXIT_SOFTWARE),
  log: () => undefined,
  wrapTransactions: dyingAt,
});
const tenants = Array.from({ length: TENANTS }, (_, index) =>
  trust.tenants.createKey({ tenantName: `T${index}` }),
);
isServing = true;
// Its parent kills it from here on.
writeSync(1, "serving\n");

async function call(number: number): Promise<void> {
  const tenant = tenants[number % TENANTS];
  if (tenant === undefined) throw new Error("no tenant was made");
  const requestId = `req_${process.pid}_${Date.now()}_${number}`;
  const facts = callOf(tenant.tenantId, { appId: `app${number % 2}`, requestId });
  const row = await appendCall(trust.ledger, facts);
  const { method, path, rev } = facts;
  const attestation = attest(trust.keys.current, {
    ts: row.ts,
    method,
    path,
    requestBodyHash: facts.requestBodyHash,
    responseBodyHash: sha256Hex(requestId),
    chainHead: row.rowHash,
    rev,
  });
  const answer = { tenantId: facts.tenantId, appId: facts.appId, requestId, ...row, attestation };
  writeSync(1, `${JSON.stringify(answer)}\n`);
}

if (mode === "sequential") {
  for (let number = 0; number < Number(count); number++) await call(number);
  trust.close();
} else {
  let number = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      await call(number++);
      if (number % 500 === 0) trust.checkpoints.run();
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
}
