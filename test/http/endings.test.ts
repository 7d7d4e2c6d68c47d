import { describe, expect, test } from 'vitest';
import type { Effect } from '../../src/api/operation.ts';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { Failure } from '../../src/errors.ts';
import {
  baseUrlHint,
  briefly,
  candidatesTold,
  nothingStored,
  otherRecord,
  redirected,
  sentToStranger,
  stoppedShort,
  strangerFailure,
  unknownOutcome,
  unreachable,
} from '../../src/http/exchange/endings.ts';

const says = (status: number, body = '', headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers,
  body,
});
const lost = (detail: string, reason: Lost['reason'] = 'reset'): Lost => ({ lost: 'after-sending', reason, detail });
const problem = { 'content-type': 'application/problem+json' };
const page = '<!doctype html><title>Gateway</title>';
const effect: Effect = { of: 'The ticket', done: 'created', lookHint: 'Look with: svc tickets list' };
const anyHint = 'Look whether it was done before you send it again.';

describe('what became of an attempt, in a few words', () => {
  test.each<[HttpResponse | Lost, string]>([
    [says(504), 'HTTP 504'],
    [says(400), 'HTTP 400'],
    [says(200, page), 'HTTP 200, but the answer is a web page'],
    [says(299, '{"half'), 'HTTP 299, but the answer is no JSON'],
    [says(200, '{"id":1}'), 'HTTP 200, but the answer does not show that it was done'],
    [says(503, '{"title":"At A.B","detail":"It is down."}', problem), 'HTTP 503, At A.B: It is down'],
    [says(503, '{"title":"It is down"}', { 'content-type': 'application/json' }), 'HTTP 503'],
    [says(503, '{"title":"It is down"}', { 'content-type': 'x-application/problem+json' }), 'HTTP 503'],
    [says(307, '', { location: 'https://a.test/' }), 'the address redirects to https://a.test/, HTTP 307'],
    [says(300), 'the address redirects to nowhere, HTTP 300'],
    [lost('No answer within 30 s.'), 'no answer within 30 s'],
    [lost('The connection broke (ECONNRESET).'), 'the connection broke'],
    [lost('It broke (twice) at A.B (E_1).'), 'it broke (twice) at A.B'],
    [lost('It broke (twice).'), 'it broke (twice)'],
    [lost('No full stop'), 'no full stop'],
    [lost('It broke (E1). Then more'), 'it broke (E1). Then more'],
  ])('%j: %s', (exchanged, words) => {
    expect(briefly(exchanged)).toBe(words);
  });
});

test('a success that shows something else is told as that, where it can be read', () => {
  const otherIn = () => 'ticket 9';
  expect(briefly(says(200, '{"id":9}'), otherIn)).toBe('HTTP 200, but the answer shows ticket 9');
  const deep = '['.repeat(300) + ']'.repeat(300);
  expect(briefly(says(200, deep), otherIn)).toBe('HTTP 200, but the answer does not show that it was done');
});

