/** Ask a model, locked to a schema; watch the answer come, and see it verified here. */
import { useId, useRef, useState } from "preact/hooks";
import { EXAMPLE_SCHEMA, EXAMPLE_TEXT } from "../example.ts";
import { type StreamedAnswer, type StreamPiece, streamChat } from "./api.ts";
import { type CompileAnswer, useCompiled } from "./compile.ts";
import { CopyButton, Failure } from "./parts.tsx";
import type { Session } from "./session.ts";
import { asCurl, asJavascript, asPython } from "./snippets.ts";
import { AnswerText, TokenLegend, TokenTimes } from "./tokens.tsx";
import { VerifyBadge } from "./verify-badge.tsx";

interface Form {
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly isLocked: boolean;
  readonly schema: string;
}

const FIRST: Form = {
  model: "svc-tier-b",
  system: "",
  user: EXAMPLE_TEXT,
  temperature: "0",
  maxTokens: "200",
  isLocked: true,
  schema: JSON.stringify(EXAMPLE_SCHEMA, null, 2),
};

/** The request that the form stands for; null while the schema is not JSON. */
function bodyOf(form: Form): Record<string, unknown> | null {
  const system = form.system === "" ? [] : [{ role: "system", content: form.system }];
  const body = {
    model: form.model,
    messages: [...system, { role: "user", content: form.user }],
    temperature: Number(form.temperature),
    ...(form.maxTokens === "" ? {} : { max_tokens: Number(form.maxTokens) }),
  };
  if (!form.isLocked) return body;
  try {
    const schema = JSON.parse(form.schema) as unknown;
    const json_schema = { name: "answer", strict: true, schema };
    return { ...body, response_format: { type: "json_schema", json_schema } };
  } catch {
    return null;
  }
}

export function Playground({ session }: { readonly session: Session }) {
  const [form, setForm] = useState(FIRST);
  const [pieces, setPieces] = useState<readonly StreamPiece[]>([]);
  const [answer, setAnswer] = useState<StreamedAnswer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  const compiled = useCompiled(form.schema);
  const body = bodyOf(form);
  const canRun = body !== null && (!form.isLocked || compiled?.problem === null);
  const change = (part: Partial<Form>): void => setForm({ ...form, ...part });

  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (body === null || running !== null) return;
    const controller = new AbortController();
    setRunning(controller);
    setPieces([]);
    setAnswer(null);
    setProblem(null);
    try {
      const onPiece = (piece: StreamPiece): void => setPieces((before) => [...before, piece]);
      setAnswer(await streamChat(session, body, { onPiece, signal: controller.signal }));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      setProblem(controller.signal.aborted ? "Stopped." : message);
    } finally {
      setRunning(null);
    }
  };

  return (
    <>
      <p class="lead">
        With the lock on, the answer cannot violate the schema. The badge is your browser's own
        check of what came back.
      </p>
      <form class="columns" onSubmit={run}>
        <Request form={form} change={change} compiled={compiled} />
        <div>
          <section class="panel" aria-labelledby="answer-title">
            <h2 id="answer-title">Answer</h2>
            <p class="row">
              <button class="primary" type="submit" disabled={!canRun || running !== null}>
                {running === null ? "Run" : "Running …"}
              </button>
              {running !== null && (
                <button type="button" onClick={() => running.abort()}>
                  Stop
                </button>
              )}
            </p>
            <AnswerText isRunning={running !== null} pieces={pieces} />
            <TokenLegend />
            <Failure message={problem} />
            {answer !== null && <Outcome answer={answer} />}
            {answer !== null && <TokenTimes tokens={pieces.flatMap(({ tokens }) => tokens)} />}
          </section>
          {body !== null && <CopyAs body={body} />}
          {form.isLocked && <GrammarPanel compiled={compiled} />}
        </div>
      </form>
    </>
  );
}

interface RequestProps {
  readonly form: Form;
  readonly change: (part: Partial<Form>) => void;
  readonly compiled: CompileAnswer | null;
}

