/**
 * A body that is too large for memory and can be made twice: once to seal it, once to send it. Its
 * seal is in the headers, like that of any other response.
 */
import { BodyDigest } from "../receipt/body-digest.ts";
import { ApiError } from "../service/api-error.ts";
import type { Call } from "./call.ts";
import { attestation, type SealDeps, setCallHeaders } from "./seal.ts";

/** @param body gives the same bytes each time it is gone through. */
export async function largeResponse(
  deps: SealDeps,
  call: Call,
  body: AsyncIterable<Uint8Array>,
  given: Readonly<Record<string, string>>,
): Promise<Response> {
  const { identity, method, signal } = call;
  const digest = new BodyDigest(identity && deps.hmacSecret(identity.tenantId));
  for await (const piece of body) {
    if (signal.aborted) throw leftEarly();
    digest.update(piece);
  }
  const { bodyHash, signature } = digest.finish();
  const headers = new Headers(given);
  setCallHeaders(headers, deps, call);
  headers.set("x-svc-attestation", attestation(deps, call, bodyHash, null));
  if (signature !== null) headers.set("x-svc-signature", signature);
  return new Response(method === "HEAD" ? null : streamOf(body), { headers });
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return?.()),
    },
    // Nothing is made ahead of what the connection takes.
    { highWaterMark: 0 },
  );
}

/** Nobody reads it: it ends the work. */
function leftEarly(): ApiError {
  return new ApiError("the client left", {
    status: 499,
    type: "invalid_request_error",
    code: "cancelled",
    param: null,
  });
}
