import { type Html, pageOf } from '../text/markup.ts';

/** A page for people: no script, no request, and good on paper. It says so to the browser too: nothing in it could load anything. */
export const page = (title: string, body: Html, style: string): string =>
  pageOf({ title, head, style: baseStyle + style, body });

const head = `<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
`;

const baseStyle = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #5d656d; --line: #d9dde1; --back: #fff; --card: #f6f7f8; --main: #2563b8; --other: #9fb7d6; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8eaed; --soft: #a3abb3; --line: #3a4048; --back: #16191d; --card: #1f2328; --main: #6ea8f0; --other: #3f5a7d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; break-after: avoid; }
h3 { font-size: 1rem; margin: 0 0 .25rem; break-after: avoid; }
.soft { color: var(--soft); }
p { margin: .25rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media print {
  @page { margin: 1.5cm; }
  :root { color-scheme: light; --text: #000; --soft: #444; --line: #bbb; --back: #fff; --card: #fff; --main: #2563b8; --other: #9fb7d6; }
  body { font-size: 10pt; }
  main { padding: 0; max-width: none; }
  section, figure, tr { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
