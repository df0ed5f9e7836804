/** An export with something of everything in it, and what its tenant kept beside it. */
import { NO_ANCHORS } from "../../src/anchor/anchor-config.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { attest } from "../../src/receipt/attestation.ts";
import { signResponse } from "../../src/receipt/body-digest.ts";
import type { SavedResponse } from "../../src/verify/responses.ts";
import type { HeldHead } from "../../src/verify/verify.ts";
import { startCalendar } from "../anchor/fake-calendar.ts";
import { collect } from "../trust-export.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";
import { openService, type Service } from "../trust-service.ts";

export interface Kept {
  readonly service: Service;
  readonly tenantId: string;
  readonly hmacSecret: string;
  /** Another tenant of the same service, with rows of its own. */
  readonly otherTenantId: string;
  readonly archive: Uint8Array;
  /** One for each call of the app `default`, and two calls that have no row. */
  readonly responses: readonly SavedResponse[];
  /** Heads as the tenant saw them along the way. */
  readonly heldHeads: readonly HeldHead[];
  readonly rootKey: string;
}

const HOUR_MS = 3_600_000;

/**
 * Two starts of one service, two apps, a second tenant, a checkpoint an hour (one of them idle), a
 * pending anchor, and some rows after the last checkpoint. Closed after the file's last test.
 * @param rounds hours. @param billingRows rows of the app `billing` in each.
 */
export async function keep(rounds: number, billingRows = 2): Promise<Kept> {
  const dataDir = temporaryDirectory(onFileEnd);
  const calendar = startCalendar();
  onFileEnd(() => calendar.stop());
  const anchors = { ...NO_ANCHORS, calendars: [calendar.url] };
  let service = openService({ dataDir, anchors }, onFileEnd);
  const { tenantId, hmacSecret } = service.tenants.createKey({ tenantName: "A" });
  const { tenantId: otherTenantId } = service.tenants.createKey({ tenantName: "B" });
  const responses: SavedResponse[] = [];
  const heldHeads: HeldHead[] = [];
  for (let round = 1; round <= rounds; round++) {
    responses.push(await answered(service, { tenantId, hmacSecret }, round));
    await appendCall(service.ledger, callOf(otherTenantId));
    const calls = Array.from({ length: billingRows }, () => callOf(tenantId, { appId: "billing" }));
    await Promise.all(calls.map((call) => appendCall(service.ledger, call)));
    const { headHash, height } = service.ledger.head(tenantId, "billing");
    heldHeads.push({ appId: "billing", height, headHash });
    if (round < rounds) service.checkpoints.run();
    service.clock.nowMs += HOUR_MS;
    if (round === 2) {
      // An idle hour, an anchor, and a new start.
      service.checkpoints.run();
      await service.anchors.work();
      const startMs = service.clock.nowMs + HOUR_MS;
      service.close();
      service = openService({ dataDir, anchors, startMs }, onFileEnd);
    }
  }
  responses.push(
    unrecorded(service, hmacSecret, service.ledger.head(tenantId, "default").headHash),
  );
  responses.push(unrecorded(service, null, service.checkpoints.globalHead()));
  const archive = await collect(service.exportOf(tenantId));
  const rootKey = Buffer.from(service.keys.rootPublicKey).toString("hex");
  return {
    service,
    tenantId,
    hmacSecret,
    otherTenantId,
    archive,
    responses,
    heldHeads,
    rootKey,
  };
}

/** A billable call as its client keeps it; every second one is a stream. */
export async function answered(
  service: Service,
  tenant: { readonly tenantId: string; readonly hmacSecret: string },
  round: number,
): Promise<SavedResponse> {
  const requestBody = Buffer.from(`{"round":${round}}`);
  const isStream = round % 2 === 0;
  const body = Buffer.from(isStream ? `data: ${round}\n\ndata: [DONE]\n\n` : `{"ok":${round}}`);
  const requestBodyHash = sha256Hex(requestBody);
  const responseBodyHash = sha256Hex(body);
  const call = callOf(tenant.tenantId, { requestBodyHash, responseBodyHash });
  const row = await appendCall(service.ledger, call);
  const { method, path, rev } = call;
  const attestation = attest(service.keys.current, {
    ts: row.ts,
    method,
    path,
    requestBodyHash,
    responseBodyHash,
    chainHead: row.rowHash,
    rev,
  });
  const signature = signResponse(tenant.hmacSecret, body);
  const facts = { method, path, requestBody, requestId: call.requestId };
  if (!isStream) return { ...facts, responseBody: body, signature, attestation };
  const end = `: svc-signature=${signature}\n: svc-attestation=${attestation}\n\n`;
  const responseBody = Buffer.concat([body, Buffer.from(end)]);
  return { ...facts, responseBody, signature: null, attestation: null };
}

/** A call that has no row: a read with a key, or one without. */
function unrecorded(service: Service, hmacSecret: string | null, chainHead: string): SavedResponse {
  const requestBody = new Uint8Array();
  const responseBody = Buffer.from('{"object":"list"}');
  const method = "GET";
  const path = "/v1/models";
  const attestation = attest(service.keys.current, {
    ts: service.ledger.clock.nowMs(),
    method,
    path,
    requestBodyHash: sha256Hex(requestBody),
    responseBodyHash: sha256Hex(responseBody),
    chainHead,
    rev: service.rev,
  });
  const signature = hmacSecret === null ? null : signResponse(hmacSecret, responseBody);
  return { method, path, requestBody, responseBody, signature, attestation, requestId: null };
}
