/** AuditChainHead: a signed statement of how long a chain is and where it ends. See FORMAT.md. */
import { assert } from "../bytes/assert.ts";
import { toBase64Url } from "../bytes/base64url.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import type { SigningKey } from "../crypto/ed25519.ts";

export interface AuditChainHead {
  readonly tenant_id: string;
  readonly head_hash: string;
  readonly height: number;
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly as_of: string;
  /** base64url of the 64 bytes. */
  readonly signature: string;
  readonly attestation_kid: string;
}

/** Widths are fixed but for the height, which cannot begin with a zero: one reading per text. */
const MESSAGE = new RegExp(
  "^(t_[0-7][0-9A-HJKMNP-TV-Z]{25})([0-9a-f]{64})(0|[1-9][0-9]{0,14})" +
    "(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)$",
);

/**
 * Signs tenant_id, head_hash, height and as_of, concatenated as the specification says. Because
 * the first two and the last have fixed widths, no two statements have the same signed bytes.
 * @param asOfMs Unix milliseconds.
 */
export function signChainHead(
  key: SigningKey,
  head: {
    readonly tenantId: string;
    readonly headHash: string;
    readonly height: number;
    readonly asOfMs: number;
  },
): AuditChainHead {
  const asOf = new Date(head.asOfMs).toISOString();
  const message = chainHeadMessage({ ...head, asOf });
  return {
    tenant_id: head.tenantId,
    head_hash: head.headHash,
    height: head.height,
    as_of: asOf,
    signature: toBase64Url(key.sign(utf8Encode(message))),
    attestation_kid: key.kid,
  };
}

/** The signed text of a statement. */
export function chainHeadMessage(head: {
  readonly tenantId: string;
  readonly headHash: string;
  readonly height: number;
  readonly asOf: string;
}): string {
  const message = `${head.tenantId}${head.headHash}${head.height}${head.asOf}`;
  assert(MESSAGE.test(message), "a chain head's fields have another form");
  return message;
}

/** @returns the parts of a signed text, or null when it is none. */
export function parseChainHeadMessage(message: string): {
  readonly tenantId: string;
  readonly headHash: string;
  readonly height: number;
  readonly asOf: string;
} | null {
  const match = MESSAGE.exec(message);
  if (match === null) return null;
  const [, tenantId = "", headHash = "", height = "", asOf = ""] = match;
  return { tenantId, headHash, height: Number(height), asOf };
}
