import type { Operation } from '../../api/operation.ts';
import type { HttpResponse, Lost } from '../../context.ts';
import { Failure, interruption, nothingChanged } from '../../errors.ts';
import { isOwnRefusal, jsonOf, readBody } from '../../retry/own-word.ts';
import { uncapital } from '../../text/capital.ts';
import { listed } from '../../text/listed.ts';
import { fieldsIn } from '../../text/record.ts';
import { shellWord } from '../../text/shell-word.ts';
import { looksLikeHtml, perhapsBetween, problemIn } from './answer.ts';
import type { Looked, Undecided } from './settle.ts';
import { anyEffect } from './writes.ts';

type WriteSpec = Pick<Operation, 'safety' | 'effect'>;

/** What became of an attempt whose outcome is not known, in a few words: `HTTP 504`, `no answer within 30 s`. */
export function briefly(exchanged: HttpResponse | Lost, otherIn?: (json: unknown) => string | undefined): string {
  if ('lost' in exchanged) return lowered(exchanged.detail);
  const { status, headers, body } = exchanged;
  if (status < 300) return `HTTP ${status}, but the answer ${whatSuccess(body, otherIn)}`;
  if (status < 400) return `the address redirects to ${headers.location ?? 'nowhere'}, HTTP ${status}`;
  const problem = problemIn(exchanged);
  if (problem) return `HTTP ${status}, ${problem.replace(/\.$/u, '')}`;
  const read = readBody(body);
  const isForeign = read.form === 'json' && status < 500 && !isOwnRefusal(exchanged, read);
  return isForeign ? `HTTP ${status} in a form that the service does not use` : `HTTP ${status}`;
}

function whatSuccess(body: string, otherIn?: (json: unknown) => string | undefined): string {
  if (looksLikeHtml(body)) return 'is a web page';
  const read = readBody(body);
  if (read.form === 'none') return 'is no JSON';
  const other = read.form === 'json' ? otherIn?.(read.json) : undefined;
  return other === undefined ? 'does not show that it was done' : `shows ${other}`;
}

/** As a part of a sentence, without the system's name of the error. */
const lowered = (sentence: string): string => uncapital(sentence).replace(/(?: \([A-Z_0-9]+\))?\.$/u, '');

type Known = {
  readonly looked?: Looked;
  readonly answer?: HttpResponse;
  /** In place of the usual advice. */
  readonly hint?: string;
  readonly isBarred?: boolean;
};

/** Exit 9: what was sent, what was looked for and for how long. */
export function unknownOutcome(asked: WriteSpec, why: string, { looked, answer, hint, isBarred }: Known = {}): Failure {
  const { of, done, lookHint } = asked.effect ?? anyEffect;
  const undecided: Undecided = looked && 'candidates' in looked.findings ? looked.findings : { candidates: [] };
  const sentences = [`${of} may or may not have been ${done} (${why}).`];
  if (looked) sentences.push(lookedFor(looked, undecided));
  const usual =
    asked.safety === 'repeatable'
      ? `It is safe to run the command again: repeating it changes nothing more. ${lookHint}`
      : `Do not repeat it blindly. ${lookHint}`;
  return new Failure('unknown', sentences.join(' '), {
    hint: undecided.advice ?? hint ?? usual,
    looked: { seconds: looked ? Math.round(looked.ms / 100) / 10 : 0, candidates: undecided.candidates },
    answer,
    ...(isBarred && { isBarred }),
  });
}

/** Why a record that was found is not taken for ours: of one, of several. */
const notTaken: Readonly<Record<NonNullable<Undecided['because']>, readonly [one: string, several: string]>> = {
  older: [
    'has the same content, but may have been there before',
    'have the same content, but may have been there before',
  ],
  'in part': [
    'agrees in part only, so it may be somebody else’s',
    'agree in part only, so they may be somebody else’s',
  ],
  several: [
    'has the same content, but may be another one',
    'have the same content, and svc cannot tell which one is yours',
  ],
  'not all': [
    'has the same content, but the list leaves out others, so it may not be yours',
    'have the same content, but the list leaves out others, so they may not be yours',
  ],
  useless: ['is there, but its signing secret is lost', 'are there, and svc cannot tell which one is yours'],
};

/** Of records that were found: why none of them is taken. */
export function candidatesTold({ candidates, because = 'older' }: Undecided): string {
  const [one, several] = notTaken[because];
  return `${named(candidates)} ${candidates.length === 1 ? one : several}.`;
}

function lookedFor({ ms, trouble }: Looked, undecided: Undecided): string {
  const { candidates, isPartial } = undecided;
  const span = ms < 1000 ? 'svc looked once' : `svc looked for ${Math.round(ms / 1000)} s`;
  if (candidates.length > 0) return `${span}: ${candidatesTold(undecided)}`;
  if (trouble) return `${span}, and that failed too: ${trouble.message}`;
  return isPartial ? `${span}, could not see everything, and did not find it.` : `${span} and did not find it.`;
}

const namedAtMost = 10;

/** `7`, `7 and 9`, `7, 8 and 9`; of many the first. */
const named = (ids: readonly number[]): string =>
  listed(ids.length > namedAtMost ? [...ids.slice(0, namedAtMost), `${ids.length - namedAtMost} more`] : ids);

