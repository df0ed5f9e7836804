/** Whose key the page uses. It stays in this tab and is forgotten when the tab closes. */
export interface Session {
  readonly apiKey: string;
  /** Null: signatures are not checked. */
  readonly hmacSecret: string | null;
}

const STORED = "svc-session";

export function loadSession(): Session | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? "null") as Session | null;
    return typeof stored?.apiKey === "string" ? stored : null;
  } catch {
    return null;
  }
}

export function saveSession(session: Session | null): void {
  if (session === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, JSON.stringify(session));
}
