/** The OpenAPI document of every route; a test compares it with the routes, both ways. */
import { API_PATHS } from "./api-paths.ts";
import { OPERATOR_PATHS } from "./operator-paths.ts";
import { ref, text } from "./parts.ts";
import { SCHEMAS } from "./schemas.ts";
import { TRUST_PATHS } from "./trust-paths.ts";

const DESCRIPTION =
  "An OpenAI-compatible server whose answers are locked to schemas, reproducible and provable. " +
  "Every answer, errors included, carries an attestation, and a signature where its caller is " +
  "known.";

export function openApiDocument(version: string): object {
  return {
    openapi: "3.1.1",
    info: { title: "svc", version, description: DESCRIPTION, license: { name: "MIT" } },
    servers: [{ url: "/" }],
    paths: { ...API_PATHS, ...TRUST_PATHS, ...OPERATOR_PATHS },
    components: {
      schemas: SCHEMAS,
      responses: {
        Error: {
          description: "refused, or failed; nothing is billed",
          content: { "application/json": { schema: ref("Error") } },
        },
      },
      headers: {
        RequestId: { schema: text, description: "looks the call up in /v1/receipts" },
        Attestation: { schema: text, description: "<payload>.<Ed25519 signature>, base64url" },
        Signature: { schema: text, description: "HMAC-SHA256 over the body's bytes, hex" },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "sk-svc- and 32 hex digits" },
        signature: {
          type: "apiKey",
          in: "header",
          name: "Signature",
          description: "RFC 9421 with Signature-Input; see src/tenant/README.md",
        },
        metricsKey: { type: "http", scheme: "bearer", description: "SVC_METRICS_KEY" },
        adminKey: { type: "apiKey", in: "header", name: "X-Admin-Key" },
      },
    },
  };
}
