import { html, pageOf } from '../text/markup.ts';

/** What the browser shows at the end of a login. `text` may be the service's own words: it is escaped. */
export type Page = { readonly ok: boolean; readonly title: string; readonly text: string };

export function callbackPage({ ok, title, text }: Page): string {
  const mark = ok ? '<path d="M16 25l6 6 12-13"/>' : '<path d="M18 18l14 14M32 18L18 32"/>';
  const next = ok
    ? 'You can close this window and go on in the terminal.'
    : 'You can close this window; the terminal says what to do next.';
  const body = html`<svg viewBox="0 0 50 50" aria-hidden="true"><circle cx="25" cy="25" r="22"/>${{ markup: mark }}</svg>
<h1>${title}</h1>
<p>${text}</p>
<p>${next}</p>`;
  return pageOf({ title: `svc: ${title}`, style: styleOf(ok), body });
}

const styleOf = (ok: boolean): string => `
  :root { --paper: #f6f7f9; --card: #fff; --ink: #16181d; --soft: #5c6370; --line: #e3e6eb; --mark: ${ok ? '#1a7f4b' : '#b3341f'}; }
  @media (prefers-color-scheme: dark) {
    :root { --paper: #111317; --card: #1a1d23; --ink: #eceef2; --soft: #9aa2b1; --line: #2a2e37; --mark: ${ok ? '#4cc38a' : '#ff8b76'}; }
  }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--paper); color: var(--ink);
    font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
  main { box-sizing: border-box; width: min(27rem, calc(100vw - 2rem)); padding: 2.5rem 2rem; text-align: center;
    background: var(--card); border: 1px solid var(--line); border-radius: 16px; }
  svg { width: 50px; height: 50px; fill: none; stroke: var(--mark); stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
  h1 { margin: 1rem 0 .5rem; font-size: 1.3rem; line-height: 1.3; }
  p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
  p + p { margin-top: .75rem; }
`;
