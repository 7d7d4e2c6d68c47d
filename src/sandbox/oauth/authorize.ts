import { createHmac } from 'node:crypto';
import type { Scope } from '../../api/operation.ts';
import { isSameSecret } from '../../text/digest.ts';
import { consentPage, errorPage, type Page } from './consent-page.ts';
import { type OAuthAnswer, type OAuthRequest, parametersOf, readForm } from './http.ts';
import { isRegistered, withAnswer } from './redirect-uri.ts';
import { type Client, grantCode, type Moment, type OAuthState } from './state.ts';

export type ConsentWorld = Moment & {
  /** What the customer can pick from, the first chosen beforehand. */
  readonly accounts: readonly { readonly account_id: number; readonly name: string }[];
  /** `auto` answers at once, with every scope that was asked for, for account 1. */
  readonly consent: 'page' | 'auto';
  /** Random, of this run: what the consent page's form is signed with. */
  readonly formKey: string;
};

/** What a client asks for, once all of it is checked. */
type AuthorizationRequest = {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly scopes: readonly Scope[];
  readonly codeChallenge: string;
};

type Judged =
  | { readonly kind: 'asked'; readonly asked: AuthorizationRequest }
  /** Nobody may be sent on: the client or its address cannot be trusted (RFC 6749, 4.1.2.1). */
  | { readonly kind: 'stop'; readonly problem: string; readonly advice: string }
  | { readonly kind: 'back'; readonly location: string };

/**
 * `/oauth/platform/authorize`: GET shows the consent page, POST is its form. The form is posted to the address of the
 * page, so that both judge the request by the same query and nothing about it can be changed on the way.
 */
export function answerAuthorize(state: OAuthState, request: OAuthRequest, world: ConsentWorld): OAuthAnswer {
  const judged = judgeRequest(state.clients, request.url.searchParams);
  if (judged.kind === 'stop') return page(400, errorPage(judged.problem, judged.advice));
  if (judged.kind === 'back') return redirect(request, judged.location);

  const { asked } = judged;
  const first = world.accounts[0];
  if (!first)
    return page(400, errorPage('There is no account to connect.', 'Start the sandbox with a seed that has one.'));
  if (request.method === 'POST') return answerForm(state, request, asked, world);
  if (world.consent === 'auto') {
    const account = world.accounts.find(({ account_id }) => account_id === 1) ?? first;
    return redirect(request, allow(state, asked, { account_id: account.account_id, scopes: asked.scopes }, world));
  }
  return form(request, asked, world);
}

function judgeRequest(clients: readonly Client[], query: URLSearchParams): Judged {
  const { get, repeated } = parametersOf(query);
  const stop = (problem: string, advice: string): Judged => ({ kind: 'stop', problem, advice });

  const clientId = get('client_id');
  if (clientId === undefined || repeated.includes('client_id')) {
    return stop('This link names no client.', 'It needs exactly one client_id.');
  }
  const client = clients.find((known) => known.client_id === clientId);
  if (!client) {
    return stop(`There is no client “${clientId}”.`, 'Clients are registered beforehand; check the client id.');
  }
  const redirectUri = get('redirect_uri');
  if (redirectUri === undefined || repeated.includes('redirect_uri')) {
    return stop('This link does not say where to return to.', 'It needs exactly one redirect_uri.');
  }
  if (!isRegistered(client.redirect_uris, redirectUri)) {
    return stop(
      `${client.name} may not be answered at ${redirectUri}.`,
      `redirect_uri must be exactly as registered, also in its port: ${client.redirect_uris.join(' or ')}`,
    );
  }

  // From here on the client can be told (RFC 6749, 4.1.2.1).
  const state = repeated.includes('state') ? undefined : get('state');
  const back = (error: string, error_description: string): Judged => ({
    kind: 'back',
    location: withAnswer(redirectUri, { error, error_description, state }),
  });
  if (repeated.length > 0) return back('invalid_request', 'A parameter may come only once.');
  const responseType = get('response_type');
  if (responseType === undefined) return back('invalid_request', 'response_type is missing.');
  if (responseType !== 'code') return back('unsupported_response_type', 'response_type must be code.');
  const codeChallenge = get('code_challenge');
  if (codeChallenge === undefined) return back('invalid_request', 'PKCE is required: code_challenge is missing.');
  // Without this parameter the method would be plain (RFC 7636, 4.3).
  if (get('code_challenge_method') !== 'S256') return back('invalid_request', 'code_challenge_method must be S256.');
  if (!/^[\w-]{43}$/u.test(codeChallenge)) {
    return back('invalid_request', 'code_challenge must be the base64url SHA-256 of the verifier, without padding.');
  }
  const named = [...new Set(get('scope')?.split(' ').filter(Boolean))];
  if (named.length === 0) return back('invalid_scope', 'scope is missing.');
  const scopes = named.flatMap((name) => client.scopes.filter((scope) => scope === name).slice(0, 1));
  if (scopes.length < named.length) {
    return back('invalid_scope', 'A scope is not known, or not among those that this client may request.');
  }
  return { kind: 'asked', asked: { client, redirectUri, state, scopes, codeChallenge } };
}

