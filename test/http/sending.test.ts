import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { loggedIn } from '../auth/auth-world.ts';
import { createWorld, type Ran, type RunOptions, svc, virtualClock } from '../svc.ts';

type Ending = HttpResponse | Lost;

const json = { 'content-type': 'application/json' };
const says = (status: number, body: object | string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { ...json, ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const lost = (reason: Lost['reason'] = 'reset', when: Lost['lost'] = 'after-sending'): Lost => ({
  lost: when,
  reason,
  detail: 'It broke.',
});
const page = says(200, '<!doctype html>', { 'content-type': 'text/html' });
const ownFailure = says(500, { error: 'Server error' });
const limited = (seconds: string) => says(429, { error: 'Slow down' }, { 'retry-after': seconds });

const contact = { contact_id: 7, name: 'Ada', last_name: 'B', email: 'a@example.com', phone: '', company: '' };
const full = { ...contact, website: null, country: '', tags: [], metadata: {}, lead_status: 'new', created_at: '' };
const list = says(200, { contacts: [], meta: { current_page: 1, last_page: 1, total: 0 } });
const changed = says(200, { contact: { ...full, created_at: '2026-01-01T00:00:00Z' } });
const gone = says(404, { error: 'Not found' });

const read = ['contacts', 'list', '--json'];
const change = ['contacts', 'update', '7', '--name', 'Ada', '--json'];
const once = ['tickets', 'note', '8', '--body', 'Hello', '--json'];
const remove = ['lists', 'delete', '4', '--yes', '--json'];

type Played = { readonly ran: Ran; readonly sent: readonly HttpRequest[]; readonly at: readonly number[]; ms: number };

/** The answers come in turn, the last one again and again; each takes 10 ms. */
async function play(argv: readonly string[], endings: readonly Ending[], options?: RunOptions): Promise<Played> {
  const clock = virtualClock();
  const began = clock.ticks();
  const sent: HttpRequest[] = [];
  const at: number[] = [];
  const world = createWorld(
    async (request) => {
      at.push(clock.ticks() - began);
      sent.push(request);
      clock.advance(10);
      return endings[Math.min(sent.length, endings.length) - 1] ?? list;
    },
    { clock },
  );
  const ran = await svc(world, argv, options);
  return { ran, sent, at, ms: clock.ticks() - began };
}

describe('a request that never left', () => {
  const unsent = lost('refused', 'before-sending');

  test('is sent again twice, whatever it does', async () => {
    const { ran, at } = await play(once, [unsent, unsent, says(201, { note: { id: 1, body: 'Hello' } })]);
    expect(ran.exitCode).toBe(0);
    expect(at).toEqual([0, 510, 1720]);
  });

  test('for a third time is the network’s fault, and nothing was changed', async () => {
    const { ran, sent } = await play(once, [unsent]);
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('Could not reach https://service.test: It broke.');
    expect(sent).toHaveLength(3);
  });

  test('for its certificate is not sent again', async () => {
    const { ran, sent } = await play(read, [lost('tls', 'before-sending')]);
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect(sent).toHaveLength(1);
  });

  test('after an attempt that may have worked leaves it in doubt', async () => {
    const { ran } = await play(change, [says(504, ''), unsent]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('(HTTP 504; then it broke)');
  });
});

describe('a read without a good answer', () => {
  test('is sent four times in growing steps, and its last failure is told', async () => {
    const { ran, at } = await play(read, [lost(), lost(), lost(), ownFailure]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('The service failed with status 500: Server error.');
    expect(at).toEqual([0, 510, 1520, 3530]);
  });

  test.each([408, 499])('that a gateway gave up on with a %i is sent again', async (status) => {
    const { ran, sent } = await play(read, [says(status, 'Too slow'), list]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(sent).toHaveLength(2);
  });

  test('leaves nothing in doubt where its login ends meanwhile', async () => {
    const { ran } = await play(read, [says(504, ''), says(401, { error: 'No such token' })]);
    expect(ran.exitCode).toBe(4);
    expect(ran.stderr).toContain('No such token.');
  });

  test('is a matter of the network where the connection broke each time', async () => {
    const { ran } = await play(read, [lost()]);
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('Could not reach https://service.test');
  });

  test.each([
    [page, 'it answers with a web page (HTTP 200)'],
    [says(200, '{"contacts":['), 'it answers with a text that is no JSON (HTTP 200)'],
    [says(299, '{"contacts":['), 'it answers with a text that is no JSON (HTTP 299)'],
    [says(200, ''), 'it answers with nothing (HTTP 200)'],
    [says(404, '<html>', { 'content-type': 'text/html' }), 'it answers with a web page (HTTP 404)'],
    [says(499, 'x'), 'A gateway gave up on it (HTTP 499).'],
    [says(408, { error: 'Too slow' }), 'A gateway gave up on it (HTTP 408): Too slow.'],
    [says(502, '<html>'), 'The service failed with status 502.'],
  ])('that is answered otherwise says with what (%#)', async (answer, words) => {
    const { ran } = await play(read, [answer]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain(words);
  });
});

test('a read whose answer has what was asked for beside a field of errors is not sent again', async () => {
  const beside = { success: false, contacts: [], meta: { current_page: 1, last_page: 1, total: 0 } };
  const { ran, sent } = await play(read, [says(200, beside)]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(sent).toHaveLength(1);
});

test('a read whose answer is no JSON each time, where the service answers for the account, was cut off', async () => {
  const cut = says(200, '{"contacts":[');
  const { ran } = await play(read, [cut, cut, cut, cut, says(200, { account_id: 1 })]);
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain('The service answered 200, but not in JSON.\nIt may have been cut off on its way.');
});

describe('an answer that svc does not get', () => {
  const large: Lost = {
    lost: 'after-sending',
    reason: 'too-large',
    detail: 'The answer is larger than svc reads (64 MB).',
  };

  test('because it is too large is said as that, and a read is not sent again', async () => {
    const { ran, sent } = await play(read, [large]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(
      /^Error: \S+ answered, but svc cannot use the answer\. The answer is larger than svc reads \(64 MB\)\.\nAsk for less/u,
    );
    expect(ran.stderr).not.toContain('Could not reach');
    expect(sent).toHaveLength(1);
  });

  test('because it is packed in a way that svc cannot read is not asked for again either', async () => {
    const { ran, sent } = await play(read, [lost('unreadable')]);
    expect(ran.exitCode).toBe(1);
    expect(sent).toHaveLength(1);
  });

  test('because it is too large is no reason not to repeat what may be done twice', async () => {
    const { ran, sent } = await play(change, [large, changed]);
    expect(ran.exitCode).toBe(0);
    expect(sent).toHaveLength(2);
  });

  test('because it is too large leaves a write in doubt', async () => {
    const { ran, sent } = await play(once, [large]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('(the answer is larger than svc reads (64 MB))');
    expect(sent).toHaveLength(1);
  });

  test('because a proxy refused it is said as that: nothing was sent', async () => {
    for (const argv of [read, once, change]) {
      const { ran, sent } = await play(argv, [lost('proxy', 'before-sending')]);
      expect(ran.exitCode, ran.stderr).toBe(10);
      expect(ran.stderr).toContain('It broke.');
      // Nobody expects of a read that it changed something.
      expect(ran.stderr.includes('Nothing was changed.')).toBe(argv !== read);
      expect(ran.stderr).not.toContain('Could not reach');
      expect(sent).toHaveLength(1);
    }
  });

  test.each([
    says(407, '<html>Proxy Authentication Required</html>', { 'proxy-authenticate': 'Basic' }),
    says(407, { error: 'Proxy authentication required' }),
  ])(
    'a 407 that is answered comes from behind, whoever said it: a write stays in doubt, a read is refused (%#)',
    async (answer) => {
      for (const argv of [once, change]) {
        const { ran, sent } = await play(argv, [answer]);
        expect(ran.exitCode, ran.stderr).toBe(9);
        expect(ran.stderr).toContain('HTTP 407');
        expect(ran.stderr).not.toContain('Nothing was changed');
        expect(sent.filter(({ method }) => method !== 'GET')).toHaveLength(1);
      }
      const { ran } = await play(read, [answer]);
      expect([1, 6], ran.stderr).toContain(ran.exitCode);
    },
  );

  test('because a proxy refuses it after a doubtful attempt leaves that in doubt', async () => {
    const { ran } = await play(change, [says(504, ''), lost('proxy', 'before-sending')]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('(HTTP 504; then it broke)');
  });
});

describe('a write that may be repeated', () => {
  test('is sent again after each doubtful ending, at most four times in all', async () => {
    for (const ending of [lost(), says(504, ''), says(500, 'oops'), ownFailure, page]) {
      const { ran, sent } = await play(change, [ending, ending, ending, changed]);
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(sent).toHaveLength(4);
    }
    const { ran, sent } = await play(change, [says(504, '')]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('The contact may or may not have been changed (HTTP 504).');
    expect(ran.stderr).toContain('svc contacts get 7');
    expect(sent.map(({ method }) => method)).toEqual(['PATCH', 'PATCH', 'PATCH', 'PATCH', 'GET']);
  });

  test.each([
    [says(422, { message: 'The name is wrong', errors: {} }), 'HTTP 504; then HTTP 422'],
    [says(401, { error: 'unauthorized' }), 'HTTP 504; then HTTP 401'],
  ])('stays in doubt where a later attempt is refused (%#)', async (refused, words) => {
    const { ran, sent } = await play(change, [says(504, ''), refused]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain(`(${words})`);
    expect(sent).toHaveLength(2);
  });

  test.each([
    [says(422, { message: 'The name is wrong', errors: {} }), 6, 'The name is wrong.'],
    [says(401, { error: 'No such token' }), 4, 'No such token.'],
    [says(403, { error: 'forbidden' }), 5, 'forbidden.'],
  ])('that is refused at once is told as it is (%#)', async (refused, exitCode, words) => {
    const { ran, sent } = await play(change, [refused]);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(words);
    expect(sent).toHaveLength(1);
  });

  test('is in doubt where a limit outlasts --max-wait after a doubtful attempt', async () => {
    const { ran } = await play([...change, '--max-wait', '10'], [says(504, ''), limited('3600')]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('(HTTP 504; then HTTP 429)');
  });
});

describe('a deletion', () => {
  test('that finds nothing after a doubtful attempt has worked', async () => {
    const { ran, sent } = await play(remove, [says(504, ''), gone, says(200, { account_id: 1 })]);
    expect(ran.exitCode).toBe(0);
    expect(sent).toHaveLength(3);
  });

  test('that finds nothing at another address after a doubtful attempt is in doubt', async () => {
    const { ran } = await play(remove, [says(504, ''), gone]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('https://service.test is not the service');
  });

  test('that finds nothing at once is exit 3, for the service answers for the account', async () => {
    const { ran, sent } = await play(remove, [gone, says(200, { account_id: 1 })]);
    expect(ran.exitCode).toBe(3);
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([expect.any(String), '/platform/account']);
  });
});

describe('a 404 in the shape of the service', () => {
  test.each<[string, Ending, number]>([
    ['answers for the account', says(200, { account_id: 1 }), 3],
    ['answers with other JSON', says(200, { status: 'up' }), 1],
    ['is a web page', page, 1],
    ['refuses to answer for the account', says(403, { error: 'insufficient_scope' }), 3],
    ['fails', ownFailure, 3],
    ['fails behind a gateway', says(502, '<html>'), 3],
    ['has no account either', gone, 1],
    ['refuses in another shape', says(403, '<html>'), 1],
    ['cannot be reached', lost(), 3],
  ])('of a server that %s', async (_, account, exitCode) => {
    const { ran, sent } = await play(['tickets', 'get', '8', '--json'], [gone, account]);
    expect(ran.exitCode, ran.stderr).toBe(exitCode);
    expect(sent).toHaveLength(2);
    const told = exitCode === 3 ? 'Not found.' : 'is not the service: it answers with errors to everything (HTTP 404)';
    expect(ran.stderr).toContain(told);
  });

  test('to a write may still have been a write', async () => {
    const { ran } = await play(once, [gone, gone]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain(
      '(https://service.test is not the service: it answers with errors to everything, HTTP 404)',
    );
  });

  test('of the account itself is another server', async () => {
    const { ran, sent } = await play(['account', 'get', '--json'], [gone]);
    expect(ran.exitCode).toBe(1);
    expect(sent).toHaveLength(1);
  });
});

describe('a rate limit', () => {
  test('is waited out for as long as it says, longer each time, and the request is sent again', async () => {
    const { ran, at } = await play(once, [limited('3'), limited('3'), says(201, { note: { id: 1 } })]);
    expect(ran.exitCode).toBe(0);
    expect(at[1]).toBe(10 + 3000);
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBe(10 + 4000);
  });

  test('that outlasts --max-wait is exit 7, and says how long it would be', async () => {
    const { ran, sent } = await play([...read, '--max-wait', '60'], [limited('61')]);
    expect(ran.exitCode).toBe(7);
    expect(ran.stderr).toContain('asks for a wait of 61 s');
    expect(sent).toHaveLength(1);
  });

  test('of a gateway does not prove that a write was not done: it is sent again only where twice is once', async () => {
    const wall = says(429, '<html>Too many requests</html>', { 'content-type': 'text/html', 'retry-after': '3' });
    const note = await play(once, [wall, says(201, { note: { id: 1, body: 'Hello' } })]);
    expect([note.ran.exitCode, note.sent.length]).toEqual([9, 1]);
    expect(note.ran.stderr).toContain('may or may not have been added (HTTP 429)');
    const update = await play(change, [wall, changed]);
    expect([update.ran.exitCode, update.at]).toEqual([0, [0, 3010]]);
    const waited = await play([...change, '--max-wait', '10'], [wall, limited('60')]);
    expect(waited.ran.exitCode).toBe(9);
    expect(waited.ran.stderr).toContain('(HTTP 429; then HTTP 429)');
    expect((await play(read, [wall, list])).at).toEqual([0, 3010]);
    expect((await play(remove, [wall, gone, says(200, { account_id: 1 })])).ran.exitCode).toBe(0);
  });

  test('of a gateway is waited out before svc looks for what may have been made', async () => {
    const wall = says(429, '<html>Too many requests</html>', { 'content-type': 'text/html', 'retry-after': '3' });
    const none = says(200, { tickets: [], meta: { current_page: 1, last_page: 1, total: 0 } });
    const create = ['tickets', 'create', '--subject', 'Mine', '--settle', '0', '--json'];
    const { ran, sent, at } = await play(create, [none, wall, none]);
    expect(ran.exitCode).toBe(9);
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBe(10 + 3000);
  });

  test('of a gateway is waited out longer each time too', async () => {
    const wall = says(429, '<html>', { 'content-type': 'text/html', 'retry-after': '3' });
    const { ran, at } = await play(change, [wall, wall, wall, changed]);
    expect(ran.exitCode).toBe(0);
    expect(at).toEqual([0, 3010, 3010 + 4010, 3010 + 4010 + 6010]);
  });

  test('is told as the reason for the wait, and a lost answer as its own', async () => {
    const told = async (ending: Ending) => {
      const texts: string[] = [];
      const progress: RunOptions['progress'] = (text) => {
        if (text?.includes('continuing in')) texts.push(text.replace(/;.*/u, ''));
      };
      await play(read, [ending, ending, list], { progress });
      return [...new Set(texts)];
    };
    expect(await told(limited('3'))).toEqual(['Rate limit reached']);
    expect(await told(says(504, ''))).toEqual(['No answer from the service']);
  });

  test('that says nothing is waited for a second', async () => {
    const { at } = await play(read, [says(429, '{}'), list]);
    expect(at).toEqual([0, 1010]);
    const { ran } = await play([...read, '--max-wait', '0'], [says(429, '{}')]);
    expect(ran.stderr).toContain('asks for a wait of 1 s');
  });

  test('whose waits are short each, and too long together, is not said to ask for a long one', async () => {
    const { ran } = await play([...read, '--max-wait', '10'], Array(9).fill(says(429, '{}', { 'retry-after': '2' })));
    expect([ran.exitCode, ran.stderr]).toEqual([7, expect.stringContaining('did not end within --max-wait')]);
  });

  test('that another command was told is waited out too, but for no longer than --max-wait', async () => {
    const clock = virtualClock();
    let sent = 0;
    const world = createWorld(async () => (++sent === 1 ? limited('60') : list), { clock });
    const timed = async (argv: readonly string[]) => {
      const began = clock.ticks();
      const { exitCode } = await svc(world, argv);
      return { exitCode, sent, isWaited: clock.ticks() - began > 5000 };
    };
    const impatient = [...read, '--max-wait', '5'];
    expect(await timed(impatient)).toEqual({ exitCode: 7, sent: 1, isWaited: false });
    expect(await timed(impatient)).toEqual({ exitCode: 7, sent: 1, isWaited: false });
    expect(await timed(read)).toEqual({ exitCode: 0, sent: 2, isWaited: true });
  });

  test('waits for two minutes in all where nobody says otherwise', async () => {
    const { ran, ms } = await play(read, [limited('10')]);
    expect(ran.exitCode).toBe(7);
    expect(ms).toBeLessThanOrEqual(120_000);
    expect(ms).toBeGreaterThan(60_000);
  });
});

describe('a redirect', () => {
  const to = (location: string, status = 302) => says(status, '', { location });

  test('of a read is followed within the service, with the token', async () => {
    const { ran, sent } = await play(read, [to('/v2/contacts?page=1', 399), list]);
    expect(ran.exitCode).toBe(0);
    expect(sent[1]?.url).toBe('https://service.test/v2/contacts?page=1');
    expect(sent[1]?.headers).toEqual(sent[0]?.headers);
    expect(sent[0]?.headers).toMatchObject({
      accept: 'application/json',
      authorization: 'Bearer key_acme',
      'user-agent': expect.stringContaining('svc/'),
    });
  });

  test.each(['https://b.test/contacts', 'http://service.test/contacts', 'https://service.test:444/', 'https://['])(
    'to %s is not followed',
    async (location) => {
      const { ran, sent } = await play(read, [to(location)]);
      expect(ran.exitCode).toBe(1);
      expect(ran.stderr).toContain(`The service redirects to ${location} (HTTP 302).`);
      expect(sent).toHaveLength(1);
    },
  );

  test('without an end is followed four times', async () => {
    const { ran, sent } = await play(read, [to('/contacts')]);
    expect(ran.exitCode).toBe(1);
    expect(sent).toHaveLength(5);
  });

  test('that leads nowhere is told so', async () => {
    const { ran } = await play(read, [says(302, '')]);
    expect(ran.stderr).toContain('The service redirects to nowhere (HTTP 302).');
  });

  test('of a write is never followed; it is in doubt, and the base URL to use is named', async () => {
    const { ran, sent } = await play(once, [to('https://b.test/v2/tickets/8/notes', 307)]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('(the address redirects to https://b.test/v2/tickets/8/notes, HTTP 307)');
    expect(ran.stderr).toContain('use: --base-url https://b.test/v2');
    expect(sent).toHaveLength(1);
    const chosen = await play(once, [says(300, { note: { id: 1, body: 'Hello' } })]);
    expect([chosen.ran.exitCode, chosen.sent.length]).toEqual([9, 1]);
    const nowhere = await play(once, [says(307, '')]);
    expect(nowhere.ran.stderr).toContain('(the address redirects to nowhere, HTTP 307)');
    expect(nowhere.ran.stderr).toContain('Do not repeat it blindly');
  });

  test.each(['/v2/tickets/8/notes', 'https://service.test/v2/tickets/8/notes'])(
    'of a write to %s, within the service, is never followed either',
    async (location) => {
      for (const status of [302, 307, 308]) {
        const { ran, sent } = await play(once, [to(location, status)]);
        expect([ran.exitCode, sent.length]).toEqual([9, 1]);
      }
    },
  );

  test('is not what a location beside any other answer means', async () => {
    const beside = { location: '/v2/contacts' };
    const made = await play(once, [says(201, { note: { id: 1, body: 'Hello' } }, beside)]);
    expect([made.ran.exitCode, made.sent.length]).toEqual([0, 1]);
    const shown = await play(read, [{ ...list, headers: { ...list.headers, ...beside } }]);
    expect([shown.ran.exitCode, shown.sent.length]).toEqual([0, 1]);
    const missing = await play(read, [says(404, { error: 'Not found' }, beside)]);
    expect(missing.sent.map(({ url }) => new URL(url).pathname)).not.toContain('/v2/contacts');
  });

  test('is not what a location beside an error means', async () => {
    const { ran } = await play(once, [says(504, '', { location: 'https://b.test/v2/tickets/8/notes' })]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).not.toContain('b.test');
  });
});

describe('an interruption', () => {
  /** Ctrl-C while the given attempt is under way. */
  async function interrupted(argv: readonly string[], endings: readonly Ending[], attempt: number): Promise<Ran> {
    const clock = virtualClock();
    const interrupt = new AbortController();
    let count = 0;
    const world = createWorld(
      async () => {
        if (++count === attempt) interrupt.abort('SIGINT');
        return endings[count - 1] ?? list;
      },
      { clock },
    );
    return svc(world, argv, { signal: interrupt.signal });
  }

  const cut: Lost = { lost: 'after-sending', reason: 'aborted', detail: 'It was interrupted.' };

  test('of a read is told as that', async () => {
    const ran = await interrupted(read, [cut], 1);
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toMatch(/^Error: Interrupted\.$/mu);
  });

  test('of a write that had left is in doubt', async () => {
    const ran = await interrupted(once, [cut], 1);
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('Interrupted. The note may or may not have been added.');
  });

  test('of a write that had not left changed nothing', async () => {
    const ran = await interrupted(once, [lost('aborted', 'before-sending')], 1);
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('Interrupted. Nothing was changed.');
  });

  test('between two attempts tells of the first', async () => {
    const ran = await interrupted(change, [says(504, ''), lost('aborted', 'before-sending')], 1);
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('The contact may or may not have been changed (HTTP 504).');
  });

  test('after the answer is here changes nothing of it', async () => {
    expect((await interrupted(change, [changed], 1)).exitCode).toBe(0);
  });
});

test('a bug in the way out is no answer, and no request waits behind it', async () => {
  const clock = virtualClock();
  const world = createWorld(
    async () => {
      throw new TypeError('a mistake');
    },
    { clock },
  );
  const ran = await svc(world, ['contacts', 'list', '--all']);
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain('a mistake');
});

describe('a 401', () => {
  test('is answered with another token once, and then told', async () => {
    const world = await loggedIn();
    const refused = says(401, { error: 'unauthorized' });
    world.override = ({ url }) => (url.includes('/contacts') ? refused : undefined);
    const ran = await world.svc(['contacts', 'list']);
    expect(ran.exitCode).toBe(4);
    expect(world.sent.map(({ what }) => what.replace(/\?.*/u, ''))).toEqual([
      'GET /contacts',
      'POST /oauth/platform/token',
      'GET /contacts',
    ]);
    const tokens = world.sent.filter(({ what }) => what.startsWith('GET')).map(({ authorization }) => authorization);
    expect(new Set(tokens).size).toBe(2);
  });

  test('after a doubtful attempt, with a refresh that fails, leaves the write in doubt', async () => {
    const world = await loggedIn();
    let writes = 0;
    world.override = ({ method, url }) => {
      if (url.endsWith('/token')) return says(500, 'oops');
      if (method !== 'PATCH') return undefined;
      return ++writes === 1 ? says(504, '') : says(401, { error: 'unauthorized' });
    };
    const ran = await world.svc(change);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toMatch(/The contact may or may not have been changed \(HTTP 504; then: [^)]*[^.)]\)\./u);
  });

  test.each<[string, HttpResponse]>([
    ['a web page', says(401, '<h1>Sign in</h1>', { 'content-type': 'text/html' })],
    ['JSON in another shape', says(401, '{"code":16}')],
  ])(
    'of a gateway, %s, does not prove that a write was not done: only what may be done twice is sent again',
    async (_, wall) => {
      const note = await loggedIn();
      note.override = ({ method }) => (method === 'POST' ? wall : undefined);
      const ran = await note.svc(once);
      expect(ran.exitCode).toBe(9);
      expect(ran.stderr).toContain('The note may or may not have been added (HTTP 401');
      expect(note.sent.filter(({ what }) => what.endsWith('/notes'))).toHaveLength(1);

      const update = await loggedIn();
      const answers = [wall, changed];
      update.override = ({ method }) => (method === 'PATCH' ? answers.shift() : undefined);
      expect((await update.svc(change)).exitCode).toBe(0);
      const tokens = update.sent.filter(({ what }) => what.startsWith('PATCH')).map((one) => one.authorization);
      expect(new Set(tokens).size).toBe(2);

      const walled = await loggedIn();
      walled.override = ({ method, url }) => (method === 'PATCH' && !url.endsWith('/token') ? wall : undefined);
      expect((await walled.svc(change)).exitCode).toBe(9);

      // What the gateway let through may have been done, whatever the service says to the next one.
      const refused = await loggedIn();
      const then = [wall, says(422, { message: 'The name is wrong', errors: {} })];
      refused.override = ({ method }) => (method === 'PATCH' ? then.shift() : undefined);
      const doubted = await refused.svc(change);
      expect(doubted.exitCode).toBe(9);
      expect(doubted.stderr).toContain('; then HTTP 422)');
    },
  );

  test('of a gateway to a read is about the login too, and never leaves it open what was done', async () => {
    const world = await loggedIn();
    const wall = says(401, '<h1>Sign in</h1>', { 'content-type': 'text/html' });
    world.override = ({ url }) => (url.includes('/contacts') ? wall : undefined);
    expect((await world.svc(read)).exitCode).toBe(4);
  });

  test('of the service sends a write once more, with the new token', async () => {
    const world = await loggedIn();
    const answers = [says(401, { error: 'Unauthenticated.' }), says(201, { note: { id: 1, body: 'Hello' } })];
    world.override = ({ url }) => (url.endsWith('/notes') ? answers.shift() : undefined);
    expect((await world.svc(once)).exitCode).toBe(0);
  });

  test('of a read, with a refresh that fails, is what the refresh says', async () => {
    const world = await loggedIn();
    let reads = 0;
    world.override = ({ url }) => {
      if (url.endsWith('/token')) return says(500, 'oops');
      return ++reads === 1 ? says(504, '') : says(401, { error: 'unauthorized' });
    };
    const ran = await world.svc(read);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).not.toContain('may or may not');
  });
});
