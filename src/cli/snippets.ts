/** What a newcomer pastes: a first request, its check with openssl, and the same from programs. */
import { EXAMPLE_SCHEMA, EXAMPLE_TEXT } from "../console/example.ts";
import curlText from "./snippet-curl.txt" with { type: "text" };
import javascriptText from "./snippet-javascript.txt" with { type: "text" };
import opensslText from "./snippet-openssl.txt" with { type: "text" };
import pythonText from "./snippet-python.txt" with { type: "text" };

export interface SnippetFacts {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
  readonly hmacSecret: string;
}

const EXAMPLE_REQUEST = {
  model: "svc-tier-b",
  messages: [{ role: "user", content: EXAMPLE_TEXT }],
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "invoice",
      strict: true,
      schema: EXAMPLE_SCHEMA,
    },
  },
};

export function curlSnippet(facts: SnippetFacts): string {
  return filled(curlText, facts).replace("{{REQUEST}}", foldedRequest());
}

/** Checks what `curlSnippet` left in files, with nothing but openssl and a shell. */
export function opensslSnippet(): string {
  return opensslText.trimEnd();
}

export function javascriptSnippet(facts: SnippetFacts): string {
  return filled(javascriptText, facts);
}

export function pythonSnippet(facts: SnippetFacts): string {
  return filled(pythonText, facts);
}

function filled(text: string, { apiKey, hmacSecret, url }: SnippetFacts): string {
  return text
    .trimEnd()
    .replaceAll("{{URL}}", url)
    .replaceAll("{{KEY}}", apiKey)
    .replaceAll("{{SECRET}}", hmacSecret);
}

/** The request as JSON, each property of the schema on a line of its own. */
function foldedRequest(): string {
  const { model, messages, response_format: format } = EXAMPLE_REQUEST;
  const { name, schema, strict } = format.json_schema;
  const json = (value: unknown): string => JSON.stringify(value);
  const properties = Object.entries(schema.properties)
    .map(([key, value]) => `        ${json(key)}: ${json(value)}`)
    .join(",\n");
  return `{
  "model": ${json(model)},
  "messages": [${json(messages[0])}],
  "response_format": { "type": "json_schema", "json_schema": {
    "name": ${json(name)}, "strict": ${json(strict)},
    "schema": {
      "type": "object",
      "properties": {
${properties}
      },
      "required": ${json(schema.required)},
      "additionalProperties": false
    }
  } }
}`;
}
