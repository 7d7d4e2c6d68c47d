import { hash } from 'node:crypto';
import type { Scope } from '../../api/operation.ts';
import { type Html, html, pageOf } from '../../text/markup.ts';

export type Page = {
  readonly body: string;
  /** For `style-src`: the page's own style sheet and no other. */
  readonly styleHash: string;
};

export type ConsentForm = {
  /** The client's name, as registered. */
  readonly client: string;
  /** The host that the customer will be sent to. */
  readonly returnsTo: string;
  readonly accounts: readonly { readonly account_id: number; readonly name: string }[];
  readonly chosenAccount: number | undefined;
  /** What the client asks for, and what of it stands ticked. */
  readonly scopes: readonly Scope[];
  readonly ticked: readonly Scope[];
  readonly formToken: string;
  /** Why the form is shown again. */
  readonly problem?: string;
};

/** The page on which a customer picks the account and the scopes. It is a plain form: no script, and the keyboard is enough. */
export function consentPage(form: ConsentForm): Page {
  const { client, returnsTo, accounts, scopes, formToken, problem } = form;
  return styled(
    `Let ${client} into your account?`,
    html`
    <h1>Let <bdi class="client">${client}</bdi> into your account?</h1>
    <p class="lead">Untick what it should not do. You can disconnect it at any time.</p>
    ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
    <form method="post" autocomplete="off">
      <input type="hidden" name="form_token" value="${formToken}">
      <fieldset>
        <legend>Account</legend>
        <div class="choices">${accounts.map((account) => accountChoice(account, form))}</div>
      </fieldset>
      <fieldset>
        <legend>It asks for ${scopes.length === 1 ? 'one permission' : `${scopes.length} permissions`}</legend>
        <div class="choices">${scopes.map((scope) => scopeChoice(scope, form))}</div>
      </fieldset>
      <div class="decision">
        <div class="buttons">
          <button class="allow" name="decision" value="allow">Allow</button>
          <button class="deny" name="decision" value="deny">Deny</button>
        </div>
        <p class="after">Either way you return to <bdi>${returnsTo}</bdi></p>
      </div>
    </form>`,
  );
}

/** Shown instead of a redirect where nobody can be trusted with the answer. */
export const errorPage = (problem: string, advice: string): Page =>
  styled(
    'This request cannot continue',
    html`
    <h1>This request cannot continue</h1>
    <p class="problem" role="alert"><bdi>${problem}</bdi></p>
    <p class="advice"><bdi>${advice}</bdi></p>`,
  );

const accountChoice = ({ account_id, name }: ConsentForm['accounts'][number], { chosenAccount }: ConsentForm): Html =>
  html`
          <label class="choice">
            <input type="radio" name="account_id" value="${account_id}" required${checked(account_id === chosenAccount)}>
            <span class="what"><bdi>${name}</bdi></span>
            <span class="aside">No. ${account_id}</span>
          </label>`;

const scopeChoice = (scope: Scope, { ticked }: ConsentForm): Html =>
  html`
          <label class="choice">
            <input type="checkbox" name="scope" value="${scope}"${checked(ticked.includes(scope))}>
            <span class="what">${grants[scope].title}</span>
            <code class="aside">${scope}</code>
            <span class="detail">${grants[scope].detail}</span>
          </label>`;

const checked = (yes: boolean): Html => (yes ? html` checked` : html``);

/** What each scope grants (service.md#scopes-1), in a customer's words. */
const grants: Record<Scope, { readonly title: string; readonly detail: string }> = {
  identity: { title: 'See which account this is', detail: 'Its name, number and billing status' },
  'branding:write': { title: 'Change the branding', detail: 'Colours, logos, sender name and brand voice' },
  'contacts:read': { title: 'See contacts', detail: 'Every contact with its details, tags and own data' },
  'contacts:write': { title: 'Add and change contacts', detail: 'One by one or in bulk' },
  'calls:read': { title: 'See calls', detail: 'Who called whom, when, for how long' },
  'tickets:read': { title: 'See tickets', detail: 'With the messages that the customer sees' },
  'tickets:write': {
    title: 'Create, change and answer tickets',
    detail: 'Replies reach customers by email or chat',
  },
  'conversations:read': { title: 'See chats', detail: 'With the messages that the customer sees' },
  'conversations:write': {
    title: 'Answer and resolve chats',
    detail: 'Messages reach customers, and take the chat from the AI',
  },
  'changelog:read': { title: 'See the changelog', detail: 'Published entries and drafts' },
  'changelog:write': { title: 'Write and publish the changelog', detail: 'Published entries are public' },
  'feedback:read': { title: 'See feedback and roadmap', detail: 'Posts, votes and columns, without their authors' },
  'sequences:trigger': { title: 'Send product events', detail: 'They can start sequences for contacts' },
  'webhooks:manage': { title: 'Manage its webhooks', detail: 'Events are then sent to addresses of its choice' },
};

const styled = (title: string, content: Html): Page => ({
  body: pageOf({
    title,
    style: pageStyle,
    body: html`    <p class="badge">Sandbox · sample data only</p>${content}`,
  }),
  styleHash: `sha256-${hash('sha256', pageStyle, 'base64')}`,
});

/** The style sheet of the consent page, inline: the page loads nothing. */
const pageStyle = `
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
