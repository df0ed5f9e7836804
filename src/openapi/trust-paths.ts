/** Who calls, what was recorded, and with which keys it can be checked. */
import {
  anything,
  flag,
  hash,
  inPath,
  inQuery,
  listOf,
  object,
  oneOf,
  operation,
  orNull,
  type Paths,
  ref,
  text,
  timeMs,
  whole,
} from "./parts.ts";

const appId = inQuery("app_id", text, "one app's chain");

const AUDIT_PATHS: Paths = {
  "/v1/me": {
    get: operation({
      tag: "Audit",
      summary: "Who the key is",
      access: "key",
      answer: ref("Identity"),
    }),
  },
  "/v1/audit": {
    get: operation({
      tag: "Audit",
      summary: "The tenant's rows, and whether their chains hold",
      access: "key",
      parameters: [
        inQuery("since", { type: "integer", minimum: 0, default: 0 }, "Unix milliseconds"),
        inQuery("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
        appId,
        inQuery("after", text, "next of the slice before"),
      ],
      answer: object({
        rows: listOf(ref("AuditRow")),
        chain_ok: flag,
        chain_break: orNull(anything),
      }),
    }),
  },
  "/v1/audit/head": {
    get: operation({
      tag: "Audit",
      summary: "A chain's signed head",
      access: "key",
      parameters: [appId],
      answer: ref("ChainHead"),
    }),
  },
  "/v1/audit/export": {
    get: operation({
      tag: "Audit",
      summary: "Everything that svc verify needs, as one archive",
      access: "key",
      answer: { type: "string", contentEncoding: "binary" },
      answerType: "application/x-tar",
      errors: [503],
    }),
  },
  "/v1/receipts/{request_id}": {
    get: operation({
      tag: "Audit",
      summary: "The row of one call",
      access: "key",
      parameters: [inPath("request_id")],
      answer: anything,
      errors: [404],
    }),
  },
  "/v1/requests": {
    get: operation({
      tag: "Audit",
      summary: "Whether the tenant's chats that are sent with store: true are kept",
      access: "key",
      answer: object({ stored: { type: "boolean" } }),
    }),
    put: operation({
      tag: "Audit",
      summary: "Switches that on or off, for all of the tenant's keys; off at first",
      access: "key",
      body: object({ stored: { type: "boolean" } }),
      answer: object({ stored: { type: "boolean" } }),
      errors: [503],
    }),
  },
  "/v1/requests/{request_id}": {
    get: operation({
      tag: "Audit",
      summary: "A chat sent with store: true, and its answer",
      access: "key",
      parameters: [inPath("request_id")],
      answer: object({ request_id: text, request: anything, response: anything }),
      errors: [404],
    }),
  },
  "/audit": {
    get: operation({
      tag: "Checkpoints",
      summary: "The latest checkpoint, as a page",
      access: "public",
      answer: text,
      answerType: "text/html; charset=utf-8",
    }),
  },
  "/audit/checkpoint/{file}": {
    get: operation({
      tag: "Checkpoints",
      summary: "A checkpoint's files, among them its proofs of age",
      access: "public",
      parameters: [inPath("file")],
      answer: text,
      answerType: "*/*",
      errors: [404],
    }),
  },
  "/audit/checkpoint/latest": {
    get: operation({
      tag: "Checkpoints",
      summary: "The latest checkpoint",
      access: "public",
      answer: ref("Checkpoint"),
      errors: [404],
    }),
  },
  "/audit/checkpoint": {
    get: operation({
      tag: "Checkpoints",
      summary: "The newest checkpoint at or before a time",
      access: "public",
      parameters: [{ ...inQuery("ts", timeMs), required: true }],
      answer: ref("Checkpoint"),
      errors: [404],
    }),
  },
  "/audit/checkpoint/verify": {
    get: operation({
      tag: "Checkpoints",
      summary: "Whether the chain of checkpoints holds",
      access: "public",
      answer: object({
        ok: flag,
        checkpoints: whole,
        global_head: hash,
        checkpoint_break: orNull(anything),
      }),
    }),
  },
  "/attestation.pub": {
    get: operation({
      tag: "Checkpoints",
      summary: "This start's attestation key, PEM",
      access: "public",
      answer: text,
      answerType: "application/x-pem-file",
    }),
  },
  "/attestation/keys": {
    get: operation({
      tag: "Checkpoints",
      summary: "Every attestation key there ever was, certified by the root key",
      access: "public",
      answer: object({ root: anything, keys: listOf(anything) }),
    }),
  },
};

const KEY_PATHS: Paths = {
  "/v1/keys": {
    get: operation({
      tag: "Keys",
      summary: "The app's keys that sign requests",
      access: "key",
      answer: object({ keys: listOf(ref("Key")) }),
    }),
    post: operation({
      tag: "Keys",
      summary: "Registers a key that signs requests, with proof that it is held",
      access: "key",
      body: object({ public_key: text, challenge: text, signature: text }),
      answer: ref("Key"),
      errors: [409, 503],
    }),
  },
  "/v1/keys/challenge": {
    post: operation({
      tag: "Keys",
      summary: "What a new key has to sign: good once, for five minutes",
      access: "key",
      answer: object({ challenge: text, tenant_id: text, app_id: text, expires_ts: timeMs }),
    }),
  },
  "/v1/keys/{key_id}": {
    delete: operation({
      tag: "Keys",
      summary: "Revokes one of the app's signing keys",
      access: "key",
      parameters: [inPath("key_id")],
      answer: ref("RevokedKey"),
      errors: [404, 503],
    }),
  },
};

const SYSTEM_PATHS: Paths = {
  "/health": {
    get: operation({
      tag: "System",
      summary: "Alive",
      access: "public",
      answer: object({
        status: { const: "ok" },
        service: text,
        version: text,
        uptime_s: whole,
        timestamp: { type: "string", format: "date-time" },
      }),
    }),
  },
  "/ready": {
    get: operation({
      tag: "System",
      summary: "Whether every tier can decode",
      access: "public",
      answer: object({
        status: oneOf("ready", "loading", "failed"),
        message: orNull(text),
        tiers: anything,
      }),
      also: { "503": { description: "not yet: the same body" } },
    }),
  },
  "/openapi.json": {
    get: operation({
      tag: "System",
      summary: "This document",
      access: "public",
      answer: anything,
    }),
  },
};

export const TRUST_PATHS: Paths = { ...AUDIT_PATHS, ...KEY_PATHS, ...SYSTEM_PATHS };
