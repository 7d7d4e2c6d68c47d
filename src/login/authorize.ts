import { type Attempt, beginAttempt, type Grant, redeem } from '../auth/oauth.ts';
import type { Client } from '../auth/token-endpoint.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, interruption, isInterruption } from '../errors.ts';
import { aborted } from '../promise/aborted.ts';
import { isSameSecret } from '../text/digest.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Page } from './callback-page.ts';
import { canListen, listenForCallback, type Receiver } from './loopback.ts';
import type { Lines } from './stdin-lines.ts';

/** How long the person has to allow it in the browser. */
const patienceMs = 5 * 60_000;

type Wanted = {
  readonly client: Client;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** False: the address is only printed. */
  readonly browser: boolean;
  /** Standard input in a pipe: addresses pasted by a program. */
  readonly lines: Lines;
};

/** What the person allowed. `show` tells the browser how it ended; call it exactly once, also on failure. */
export type Authorized = { readonly grant: Grant; show(page: Page): Promise<void> };

type Answer = { readonly params: URLSearchParams; show(page: Page): Promise<void> };

type Ports = Pick<
  Context,
  'stdin' | 'stderr' | 'ask' | 'exchange' | 'clock' | 'random' | 'notice' | 'progress' | 'openBrowser' | 'signal'
>;

/** The authorization code flow with PKCE (service.md#oauth-2), from the address to the tokens. */
export async function authorize(ctx: Ports, settings: Settings, wanted: Wanted): Promise<Authorized> {
  const attempt = await beginAttempt(ctx, wanted.client, { ...wanted, insecureHttp: settings.insecureHttp });
  const receiver = await openReceiver(ctx, settings, wanted, attempt);
  const done = new AbortController();
  const opened = wanted.browser && (await openBrowser(ctx, attempt.url, done.signal));
  if (!opened) tell(ctx, `Open this address in a browser to log in:\n\n  ${attempt.url}\n`);
  try {
    const ways: Promise<Answer>[] = [timeOut(ctx, again(settings, wanted), done.signal), interrupted(ctx.signal)];
    if (receiver) ways.push(receiver.callback.then(({ params, answer }) => ({ params, show: answer })));
    const pasted = readPasted(ctx, settings, wanted, { attempt, opened, receiver, signal: done.signal });
    if (pasted) ways.push(pasted);
    if (opened && receiver) ctx.progress('Waiting for the browser');
    const answer = await Promise.race(ways);
    done.abort();
    ctx.progress(undefined);
    return await finish(ctx, settings, { wanted, attempt, receiver }, answer);
  } catch (error) {
    await receiver?.close();
    throw error;
  } finally {
    ctx.progress(undefined);
    done.abort();
  }
}

async function finish(
  ctx: Ports,
  settings: Settings,
  { wanted, attempt, receiver }: { wanted: Wanted; attempt: Attempt; receiver: Receiver | undefined },
  { params, show }: Answer,
): Promise<Authorized> {
  const showAndClose = async (page: Page) => {
    await show(page);
    await receiver?.close();
  };
  try {
    const error = params.get('error');
    if (error) throw refusal(error, params.get('error_description'), again(settings, wanted));
    return { grant: await redeem(ctx, settings, { client: wanted.client, attempt }, params), show: showAndClose };
  } catch (error) {
    const told = error instanceof Failure && error.mayBeDone ? perhapsGiven(error, again(settings, wanted)) : error;
    const text = told instanceof Failure ? told.message : 'Something went wrong.';
    await showAndClose({ ok: false, title: 'The login did not succeed', text });
    throw told;
  }
}

/** The code may be spent, and then nobody has the tokens that it gave. */
const perhapsGiven = (error: Failure, login: string): Failure =>
  new Failure(
    isInterruption(error) ? error.kind : 'unknown',
    `The service may have given tokens that svc does not have: ${error.message}`,
    {
      status: error.status,
      mayBeDone: true,
      hint: [
        error.hint,
        'Such tokens are good for up to 30 days: to end them now, disconnect the app in the account.',
        `Then log in again: ${login}`,
      ]
        .filter(Boolean)
        .join(' '),
    },
  );

/** The command that tries it once more: what only this command line or this person gave has to be given again. */
function again(settings: Settings, { client, redirectUri }: Pick<Wanted, 'client'> & Partial<Wanted>): string {
  const id = client.clientId === settings.clientId ? '' : ` --client-id ${shellWord(client.clientId)}`;
  const isOwn = redirectUri === undefined || redirectUri === settings.redirectUri;
  return `svc login${id}${isOwn ? '' : ` --redirect-uri ${shellWord(redirectUri)}`}`;
}