/** Every attempt was answered with a failure of the service, and the last look showed that nothing is there. */
export const nothingStored = (asked: WriteSpec, status: number, { ms }: Looked): Failure =>
  new Failure('failed', `The service failed (HTTP ${status}), and nothing was stored: svc looked.`, {
    status,
    hint: `It is safe to try again. ${(asked.effect ?? anyEffect).lookHint}`,
    looked: { seconds: Math.round(ms / 100) / 10, candidates: [] },
  });

/** How `briefly` tells of an attempt that the interruption itself has cut short. */
const itself = 'it was interrupted';

/** `why`: what became of an attempt that the service may have acted on; undefined where none left. */
export function stoppedShort(signal: AbortSignal, asked: WriteSpec, why: string | undefined): Failure {
  if (asked.safety === 'read' || why === undefined) return interruption(signal, `Interrupted. ${nothingChanged}`);
  const { of, done, lookHint } = asked.effect ?? anyEffect;
  const reason = why === itself ? '' : ` (${why})`;
  const { kind, message } = interruption(signal, `Interrupted. ${of} may or may not have been ${done}${reason}.`);
  return new Failure(kind, message, { hint: lookHint, mayBeDone: true });
}

function whatIs({ status, body }: HttpResponse): string {
  if (looksLikeHtml(body)) return 'a web page';
  if (body.trim() === '') return 'nothing';
  const read = readBody(body);
  if (read.form === 'none') return 'a text that is no JSON';
  return status === 404 && typeof fieldsIn(jsonOf(read)).error === 'string' ? 'errors to everything' : 'something else';
}

const addressHint =
  'Check the base URL and its path prefix (--base-url, SVC_BASE_URL, svc config get base_url), or run: svc doctor';

/** The address answers, but is not the service: a web page, another API, a wrong path prefix. */
export function strangerFailure(baseUrl: string, exchanged: HttpResponse, what = whatIs(exchanged)): Failure {
  const { status } = exchanged;
  const told = `${baseUrl} is not the service: it answers with ${what} (HTTP ${status}).`;
  return new Failure('failed', told, { ...by(exchanged, addressHint), isStranger: true });
}

/** What every Failure has that comes of an answer. */
const by = (answer: HttpResponse, hint: string) => ({ status: answer.status, hint, answer });

/** A write that went to such an address: nobody knows what became of it. */
export const sentToStranger = (asked: WriteSpec, baseUrl: string, answer: HttpResponse): Failure =>
  unknownOutcome(asked, `${baseUrl} is not the service: it answers with ${whatIs(answer)}, HTTP ${answer.status}`, {
    answer,
    hint: asked.safety === 'repeatable' ? addressHint : `Do not repeat it blindly. ${addressHint}`,
  });

/** The service is there, but something on the way has answered in its place, or it answers as it never does. */
export function oddAnswer(exchanged: HttpResponse, what = whatIs(exchanged)): Failure {
  const told = `The answer (HTTP ${exchanged.status}) is ${what}, not what the service answers.`;
  return new Failure('failed', told, by(exchanged, perhapsBetween));
}

/** The answer to somebody else's request, as a proxy or a cache mixes them up: nothing is made of it. */
export const otherRecord = (answer: HttpResponse, asked: string, other: number): Failure =>
  new Failure('failed', `${asked} was asked for, and the answer is ${other}. It is not used.`, {
    ...by(answer, perhapsBetween),
    isOther: true,
  });

/** Reads that are redirected to another origin; a write is never followed. `path` is what was asked for. */
export function redirected(exchanged: HttpResponse, path: string): Failure {
  const { location = '' } = exchanged.headers;
  const told = `The service redirects to ${location || 'nowhere'} (HTTP ${exchanged.status}).`;
  return new Failure('failed', told, by(exchanged, baseUrlHint(location, path)));
}

/** The base URL under which the same path is the redirect's target. */
export function baseUrlHint(location: string, path: string): string {
  if (!/^https?:/iu.test(location) || !URL.canParse(location)) return 'Check the base URL: --base-url, SVC_BASE_URL.';
  const target = location.replace(/#.*$/u, '');
  const above = target.endsWith(path) ? target.slice(0, -path.length) : '?';
  // A login page often has the path as a parameter.
  const base = above.includes('?') ? new URL(location).origin : above;
  return `If that is where the service is, use: --base-url ${shellWord(base)}`;
}

const networkHints: Partial<Record<Lost['reason'], string>> = {
  timeout: `${nothingChanged} Give --timeout SECONDS for a slow network, or run: svc doctor`,
  tls: 'For a certificate of your own authority set NODE_EXTRA_CA_CERTS to its file.',
};

const proxyHint = `Put the name and the password in its address, http://NAME:PASSWORD@HOST:PORT, or go past it with NO_PROXY. ${nothingChanged}`;

/** The service was not reached, or its answer was: whatever came of a read, or of a write that never left. */
export function unreachable(baseUrl: string, cause: Lost): Failure {
  const { detail, reason } = cause;
  const { origin } = new URL(baseUrl);
  if (reason === 'proxy') return new Failure('network', detail, { hint: proxyHint });
  if (reason === 'too-large' || reason === 'unreadable') {
    return new Failure('failed', `${origin} answered, but svc cannot use the answer. ${detail}`, {
      hint: `Ask for less at a time (--per-page, --limit), and check the address. ${nothingChanged}`,
      cause,
    });
  }
  return new Failure('network', `Could not reach ${origin}: ${detail}`, {
    hint:
      (detail.endsWith('speaks plain http://.') ? undefined : networkHints[reason]) ??
      `${nothingChanged} Check the address and the network, or run: svc doctor`,
    cause,
  });
}
