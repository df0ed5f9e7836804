/** What newcomers, buyers and the operator call. */
import {
  inHeader,
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
  whole,
} from "./parts.ts";

const html = { answer: text, answerType: "text/html; charset=utf-8" } as const;
const form = "application/x-www-form-urlencoded";
const tenant = inPath("tenant_id");
const pageParameters = [
  inQuery("after", text, "next of the page before"),
  inQuery("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
];
const page = (name: string, item: string) =>
  object({ [name]: listOf(ref(item)), next: orNull(text) });

const NEWCOMER_PATHS: Paths = {
  "/signup": {
    get: operation({ tag: "Sign-up", summary: "The form", access: "public", ...html }),
  },
  "/signup/free": {
    post: operation({
      tag: "Sign-up",
      summary: "Makes a free key, one for each e-mail address, and shows it once",
      access: "public",
      body: object({ email: { type: "string", format: "email" } }, "email"),
      bodyType: form,
      bodyRequired: false,
      ...html,
      errors: [429, 503],
    }),
  },
  "/checkout/complete": {
    get: operation({
      tag: "Payments",
      summary: "Where a checkout sends its buyer",
      access: "public",
      parameters: [inQuery("session_id", text)],
      ...html,
    }),
    post: operation({
      tag: "Payments",
      summary: "Shows a paid checkout's key, once",
      access: "public",
      body: object({ session_id: text }),
      bodyType: form,
      ...html,
      errors: [503],
    }),
  },
  "/webhooks/stripe": {
    post: operation({
      tag: "Payments",
      summary: "The payment provider's events",
      access: "public",
      parameters: [{ ...inHeader("Stripe-Signature", "of the provider"), required: true }],
      body: { type: "object" },
      answer: object({
        received: { const: true },
        outcome: oneOf("handled", "duplicate", "ignored"),
      }),
      errors: [404, 503],
    }),
  },
  "/": {
    get: operation({ tag: "Console", summary: "The console", access: "public", ...html }),
  },
  "/console": {
    get: operation({ tag: "Console", summary: "The console", access: "public", ...html }),
  },
  "/console/{file}": {
    get: operation({
      tag: "Console",
      summary: "The console's files",
      access: "public",
      parameters: [inPath("file")],
      answer: text,
      answerType: "*/*",
      errors: [404],
    }),
  },
};

const ADMIN_PATHS: Paths = {
  "/admin/keys": {
    get: operation({
      tag: "Admin",
      summary: "Keys, revoked ones included",
      access: "admin",
      parameters: [inQuery("tenant_id", text), ...pageParameters],
      answer: page("keys", "Key"),
    }),
    post: operation({
      tag: "Admin",
      summary: "Issues a key; tenant, secret and app are made where they are missing",
      access: "admin",
      body: object(
        { tenant: text, app: orNull(text), package_id: orNull(text) },
        ...["app", "package_id"],
      ),
      answer: ref("CreatedKey"),
      errors: [404, 503],
    }),
  },
  "/admin/keys/{key_id}": {
    delete: operation({
      tag: "Admin",
      summary: "Revokes a key at once",
      access: "admin",
      parameters: [inPath("key_id")],
      answer: ref("RevokedKey"),
      errors: [404, 503],
    }),
  },
  "/admin/tenants": {
    get: operation({
      tag: "Admin",
      summary: "Tenants",
      access: "admin",
      parameters: pageParameters,
      answer: page("tenants", "Tenant"),
    }),
  },
  "/admin/tenants/{tenant_id}/package": {
    put: operation({
      tag: "Admin",
      summary: "Gives a tenant a package, or none",
      access: "admin",
      parameters: [tenant],
      body: object(
        { package_id: orNull(text), cycle_anchor_ms: orNull(whole) },
        ...["package_id", "cycle_anchor_ms"],
      ),
      answer: object({ tenant_id: text, package_id: orNull(text) }),
      errors: [404, 503],
    }),
  },
  "/admin/tenants/{tenant_id}/requests": {
    put: operation({
      tag: "Admin",
      summary: "Whether a tenant's chats that are sent with store: true are kept",
      access: "admin",
      parameters: [tenant],
      body: object({ stored: { type: "boolean" } }),
      answer: object({ tenant_id: text, stored: { type: "boolean" } }),
      errors: [404, 503],
    }),
  },
  "/admin/tenants/{tenant_id}/secret": {
    post: operation({
      tag: "Admin",
      summary: "Gives a tenant a new HMAC secret, and shows it once",
      access: "admin",
      parameters: [tenant],
      answer: object({ tenant_id: text, hmac_secret: text }),
      errors: [404, 503],
    }),
  },
  "/admin/packages": {
    get: operation({
      tag: "Admin",
      summary: "Packages",
      access: "admin",
      parameters: pageParameters,
      answer: page("packages", "Package"),
    }),
  },
  "/admin/packages/{id}": {
    put: operation({
      tag: "Admin",
      summary: "Makes a package, or changes it for all who have it",
      access: "admin",
      parameters: [inPath("id")],
      body: object(
        {
          tier: text,
          daily_requests: orNull(whole),
          monthly_requests: orNull(whole),
          requests_per_minute: orNull({ type: "integer", minimum: 1 }),
          model_tiers: listOf(text),
          stripe_price: orNull(text),
        },
        ...["daily_requests", "monthly_requests", "requests_per_minute", "stripe_price"],
      ),
      answer: ref("Package"),
      errors: [503],
    }),
    delete: operation({
      tag: "Admin",
      summary: "Removes a package that nobody has",
      access: "admin",
      parameters: [inPath("id")],
      answer: object({ id: text, deleted: { const: true } }),
      errors: [404, 409, 503],
    }),
  },
  "/admin/usage": {
    get: operation({
      tag: "Admin",
      summary: "What was recorded: by tenant, app, UTC day and endpoint",
      access: "admin",
      parameters: [
        inQuery("tenant_id", text),
        inQuery("app_id", text),
        inQuery("since", whole, "Unix milliseconds"),
        inQuery("until", whole, "Unix milliseconds; the first that no longer counts"),
        ...pageParameters,
      ],
      answer: page("usage", "Usages"),
    }),
  },
};

const METRICS_PATHS: Paths = {
  "/metrics": {
    get: operation({
      tag: "System",
      summary: "For Prometheus; open on a server that listens on 127.0.0.1 and has no metrics key",
      access: "metrics",
      answer: text,
      answerType: "text/plain; version=0.0.4; charset=utf-8",
    }),
  },
};

export const OPERATOR_PATHS: Paths = { ...NEWCOMER_PATHS, ...ADMIN_PATHS, ...METRICS_PATHS };
