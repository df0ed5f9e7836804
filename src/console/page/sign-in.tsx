/** Asks for a key, and tries it. */
import { useId, useState } from "preact/hooks";
import { getJson } from "./api.ts";
import { Failure } from "./parts.tsx";
import type { Session } from "./session.ts";

export function SignIn({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [apiKey, setApiKey] = useState("");
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const keyId = useId();
  const secretId = useId();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const session = { apiKey: apiKey.trim(), hmacSecret: secret.trim() || null };
    try {
      await getJson(session, "/v1/me");
      onSession(session);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form class="panel" onSubmit={submit}>
      <p class="lead">
        The server printed a key and a secret at its first start; another pair comes from{" "}
        <code>svc keys create --tenant NAME</code>. They stay in this tab.
      </p>
      <label for={keyId}>API key</label>
      <input
        id={keyId}
        class="code"
        autocomplete="off"
        spellcheck={false}
        placeholder="sk-svc-…"
        required
        value={apiKey}
        onInput={(event) => setApiKey(event.currentTarget.value)}
      />
      <label for={secretId}>HMAC secret, to check signatures here (optional)</label>
      <input
        id={secretId}
        class="code"
        type="password"
        autocomplete="off"
        value={secret}
        onInput={(event) => setSecret(event.currentTarget.value)}
      />
      <p>
        <button class="primary" type="submit">
          Use this key
        </button>
      </p>
      <Failure message={problem} />
    </form>
  );
}
