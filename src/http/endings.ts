import type { Operation } from '../api/operation.ts';
import type { HttpResponse, Lost } from '../context.ts';
import { Failure, interruption, nothingChanged } from '../errors.ts';
import { looksLikeHtml, problemIn } from './answer.ts';
import type { Looked } from './settle.ts';
import { anyEffect } from './writes.ts';

type Asked = Pick<Operation, 'safety' | 'effect'>;

/** What became of an attempt whose outcome is not known, in a few words: `HTTP 504`, `no answer within 30 s`. */
export function briefly(exchanged: HttpResponse | Lost): string {
  if ('lost' in exchanged) return lowered(exchanged.detail);
  const { status, headers, body } = exchanged;
  if (status < 300) return `HTTP ${status}, but the answer is ${looksLikeHtml(body) ? 'a web page' : 'no JSON'}`;
  if (status < 400) return `the address redirects to ${headers.location ?? 'nowhere'}, HTTP ${status}`;
  const problem = problemIn(exchanged);
  return problem ? `HTTP ${status}, ${problem.replace(/\.$/u, '')}` : `HTTP ${status}`;
}

/** As a part of a sentence, without the system's name of the error. */
const lowered = (sentence: string): string =>
  `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`.replace(/(?: \([A-Z_0-9]+\))?\.$/u, '');

/** Exit 9: what was sent, what was looked for and for how long. */
export function unknownOutcome(
  asked: Asked,
  why: string,
  { looked, answer }: { readonly looked?: Looked; readonly answer?: HttpResponse } = {},
): Failure {
  const { of, done, lookHint } = asked.effect ?? anyEffect;
  const candidates = looked && 'candidates' in looked.findings ? looked.findings.candidates : [];
  const sentences = [`${of} may or may not have been ${done} (${why}).`];
  if (looked) sentences.push(lookedFor(looked, candidates));
  return new Failure('unknown', sentences.join(' '), {
    hint:
      asked.safety === 'repeatable'
        ? `It is safe to run the command again: repeating it changes nothing more. ${lookHint}`
        : `Do not repeat it blindly. ${lookHint}`,
    looked: { seconds: looked ? Math.round(looked.ms / 100) / 10 : 0, candidates },
    answer,
  });
}

function lookedFor({ ms, trouble }: Looked, candidates: readonly number[]): string {
  const span = ms < 1000 ? 'svc looked once' : `svc looked for ${Math.round(ms / 1000)} s`;
  if (candidates.length > 0) {
    const ids = candidates.join(' and ');
    return `${span}: ${ids} ${candidates.length === 1 ? 'has' : 'have'} the same content, but may have been there before.`;
  }
  return trouble ? `${span}, and that failed too: ${trouble.message}` : `${span} and did not find it.`;
}

/** Every attempt was answered with a failure of the service, and the last look showed that nothing is there. */
export const nothingStored = (asked: Asked, status: number, { ms }: Looked): Failure =>
  new Failure('failed', `The service failed (HTTP ${status}), and nothing was stored: svc looked.`, {
    status,
    hint: `It is safe to try again. ${(asked.effect ?? anyEffect).lookHint}`,
    looked: { seconds: Math.round(ms / 100) / 10, candidates: [] },
  });

/** How `briefly` tells of an attempt that the interruption itself has cut short. */
const itself = 'it was interrupted';

/** `why`: what became of an attempt that the service may have acted on; undefined where none left. */
export function stoppedShort(signal: AbortSignal, asked: Asked, why: string | undefined): Failure {
  if (asked.safety === 'read' || why === undefined) return interruption(signal, `Interrupted. ${nothingChanged}`);
  const { of, done, lookHint } = asked.effect ?? anyEffect;
  const reason = why === itself ? '' : ` (${why})`;
  const { kind, message } = interruption(signal, `Interrupted. ${of} may or may not have been ${done}${reason}.`);
  return new Failure(kind, message, { hint: lookHint, mayBeDone: true });
}

function whatIs(body: string): string {
  if (looksLikeHtml(body)) return 'a web page';
  return body.trim() === '' ? 'nothing' : 'something else';
}

/** The address answers, but is not the service: a web page, another API, a wrong path prefix. */
export function strangerFailure(baseUrl: string, exchanged: HttpResponse, what?: string): Failure {
  const { status, body } = exchanged;
  const kind = what ?? whatIs(body);
  return new Failure('failed', `${baseUrl} is not the service: it answers with ${kind} (HTTP ${status}).`, {
    status,
    hint: 'Check the base URL and its path prefix (--base-url, SVC_BASE_URL, svc config get base_url), or run: svc doctor',
    answer: exchanged,
  });
}

/** Reads that are redirected to another origin; a write is never followed. `path` is what was asked for. */
export function redirected(exchanged: HttpResponse, path: string): Failure {
  const { location = '' } = exchanged.headers;
  return new Failure('failed', `The service redirects to ${location || 'nowhere'} (HTTP ${exchanged.status}).`, {
    status: exchanged.status,
    hint: baseUrlHint(location, path),
    answer: exchanged,
  });
}

/** The base URL under which the same path is the redirect's target. */
export function baseUrlHint(location: string, path: string): string {
  if (!/^https?:/iu.test(location) || !URL.canParse(location)) return 'Check the base URL: --base-url, SVC_BASE_URL.';
  const target = location.replace(/#.*$/u, '');
  const above = target.endsWith(path) ? target.slice(0, -path.length) : '?';
  // A login page often has the path as a parameter.
  const base = above.includes('?') ? new URL(location).origin : above;
  return `If that is where the service is, use: --base-url ${base}`;
}

const networkHints: Partial<Record<Lost['reason'], string>> = {
  timeout: `${nothingChanged} Give --timeout SECONDS for a slow network, or run: svc doctor`,
  tls: 'For a certificate of your own authority set NODE_EXTRA_CA_CERTS to its file.',
};

/** Nothing was changed: of a read, or of a write that never reached the service. */
export function unreachable(baseUrl: string, { detail, reason }: Lost): Failure {
  const { origin } = new URL(baseUrl);
  if (reason === 'too-large' || reason === 'unreadable') {
    return new Failure('failed', `${origin} answered, but svc cannot use the answer. ${detail}`, {
      hint: `Ask for less at a time (--per-page, --limit), and check the address. ${nothingChanged}`,
    });
  }
  if (reason === 'proxy') {
    return new Failure('network', detail, {
      hint: `Put the name and the password in its address, http://NAME:PASSWORD@HOST:PORT, or go past it with NO_PROXY. ${nothingChanged}`,
    });
  }
  return new Failure('network', `Could not reach ${origin}: ${detail}`, {
    hint: networkHints[reason] ?? `${nothingChanged} Check the address and the network, or run: svc doctor`,
  });
}
