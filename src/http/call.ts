/** A request as everything behind the door sees it: checked, read, and with a name of its own. */
import type { Identity } from "../tenant/tenants.ts";

export interface Call {
  /** `req_` and 26 characters that sort by time. */
  readonly requestId: string;
  readonly method: string;
  /** As sent, without the query. Routing, `req_hash` and the row all use this one text. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** SHA-256 of the body as received, in hex. */
  readonly bodyHash: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  /** Null without a valid key. */
  readonly identity: Identity | null;
  /** Null where the server does not know it. */
  readonly clientAddress: string | null;
  /** Aborted when the client hangs up. */
  readonly signal: AbortSignal;
}
