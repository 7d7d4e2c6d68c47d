/** The style sheet of the consent page, inline: the page loads nothing. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f7; --card: #fff; --line: #dfe2e8; --hover: #f6f7fa;
  --text: #16181d; --muted: #5c6370; --accent: #3d46c2; --on-accent: #fff;
  --problem: #9b1c1c; --problem-ground: #fdf0ef; --badge: #6b4e00; --badge-ground: #fff3d1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1115; --card: #181b21; --line: #2c313a; --hover: #1f232b;
    --text: #eceef2; --muted: #9aa2b1; --accent: #a5b0ff; --on-accent: #12152e;
    --problem: #ffb4ab; --problem-ground: #3a1b1a; --badge: #f5d77e; --badge-ground: #33290d;
  }
}
html { scroll-padding-bottom: 13rem; }
* { box-sizing: border-box; }
body {
  margin: 0; padding: clamp(0rem, 6vw - 1.5rem, 3.5rem) clamp(0rem, 6vw - 1.5rem, 2rem); min-height: 100vh;
  background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
}
main {
  max-width: 34rem; margin: 0 auto; padding: clamp(1.25rem, 5vw, 2.5rem) clamp(1.25rem, 5vw, 2.5rem) 0;
  background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
}
h1 { margin: 1rem 0 .25rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; }
.client { color: var(--accent); }
.lead, .after, .detail, .advice { color: var(--muted); }
.lead { margin: 0 0 1.75rem; text-wrap: pretty; }
.advice { margin: 0; padding-bottom: clamp(1.25rem, 5vw, 2.5rem); overflow-wrap: anywhere; }
.badge {
  display: inline-block; margin: 0; padding: .15rem .7rem; border-radius: 1rem;
  background: var(--badge-ground); color: var(--badge); font-size: .8125rem; font-weight: 600;
}
.problem {
  margin: 1rem 0; padding: .75rem 1rem; border-radius: .6rem; overflow-wrap: anywhere;
  background: var(--problem-ground); color: var(--problem); font-weight: 600;
}
fieldset { margin: 0 0 1.75rem; padding: 0; border: 0; min-width: 0; }
legend { padding: 0; margin-bottom: .6rem; font-weight: 600; }
.choices { border: 1px solid var(--line); border-radius: .75rem; overflow: hidden; }
.choice {
  display: grid; grid-template-columns: auto 1fr auto; column-gap: .8rem; align-items: baseline;
  padding: .7rem 1rem; cursor: pointer;
}
.choice + .choice { border-top: 1px solid var(--line); }
.choice:hover { background: var(--hover); }
.choice:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: -2px; border-radius: .6rem; }
.choice input { margin: 0; width: 1.05rem; height: 1.05rem; align-self: center; accent-color: var(--accent); outline: none; }
.what { font-weight: 500; overflow-wrap: anywhere; }
.aside { color: var(--muted); font-size: .8125rem; }
code { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: .78rem; }
.detail { grid-column: 2 / -1; text-wrap: pretty; font-size: .875rem; line-height: 1.4; }
@media (min-height: 30rem) { .decision { position: sticky; bottom: 0; } }
.decision {
  margin: 0 calc(-1 * clamp(1.25rem, 5vw, 2.5rem)); border-radius: 0 0 1rem 1rem;
  padding: 1rem clamp(1.25rem, 5vw, 2.5rem) 1.25rem; background: var(--card); border-top: 1px solid var(--line);
}
.buttons { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
button {
  min-height: 2.85rem; border: 1px solid var(--line); border-radius: .6rem; cursor: pointer;
  background: transparent; color: inherit; font: inherit; font-weight: 600;
}
button:hover { background: var(--hover); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.allow { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.allow:hover { background: var(--accent); filter: brightness(1.08); }
.after { margin: .75rem 0 0; font-size: .8125rem; text-align: center; overflow-wrap: anywhere; }
@media (max-width: 30rem) {
  main { border: 0; border-radius: 0; min-height: 100vh; }
  .choice { grid-template-columns: auto 1fr; }
  .choice .aside { grid-column: 2; order: 1; }
}
`;