function answerForm(
  state: OAuthState,
  request: OAuthRequest,
  asked: AuthorizationRequest,
  world: ConsentWorld,
): OAuthAnswer {
  const read = readForm(request);
  if (!read.ok) return page(read.status, errorPage('The form could not be read.', read.problem));
  if (!isOurForm(request, read.form.get('form_token') ?? '', world.formKey)) {
    return page(403, errorPage('This form is not valid any more.', 'Open the link again.'));
  }

  const decision = read.form.get('decision');
  if (decision === 'deny') {
    const error_description = 'The customer declined.';
    return redirect(
      request,
      withAnswer(asked.redirectUri, { error: 'access_denied', error_description, state: asked.state }),
    );
  }
  const ticked = asked.scopes.filter((scope) => read.form.getAll('scope').includes(scope));
  const account = world.accounts.find(({ account_id }) => String(account_id) === read.form.get('account_id'));
  const again = (problem: string) => form(request, asked, world, { problem, ticked, account: account?.account_id });
  if (decision !== 'allow' || !account) return again('Choose an account, then Allow or Deny.');
  if (ticked.length === 0) return again('Tick at least one permission, or deny.');
  return redirect(request, allow(state, asked, { account_id: account.account_id, scopes: ticked }, world));
}

/** Where the client gets its code. */
function allow(
  state: OAuthState,
  asked: AuthorizationRequest,
  given: { readonly account_id: number; readonly scopes: readonly Scope[] },
  moment: Moment,
): string {
  const { client_id } = asked.client;
  const { redirectUri: redirect_uri, codeChallenge: code_challenge } = asked;
  const consent = { client_id, ...given, scopes: [...given.scopes], redirect_uri, code_challenge };
  return withAnswer(redirect_uri, { code: grantCode(state.connections, consent, moment), state: asked.state });
}

/** Shown for the first time with everything ticked, or again as it was filled in. */
function form(
  request: OAuthRequest,
  asked: AuthorizationRequest,
  { accounts, formKey }: ConsentWorld,
  again?: { readonly problem: string; readonly ticked: readonly Scope[]; readonly account: number | undefined },
): OAuthAnswer {
  const shown = consentPage({
    client: asked.client.name,
    returnsTo: new URL(asked.redirectUri).host,
    accounts,
    chosenAccount: again ? again.account : accounts[0]?.account_id,
    scopes: asked.scopes,
    ticked: again ? again.ticked : asked.scopes,
    formToken: formToken(request, formKey),
    problem: again?.problem,
  });
  return page(again ? 422 : 200, shown, asked.redirectUri);
}

/**
 * Proves that whoever posts the form has read our page for this very request, which no other site can do in a
 * customer's browser. Nobody signs in to the sandbox, so there is no session that it could belong to.
 */
const formToken = ({ url }: OAuthRequest, formKey: string): string =>
  createHmac('sha256', formKey).update(url.search).digest('base64url');

function isOurForm(request: OAuthRequest, token: string, formKey: string): boolean {
  const { origin, host } = request.headers;
  // A browser that hides its origin sends `null`. The token still has to be right.
  if (origin !== undefined && origin !== 'null' && (!URL.canParse(origin) || new URL(origin).host !== host))
    return false;
  return isSameSecret(formToken(request, formKey), token);
}

/** After a form 303, so that the browser certainly goes on with a GET and without the form (RFC 9700, 4.12). */
const redirect = ({ method }: OAuthRequest, location: string): OAuthAnswer => ({
  status: method === 'POST' ? 303 : 302,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  body: '',
});

function page(status: number, { body, styleHash }: Page, redirectUri?: string): OAuthAnswer {
  const policy = [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    `form-action ${redirectUri === undefined ? "'none'" : `'self' ${sourceOf(redirectUri)}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // Not no-referrer: with that, browsers would hide the form's Origin from us too.
      'referrer-policy': 'same-origin',
    },
    body,
  };
}

/** Chrome holds the redirect after a form to `form-action`. A policy cannot name an IPv6 address, so [::1] needs its scheme. */
function sourceOf(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  return hostname.startsWith('[') ? protocol : origin;
}