function Request({ change, compiled, form }: RequestProps) {
  const lockId = useId();
  return (
    <section class="panel" aria-label="Request">
      <div class="row">
        <label>
          Model
          <select
            value={form.model}
            onChange={(event) => change({ model: event.currentTarget.value })}
          >
            {["svc-tier-a", "svc-tier-b", "svc-auto"].map((model) => (
              <option key={model}>{model}</option>
            ))}
          </select>
        </label>
        <label>
          Temperature
          <input
            type="number"
            min="0"
            max="2"
            step="0.1"
            required
            value={form.temperature}
            onInput={(event) => change({ temperature: event.currentTarget.value })}
          />
        </label>
        <label>
          Longest answer
          <input
            type="number"
            min="1"
            placeholder="no limit"
            value={form.maxTokens}
            onInput={(event) => change({ maxTokens: event.currentTarget.value })}
          />
        </label>
      </div>
      <label>
        System message
        <textarea
          rows={2}
          value={form.system}
          onInput={(event) => change({ system: event.currentTarget.value })}
        />
      </label>
      <label>
        Message
        <textarea
          rows={4}
          required
          value={form.user}
          onInput={(event) => change({ user: event.currentTarget.value })}
        />
      </label>
      <label class="inline" for={lockId}>
        <input
          id={lockId}
          type="checkbox"
          checked={form.isLocked}
          onChange={(event) => change({ isLocked: event.currentTarget.checked })}
        />
        Lock the answer to this schema
      </label>
      {form.isLocked && (
        <SchemaEditor
          text={form.schema}
          compiled={compiled}
          onText={(schema) => change({ schema })}
        />
      )}
    </section>
  );
}

interface SchemaEditorProps {
  readonly text: string;
  readonly compiled: CompileAnswer | null;
  readonly onText: (text: string) => void;
}

function SchemaEditor({ compiled, onText, text }: SchemaEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const statusId = useId();
  const problem = compiled?.problem ?? null;
  const show = (): void => {
    if (problem === null || area.current === null) return;
    const lines = text.split("\n");
    const line = lines.slice(0, problem.line - 1).reduce((sum, part) => sum + part.length + 1, 0);
    area.current.focus();
    area.current.setSelectionRange(
      line + problem.column - 1,
      line + (lines[problem.line - 1]?.length ?? 0),
    );
  };
  return (
    <>
      <label>
        JSON Schema
        <textarea
          ref={area}
          class="code"
          rows={16}
          spellcheck={false}
          aria-invalid={problem !== null}
          aria-describedby={statusId}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </label>
      <div id={statusId} role="status">
        {compiled === null && <span class="muted">Compiling …</span>}
        {problem !== null && (
          <>
            <span class="bad">
              Line {problem.line}, column {problem.column}: {problem.message}
            </span>
            {problem.pointer !== null && (
              <code class="muted"> {problem.pointer || "the root"}</code>
            )}{" "}
            <button type="button" onClick={show}>
              Show
            </button>
          </>
        )}
        {compiled !== null && problem === null && (
          <span class="good">Enforced exactly; compiled in {compiled.ms.toFixed(1)} ms.</span>
        )}
      </div>
    </>
  );
}

function Outcome({ answer }: { readonly answer: StreamedAnswer }) {
  const { finishReason, raw, svc, usage, verification } = answer;
  return (
    <>
      <p>
        {finishReason}, {usage?.completion_tokens ?? "?"} tokens after {usage?.prompt_tokens ?? "?"}{" "}
        of prompt, {String(svc["latency_ms"] ?? "?")} ms
        {svc["schema_enforced"] === true && <span class="good"> · schema enforced</span>}
        {svc["deterministic"] === true && <span class="good"> · reproducible</span>}
        {svc["budget_limited"] === true && <span class="warn"> · steered by the limit</span>}
      </p>
      <VerifyBadge verification={verification} />
      <details>
        <summary>The stream as it came</summary>
        <pre>{raw}</pre>
      </details>
    </>
  );
}

function CopyAs({ body }: { readonly body: object }) {
  const { origin } = location;
  return (
    <section class="panel" aria-label="Copy the request">
      <div class="row">
        <CopyButton label="Copy as curl" text={asCurl(origin, body)} />
        <CopyButton label="Copy as JavaScript" text={asJavascript(origin, body)} />
        <CopyButton label="Copy as Python" text={asPython(origin, body)} />
      </div>
    </section>
  );
}

function GrammarPanel({ compiled }: { readonly compiled: CompileAnswer | null }) {
  const grammar = compiled?.grammar ?? null;
  if (grammar === null) return null;
  return (
    <section class="panel" aria-labelledby="grammar-title">
      <h2 id="grammar-title">What it compiles to</h2>
      <p class="muted">
        grammar <code>{grammar.id.slice(0, 16)}…</code>
        {grammar.annotations.length > 0 && `; annotations: ${grammar.annotations.join(", ")}`}
      </p>
      <pre data-testid="gbnf">{grammar.gbnf}</pre>
    </section>
  );
}