/** Without a browser on this machine the port is not needed: the address can be pasted back. */
async function openReceiver(
  ctx: Ports,
  settings: Settings,
  { browser, redirectUri, client }: Wanted,
  attempt: Attempt,
): Promise<Receiver | undefined> {
  if (!canListen(redirectUri)) return undefined;
  try {
    return await listenForCallback(redirectUri, attempt.state, again(settings, { client }));
  } catch (error) {
    if (browser || !(error instanceof Failure)) throw error;
    ctx.notice(`${error.message} Paste the redirected address instead.`);
    return undefined;
  }
}

async function openBrowser(ctx: Ports, url: URL, visited: AbortSignal): Promise<boolean> {
  try {
    await ctx.openBrowser(url, visited);
  } catch {
    return false;
  }
  // Printed all the same: the browser may have opened on another screen, or for another person.
  tell(ctx, `The browser opens. If it does not, visit:\n\n  ${url}\n`);
  return true;
}

/** Without the address there is no login, so --quiet does not silence it. */
function tell({ stderr, progress }: Ports, text: string): void {
  progress(undefined);
  stderr.write(`${text}\n`);
}

async function timeOut({ clock }: Ports, login: string, signal: AbortSignal): Promise<never> {
  await clock.sleep(patienceMs, signal);
  throw new Failure('auth', 'The login was not allowed in the browser within five minutes.', {
    hint: `Run: ${login}`,
  });
}

const interrupted = (signal: AbortSignal): Promise<never> =>
  aborted(signal).then(() => {
    throw interruption(signal, 'The login was interrupted.');
  });

type Waiting = {
  readonly attempt: Attempt;
  readonly opened: boolean;
  readonly receiver: Receiver | undefined;
  readonly signal: AbortSignal;
};

/** The way without a callback: a person at the prompt, or a program at the other end of a pipe. */
function readPasted(
  ctx: Ports,
  settings: Settings,
  wanted: Wanted,
  { attempt, opened, receiver, signal }: Waiting,
): Promise<Answer> | undefined {
  const { noInput } = settings;
  const { lines, redirectUri, client } = wanted;
  const onTerminal = ctx.stdin.isTTY === true;
  const mayAsk = onTerminal && ctx.ask.canAsk && !noInput && !(opened && receiver);
  if (onTerminal && !mayAsk) {
    if (receiver) return undefined;
    throw new Failure('usage', 'svc needs the redirected address, but --no-input forbids asking.', {
      hint: 'Give it on standard input, or use a redirect URI on this machine: --redirect-uri',
    });
  }
  return (async () => {
    while (!signal.aborted) {
      const text = onTerminal
        ? await ctx.ask.text('Or paste the address that the browser was sent to:', { signal })
        : await lines.next();
      if (text === undefined) {
        // The pipe has ended; the browser may still come back by itself.
        if (receiver) break;
        throw new Failure('usage', 'Standard input ended without the redirected address.', {
          hint: `Run: ${again(settings, wanted)}`,
        });
      }
      // The secret may stand first, as a login in a pipe takes it, although it was known.
      if (['', client.clientSecret].includes(text.trim())) continue;
      const judged = judgePasted(text, redirectUri, attempt.state);
      if (typeof judged !== 'string') return { params: judged, show: async () => {} };
      ctx.notice(judged);
    }
    return await new Promise<never>(() => {});
  })();
}

/** The parameters of the redirect, or a sentence that says what is wrong. The same state check as for the callback. */
export function judgePasted(text: string, redirectUri: string, state: string): URLSearchParams | string {
  const pasted = text.trim().replace(/^["'<]|["'>]$/gu, '');
  const query = URL.canParse(pasted) ? new URL(pasted) : undefined;
  if (query && query.origin + query.pathname !== new URL(redirectUri).origin + new URL(redirectUri).pathname) {
    return `That address does not begin with ${redirectUri}; paste the address that the browser ended at.`;
  }
  const params = query?.searchParams ?? new URLSearchParams(pasted.replace(/^\?/u, ''));
  if (params.getAll('code').length + params.getAll('error').length !== 1) {
    return `That is not the redirected address. It begins with ${redirectUri}?code=`;
  }
  const given = params.getAll('state');
  if (given.length !== 1 || !isSameSecret(given[0] ?? '', state)) {
    return 'That address belongs to another attempt to log in (its state differs). Use the newest tab.';
  }
  return params;
}

/** RFC 6749, section 4.1.2.1. */
function refusal(error: string, description: string | null, login: string): Failure {
  if (error === 'access_denied') {
    return new Failure('auth', 'The login was declined in the browser (access_denied).', {
      hint: `Nothing was changed. To try again: ${login}`,
    });
  }
  const hint =
    error === 'invalid_scope' ? `Ask for fewer scopes: ${login} --scope identity --scope contacts:read` : undefined;
  return new Failure('auth', `The service refused the login (${error})${description ? `: ${description}` : ''}`, {
    hint,
  });
}