describe('an outcome that is not known', () => {
  const asked = { safety: 'verify', effect } as const;
  const candidates = (...ids: number[]) => ({ findings: { candidates: ids }, ms: 30_040 });

  test('without a look says what may have been done, and where to look', () => {
    const answer = says(504);
    expect(unknownOutcome(asked, 'HTTP 504', { answer })).toMatchObject({
      kind: 'unknown',
      message: 'The ticket may or may not have been created (HTTP 504).',
      hint: 'Do not repeat it blindly. Look with: svc tickets list',
      looked: { seconds: 0, candidates: [] },
      answer,
    });
  });

  test.each([
    [candidates(), 'svc looked for 30 s and did not find it.', 30],
    [{ ...candidates(), ms: 999 }, 'svc looked once and did not find it.', 1],
    [{ ...candidates(), ms: 1000 }, 'svc looked for 1 s and did not find it.', 1],
    [{ ...candidates(), ms: 1560 }, 'svc looked for 2 s and did not find it.', 1.6],
    [candidates(7), 'svc looked for 30 s: 7 has the same content, but may have been there before.', 30],
    [candidates(7, 9), 'svc looked for 30 s: 7 and 9 have the same content, but may have been there before.', 30],
    [
      { ...candidates(), trouble: new Failure('forbidden', 'This login lacks the scope tickets:read.') },
      'svc looked for 30 s, and that failed too: This login lacks the scope tickets:read.',
      30,
    ],
  ])('after a look says what it showed (%#)', (looked, sentence, seconds) => {
    const failure = unknownOutcome(asked, 'HTTP 504', { looked });
    expect(failure.message).toBe(`The ticket may or may not have been created (HTTP 504). ${sentence}`);
    const { findings } = looked;
    expect(failure.looked).toEqual({ seconds, candidates: 'candidates' in findings ? findings.candidates : [] });
  });

  test('names ten candidates, and of more how many there are', () => {
    const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect(candidatesTold({ candidates: ids })).toMatch(/^1, 2, .*, 9 and 10 have the same content/u);
    expect(candidatesTold({ candidates: [...ids, 11, 12] })).toMatch(/^1, 2, .*, 9, 10 and 2 more have/u);
  });

  test('is told apart from one that nothing bars from being tried again', () => {
    expect(unknownOutcome(asked, 'HTTP 504', { isBarred: true }).isBarred).toBe(true);
    expect(unknownOutcome(asked, 'HTTP 504').isBarred).toBeUndefined();
  });

  test('of what may be repeated says that it is safe', () => {
    expect(unknownOutcome({ safety: 'repeatable', effect }, 'HTTP 504').hint).toBe(
      'It is safe to run the command again: repeating it changes nothing more. Look with: svc tickets list',
    );
  });

  test('of a request that is not in the table is told in general words', () => {
    expect(unknownOutcome({ safety: 'once' }, 'HTTP 504')).toMatchObject({
      message: 'The request may or may not have been carried out (HTTP 504).',
      hint: `Do not repeat it blindly. ${anyHint}`,
    });
  });
});

test('where surely nothing was stored it is said, with where to look', () => {
  const looked = { findings: { candidates: [] }, ms: 1260 };
  expect(nothingStored({ safety: 'verify', effect }, 500, looked)).toMatchObject({
    kind: 'failed',
    message: 'The service failed (HTTP 500), and nothing was stored: svc looked.',
    status: 500,
    hint: 'It is safe to try again. Look with: svc tickets list',
    looked: { seconds: 1.3, candidates: [] },
  });
  expect(nothingStored({ safety: 'verify' }, 500, looked).hint).toBe(`It is safe to try again. ${anyHint}`);
});

describe('an interruption', () => {
  const signal = AbortSignal.abort('SIGTERM');

  test.each([
    ['read', 'HTTP 500'],
    ['verify', undefined],
  ] as const)('of a %s request after %s changed nothing', (safety, why) => {
    const failure = stoppedShort(signal, { safety, effect }, why);
    expect(failure).toMatchObject({ kind: 'terminated', message: 'Interrupted. Nothing was changed.' });
  });

  test.each([
    ['HTTP 500', 'Interrupted. The ticket may or may not have been created (HTTP 500).'],
    ['it was interrupted', 'Interrupted. The ticket may or may not have been created.'],
  ])('of a write that left (%s) is in doubt', (why, message) => {
    const failure = stoppedShort(signal, { safety: 'verify', effect }, why);
    expect(failure).toMatchObject({
      ...{ kind: 'terminated', message, hint: 'Look with: svc tickets list', mayBeDone: true },
    });
    expect(stoppedShort(signal, { safety: 'once' }, why)).toMatchObject({
      message: message.replace('The ticket', 'The request').replace('created', 'carried out'),
      hint: anyHint,
    });
  });
});

