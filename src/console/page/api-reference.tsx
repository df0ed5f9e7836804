/** The server's own OpenAPI document, to read: every operation with its key, members and answers. */
import { useState } from "preact/hooks";
import { getJson } from "./api.ts";
import { Failure, useLoaded } from "./parts.tsx";
import type { Session } from "./session.ts";

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content?: Contents };
  readonly responses?: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Contents }>
  >;
}

type Contents = Readonly<Record<string, { readonly schema?: unknown }>>;

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function ApiReference({ session }: { readonly session: Session }) {
  const { problem, value } = useLoaded(
    () => getJson<Document>(session, "/openapi.json"),
    [session],
  );
  const [wanted, setWanted] = useState("");
  if (value === null) return <Failure message={problem} />;
  const all = Object.entries(value.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const words = wanted.toLowerCase();
  const shown = all.filter(({ method, operation, path }) =>
    `${method} ${path} ${operation.summary}`.toLowerCase().includes(words),
  );
  const tags = [...new Set(shown.map(({ operation }) => operation.tags?.[0] ?? "Other"))];
  return (
    <>
      <p class="lead">
        OpenAPI {value.openapi}, version {value.info.version};{" "}
        <a href="/openapi.json">the document itself</a> is for programs.
      </p>
      <label>
        Find an operation
        <input
          type="search"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      </label>
      <p role="status">{`${shown.length} of ${all.length} operations`}</p>
      {tags.map((tag) => (
        <section key={tag} class="panel" aria-label={tag}>
          <h2>{tag}</h2>
          {shown
            .filter(({ operation }) => (operation.tags?.[0] ?? "Other") === tag)
            .map((each) => (
              <Entry key={`${each.method} ${each.path}`} {...each} />
            ))}
        </section>
      ))}
      <section class="panel" aria-labelledby="schemas-title">
        <h2 id="schemas-title">Schemas</h2>
        {Object.entries(value.components.schemas).map(([name, schema]) => (
          <details key={name} id={`schema-${name}`}>
            <summary>
              <code>{name}</code>
            </summary>
            <pre>{JSON.stringify(schema, null, 2)}</pre>
          </details>
        ))}
      </section>
    </>
  );
}

function Entry({ method, operation, path }: Listed) {
  const { parameters = [], requestBody, responses = {}, summary } = operation;
  const answers = Object.entries(responses).filter(([, { content }]) => content !== undefined);
  const refusals = Object.keys(responses).filter((status) => Number(status) >= 400);
  return (
    <details>
      <summary>
        <code>
          {method.toUpperCase()} {path}
        </code>{" "}
        {summary}
      </summary>
      <p>{keyOf(operation)}</p>
      {parameters.length > 0 && (
        <ul>
          {parameters.map((each) => (
            <li key={each.name}>
              <code>{each.name}</code> ({each.in}
              {each.required === true ? ", required" : ""}) {each.description}
            </li>
          ))}
        </ul>
      )}
      {requestBody?.content !== undefined && (
        <Bodies title="Request" contents={requestBody.content} />
      )}
      {answers.map(([status, { content }]) => (
        <Bodies key={status} title={`Answer ${status}`} contents={content ?? {}} />
      ))}
      {refusals.length > 0 && <p>Refusals, as the schema Error: {refusals.join(", ")}</p>}
    </details>
  );
}

function Bodies({ contents, title }: { readonly title: string; readonly contents: Contents }) {
  return (
    <>
      <h3>{title}</h3>
      {Object.entries(contents).map(([type, { schema }]) => (
        <div key={type}>
          <code>{type}</code>
          <pre>{JSON.stringify(schema ?? {}, null, 2)}</pre>
        </div>
      ))}
    </>
  );
}

function keyOf({ security = [] }: Operation): string {
  const names = security.flatMap((each) => Object.keys(each));
  return names.length === 0 ? "Public: needs no key." : `Needs one of: ${names.join(", ")}.`;
}
