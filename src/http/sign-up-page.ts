/** The pages of sign-up and checkout: plain HTML, no script, nothing loaded. */

export const PAGE_STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
dt { margin-top: 1rem; font-weight: 600; }
dd { margin: 0; }
input, button { font: inherit; padding: .4rem .7rem; }
label { display: block; margin-bottom: 1rem; }
.note { border-left: 4px solid #b3261e; padding-left: 1rem; }
`;

export function formPage(): string {
  return layout(
    "A free key",
    `<p>A key for 100 requests a day. With an e-mail address we can reach you about it, and there is
one key per address; without one, nobody can.</p>
<form method="post" action="/signup/free">
<label>E-mail address (optional)<br>
<input type="email" name="email" autocomplete="email" maxlength="254"></label>
<button type="submit">Make my key</button>
</form>`,
  );
}

/** @param apiKey escaped. @param hmacSecret escaped. */
export function keyPage(apiKey: string, hmacSecret: string): string {
  return layout(
    "Your key",
    `<p class="note">Both are shown this once. Copy them now: nobody can show them again.</p>
<dl>
<dt>API key</dt><dd><code id="api-key">${apiKey}</code></dd>
<dt>HMAC secret</dt><dd><code id="hmac-secret">${hmacSecret}</code></dd>
</dl>
<p>Send the key as <code>Authorization: Bearer …</code>. With the secret, check the header
<code>X-Svc-Signature</code>: HMAC-SHA256 over the exact bytes of each answer.</p>`,
  );
}

export function existsPage(): string {
  return layout(
    "There is a key already",
    `<p>A key was made for this e-mail address before. It was shown then, and only a hash of it is
kept: if it is lost, ask the operator for another one.</p>`,
  );
}

/** @param sessionId escaped. */
export function collectPage(sessionId: string): string {
  return layout(
    "Thank you",
    `<p>Your key and its secret are ready. They are shown once: have a safe place at hand.</p>
<form method="post" action="/checkout/complete">
<input type="hidden" name="session_id" value="${sessionId}">
<button type="submit">Show my key</button>
</form>`,
  );
}

export function collectedPage(): string {
  return layout(
    "Collected already",
    `<p>This key was shown before, and only a hash of it is kept: if it is lost, ask the operator
for another one.</p>`,
  );
}

export function noCheckoutPage(): string {
  return layout(
    "Not there yet",
    `<p>No paid checkout is known here by that name. A payment can take a minute to arrive: reload
this page then.</p>`,
  );
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A whole page. @param content HTML. */
export function layout(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<h1>${title}</h1>
${content}
</body>
</html>
`;
}