describe('another server in place of the service', () => {
  test.each([
    [page, undefined, 'a web page'],
    [' \n', undefined, 'nothing'],
    ['{}', undefined, 'something else'],
    ['{"error":"No such page"}', undefined, 'errors to everything'],
    ['{"error":404}', undefined, 'something else'],
    [page, 'a list', 'a list'],
  ])('that answers %j: %s', (body, what, kind) => {
    const answer = says(404, body);
    expect(strangerFailure('https://a.test/v2', answer, what)).toMatchObject({
      kind: 'failed',
      message: `https://a.test/v2 is not the service: it answers with ${kind} (HTTP 404).`,
      hint: 'Check the base URL and its path prefix (--base-url, SVC_BASE_URL, svc config get base_url), or run: svc doctor',
      status: 404,
      answer,
    });
  });

  test('that a write was sent to: it may be repeated where that changes nothing more', () => {
    const check = expect.stringMatching(/^Check the base URL/u);
    const answer = says(200, '{"error":"No such page"}');
    expect(sentToStranger({ safety: 'repeatable' }, 'https://a.test', answer).hint).toEqual(check);
    expect(sentToStranger({ safety: 'once' }, 'https://a.test', answer)).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('it answers with something else, HTTP 200'),
      hint: expect.stringMatching(/^Do not repeat it blindly\. Check the base URL/u),
    });
  });

  test('that redirects: the base URL to use is named', () => {
    const answer = says(301, '', { location: 'https://b.test/v2/tickets' });
    expect(redirected(answer, '/tickets')).toMatchObject({
      kind: 'failed',
      message: 'The service redirects to https://b.test/v2/tickets (HTTP 301).',
      hint: 'If that is where the service is, use: --base-url https://b.test/v2',
      status: 301,
      answer,
    });
    expect(redirected(says(301), '/tickets')).toMatchObject({
      message: 'The service redirects to nowhere (HTTP 301).',
      hint: 'Check the base URL: --base-url, SVC_BASE_URL.',
    });
  });

  test.each([
    ['http://b.test/v2/tickets', '--base-url http://b.test/v2'],
    ['HTTPS://b.test/v2/tickets#top', '--base-url HTTPS://b.test/v2'],
    ['https://b.test/login?next=/tickets#/tickets', '--base-url https://b.test'],
    ['https://b.test/login', '--base-url https://b.test'],
    ['https://b.test/tickets/more', '--base-url https://b.test'],
  ])('to %s: %s', (location, advice) => {
    expect(baseUrlHint(location, '/tickets')).toBe(`If that is where the service is, use: ${advice}`);
  });

  test.each(['', '/tickets', 'javascript:https://b.test', 'https://', 'mailto:a@b.test'])(
    'to %j names no base URL',
    (location) => {
      expect(baseUrlHint(location, '/tickets')).toBe('Check the base URL: --base-url, SVC_BASE_URL.');
    },
  );
});

test.each([
  ['timeout', 'Nothing was changed. Give --timeout SECONDS for a slow network, or run: svc doctor'],
  ['tls', 'For a certificate of your own authority set NODE_EXTRA_CA_CERTS to its file.'],
  ['refused', 'Nothing was changed. Check the address and the network, or run: svc doctor'],
] as const)('a service that cannot be reached (%s) is named by its origin', (reason, hint) => {
  expect(unreachable('https://a.test/v2', lost('It refuses.', reason))).toMatchObject({
    kind: 'network',
    message: 'Could not reach https://a.test: It refuses.',
    hint,
  });
});

test('where the service speaks plain http, no certificate is advised', () => {
  const { hint } = unreachable('https://a.test', lost('a.test speaks plain http://.', 'tls'));
  expect(hint).toBe('Nothing was changed. Check the address and the network, or run: svc doctor');
});

test('an answer about another record has the answer, and says what it is', () => {
  const answer = says(200);
  expect(otherRecord(answer, 'Ticket 8', 9)).toMatchObject({ kind: 'failed', status: 200, answer, isOther: true });
});

test('an address in a hint is one word to a shell, whatever a redirect holds', () => {
  const evil = "https://api.example.com/x$(touch$IFS/x);'/platform";
  const hint = baseUrlHint(`${evil}/account`, '/account');
  expect(hint).toBe(`If that is where the service is, use: --base-url '${evil.replace("'", "'\\''")}'`);
});
