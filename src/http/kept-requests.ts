/**
 * Chats that their caller asked to keep (`store: true`), of tenants that switched this on: request
 * and answer, byte for byte, so that `svc replay REQUEST_ID` can ask again and compare. Kept as
 * answers under an Idempotency-Key are:
 * sealed, in the row's transaction, for as long, within the same room.
 */
import { assert } from "../bytes/assert.ts";
import { utf8Decode, utf8Encode } from "../bytes/utf8.ts";
import { sha256 } from "../crypto/hash.ts";
import { ApiError } from "../service/api-error.ts";
import type { Caller } from "../service/metered-call.ts";
import type { AnswerName, WrittenAnswer } from "../tenant/stored-answers.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import type { ReplaysDeps } from "./replays.ts";

export interface KeptRequestsDeps extends ReplaysDeps {
  readonly storage: Storage;
}

/** Each tenant's own switch, off at first. */
export interface Storage {
  isOn(tenantId: string): boolean;
  set(tenantId: string, isOn: boolean): void;
}

export class KeptRequests {
  readonly #deps: KeptRequestsDeps;

  constructor(deps: KeptRequestsDeps) {
    this.#deps = deps;
  }

  /** @throws ApiError 403 where the tenant has not switched it on. */
  assertMayKeep(tenantId: string): void {
    if (this.#deps.storage.isOn(tenantId)) return;
    const message =
      "store: true is for tenants that have switched the keeping of requests on, which yours has " +
      'not: PUT /v1/requests with {"stored": true} does, or leave store out';
    throw new ApiError(message, {
      status: 403,
      type: "permission_error",
      code: "storage_off",
      param: "store",
    });
  }

  /** @param answer records the call as the caller that it gets: that one keeps both. */
  async keep(
    call: Call,
    caller: Caller,
    answer: (caller: Caller) => Promise<Answer>,
  ): Promise<Answer> {
    const { keptMs, nowMs, stored } = this.#deps;
    const name = nameOf(caller.identity.tenantId, caller.requestId);
    const given = { requestHash: sha256(call.body), expiresTs: nowMs() + keptMs };
    const written: WrittenAnswer[] = [];
    const keep: Caller["keep"] = (made) => {
      caller.keep?.(made);
      const [request, response] = [utf8Decode(call.body), utf8Decode(made.body)];
      // Both are JSON as they were sent.
      const head = `{"request_id":"${caller.requestId}"`;
      const text = `${head},"request":${request},"response":${response}}`;
      written.push(
        stored.write(name, given, { contentType: made.contentType, body: utf8Encode(text) }),
      );
    };
    const made = await answer({ ...caller, keep });
    assert(written.length === 1, "a chat that is kept was not kept once");
    for (const { publish } of written) publish();
    return made;
  }

  /** As JSON. @throws ApiError 404 for what is not there, not kept, or another tenant's. */
  find(tenantId: string, requestId: string): Uint8Array {
    const found = this.#deps.stored.find(nameOf(tenantId, requestId));
    if (found !== null) return found.answer.body;
    const message = "no chat of yours with this request id was sent with store: true and is kept";
    throw new ApiError(message, {
      status: 404,
      type: "invalid_request_error",
      code: "request_not_found",
      param: null,
    });
  }
}

/** No key's name: those have an app id, which has no space, before their line break. */
function nameOf(tenantId: string, requestId: string): AnswerName {
  return { tenantId, nameHash: sha256(`kept request\n${requestId}`) };
}
