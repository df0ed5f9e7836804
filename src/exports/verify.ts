/** `svc-gateway/verify`: the offline verifier, and the signing of requests. */
export {
  type Registration,
  type RequestSigner,
  type RequestToSign,
  type SigningSources,
  signingFetch,
  signRegistration,
  signRequest,
} from "../verify/sign-request.ts";
export {
  type HeldHead,
  type Report,
  type Summary,
  type VerifyOptions,
  verifyArchive,
  verifyExport,
} from "../verify/verify.ts";
