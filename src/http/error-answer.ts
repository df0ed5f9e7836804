/** Errors as responses. Anything unforeseen is a bare 500; its details are in the log alone. */
import { ApiError } from "../service/api-error.ts";
import { wordRefusal } from "../service/refusals.ts";
import { type Answer, jsonAnswer } from "./answer.ts";

/**
 * An error in the API's words.
 * @param report hears of every failure that is not the caller's.
 */
export function refusalOf(
  error: unknown,
  requestId: string,
  report: (error: unknown, requestId: string) => void,
): ApiError {
  const refusal = wordRefusal(error);
  if (refusal === null || refusal.status >= 500) report(error, requestId);
  if (refusal !== null) return refusal;
  return new ApiError(`something went wrong here; the log has it under ${requestId}`, {
    status: 500,
    type: "server_error",
    code: "internal_error",
    param: null,
  });
}

export function errorAnswer(refusal: ApiError): Answer {
  return jsonAnswer(errorBody(refusal), { status: refusal.status, headers: refusal.headers });
}

/** The error body that OpenAI's clients read; `details` only where there are some. */
export function errorBody({ message, type, code, param, details }: ApiError): object {
  const error = { message, type, code, param };
  return { error: details.length === 0 ? error : { ...error, details } };
}
