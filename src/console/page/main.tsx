/** The console: one page of the server itself, which uses nothing but its public API. */
import { type FunctionComponent, render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ApiReference } from "./api-reference.tsx";
import { Audit } from "./audit.tsx";
import { Checkpoints } from "./checkpoints.tsx";
import { Models } from "./models.tsx";
import { Playground } from "./playground.tsx";
import { loadSession, type Session, saveSession } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { Usage } from "./usage.tsx";

interface Page {
  readonly title: string;
  readonly view: FunctionComponent<{ session: Session }>;
  /** Whether it shows what only a tenant may see. */
  readonly needsKey: boolean;
}

const PAGES: Readonly<Record<string, Page>> = {
  playground: { title: "Playground", view: Playground, needsKey: true },
  audit: { title: "Audit", view: Audit, needsKey: true },
  checkpoints: { title: "Checkpoints", view: Checkpoints, needsKey: false },
  usage: { title: "Usage", view: Usage, needsKey: true },
  models: { title: "Models", view: Models, needsKey: false },
  api: { title: "API", view: ApiReference, needsKey: false },
};

const FIRST = "playground";

function currentPage(): string {
  const name = location.hash.replace(/^#\/?/, "");
  return Object.hasOwn(PAGES, name) ? name : FIRST;
}

function App() {
  const [name, setName] = useState(currentPage());
  const [session, setSession] = useState(loadSession());
  useEffect(() => {
    const onChange = (): void => setName(currentPage());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const page = PAGES[name];
  // Before the page is painted, so that it is never there under the title of the last one.
  useLayoutEffect(() => {
    document.title = `${page?.title ?? ""} · svc console`;
  }, [page]);
  if (page === undefined) return null;
  const change = (next: Session | null): void => {
    saveSession(next);
    setSession(next);
  };
  const View = page.view;
  const anyone: Session = { apiKey: "", hmacSecret: null };
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <strong>
          <img src="/console/icon.svg" alt="" /> svc
        </strong>
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([key, { title }]) => (
            <a key={key} href={`#/${key}`} aria-current={key === name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        {session !== null && (
          <button type="button" onClick={() => change(null)}>
            Forget the key
          </button>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        <h1>{page.title}</h1>
        {page.needsKey && session === null ? (
          <SignIn onSession={change} />
        ) : (
          <View session={session ?? anyone} />
        )}
      </main>
    </>
  );
}

const root = document.getElementById("app");
if (root !== null) {
  root.textContent = "";
  render(<App />, root);
}
