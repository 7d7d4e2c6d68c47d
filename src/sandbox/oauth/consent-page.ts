import { hash } from 'node:crypto';
import type { Scope } from '../../api/operation.ts';
import { type Html, html } from '../../text/markup.ts';
import { pageStyle } from './consent-style.ts';

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
  readonly problem?: string | undefined;
};

/** The page on which a customer picks the account and the scopes. It is a plain form: no script, and the keyboard is enough. */
export function consentPage(form: ConsentForm): Page {
  const { client, returnsTo, accounts, scopes, formToken, problem } = form;
  return pageOf(
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
  pageOf(
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

const pageOf = (title: string, content: Html): Page => ({
  body: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${{ markup: pageStyle }}</style>
</head>
<body>
  <main>
    <p class="badge">Sandbox · sample data only</p>${content}
  </main>
</body>
</html>
`.markup,
  styleHash: `sha256-${hash('sha256', pageStyle, 'base64')}`,
});
