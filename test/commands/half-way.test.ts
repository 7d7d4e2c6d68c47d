// Commands of several requests that stop half-way: what the exit code and the words claim is about all of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { lines } from '../http/command-lines.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

const says = (status: number, body: string, headers = {}): HttpResponse => ({ status, headers, body });
const lost = (when: Lost['lost'], reason: Lost['reason']): Lost => ({ lost: when, reason, detail: 'It broke.' });

/** What every request meets from some moment on. */
const endings: Readonly<Record<string, HttpResponse | Lost | 'Ctrl-C'>> = {
  'refuses connections': lost('before-sending', 'refused'),
  'takes no connection in time': lost('before-sending', 'timeout'),
  'never answers': lost('after-sending', 'timeout'),
  'fails and says so': says(500, '{"error":"Server error"}'),
  'is behind a gateway that fails': says(502, '<html>Bad gateway</html>'),
  'does not know the credential any more': says(401, '{"error":"Unauthenticated."}'),
  'asks for a longer wait than --max-wait': says(429, '{"error":"Slow down"}', { 'retry-after': '3600' }),
  'has no such record': says(404, '{"error":"Not found"}'),
  'is interrupted by Ctrl-C': 'Ctrl-C',
};

type Case = { readonly argv: readonly string[]; readonly file?: string; readonly stdin?: string };

const people = (count: number): string =>
  `email,name\n${Array.from({ length: count }, (_, i) => `p${i}@example.com,P${i}`).join('\n')}\n`;

/** Commands of more than one request of their own; beside them each single write of the service is played. */
const several: Readonly<Record<string, Case>> = {
  'lists add': { argv: ['lists', 'add', '1', '--contact', '7', '--contact', '8'] },
  'changelog release': { argv: ['changelog', 'release', '9.9.0', '--from', 'FILE'], file: '# 9.9.0\n\nNews.\n' },
  'contacts sync': { argv: ['contacts', 'sync', 'FILE', '--concurrency', '1'], file: people(450) },
  'lists import': { argv: ['lists', 'import', '1', 'FILE', '--concurrency', '1'], file: people(450) },
  'tickets update --from': {
    argv: ['tickets', 'update', '--from', 'FILE', '--concurrency', '1'],
    file: 'id,priority\n7,1\n8,2\n9,3\n',
  },
  'tickets create --from': {
    argv: ['tickets', 'create', '--from', 'FILE', '--concurrency', '1'],
    file: 'subject,description\nA,a\nB,b\nC,c\n',
  },
  'tickets note --from': {
    argv: ['tickets', 'note', '--from', 'FILE', '--concurrency', '1'],
    file: 'id,body\n7,a\n8,b\n9,c\n',
  },
  'changelog create --from': {
    argv: ['changelog', 'create', '--from', 'FILE', '--concurrency', '1', '--yes'],
    file: 'title,content,status\nAbc,a,draft\nDef,b,draft\n',
  },
  'lists delete --from': {
    argv: ['lists', 'delete', '--from', 'FILE', '--concurrency', '1', '--yes'],
    file: '1\n2\n',
  },
};

const single: Readonly<Record<string, Case>> = Object.fromEntries(
  Object.values(lines)
    .filter(({ made, argv }) => made !== undefined || ['update', 'set', 'remove', 'delete'].includes(argv[1] ?? ''))
    .filter(({ argv }) => !argv.some((word) => word.includes('webhooks')))
    .map((line) => [line.argv.slice(0, 2).join(' '), line]),
);

type Played = { readonly ran: Ran; readonly requests: number; readonly surelyDone: number; readonly doubtful: number };

/** The service goes away after `left` requests; what it has answered until then is surely done. */
async function play({ argv, file, stdin }: Case, ending: (typeof endings)[string], left: number): Promise<Played> {
  const world: SandboxWorld = sandboxWorld({ seed: few, rateLimit: 'off' });
  const interrupt = new AbortController();
  const path = join(world.folder, 'input');
  writeFileSync(path, file ?? '');
  let requests = 0;
  let surelyDone = 0;
  let doubtful = 0;
  const isWrite = ({ method }: HttpRequest) => method !== 'GET';
  const exchange: typeof world.exchange = async (request) => {
    // Only a service that knows the account is asked why it has no such record.
    const isProbe = ending === endings['has no such record'] && request.url.endsWith('/platform/account');
    if (requests++ < left || isProbe) {
      const answer = await world.exchange(request);
      if (isWrite(request) && 'status' in answer && answer.status < 300) surelyDone++;
      if (ending === 'Ctrl-C' && requests === left) interrupt.abort('SIGINT');
      return answer;
    }
    if (ending === 'Ctrl-C') return lost('before-sending', 'aborted');
    if (isWrite(request) && ('lost' in ending ? ending.lost === 'after-sending' : ending.status >= 500)) doubtful++;
    return ending;
  };
  const typed = argv.map((word) => (word === 'FILE' ? path : word));
  const env = { SVC_API_KEY: 'key_acme', SVC_M2M_TOKEN: 'm2m_sandbox' };
  const ran = await svc({ ...world, exchange }, [...typed, '--max-wait', '5', '--settle', '1'], {
    env,
    stdin,
    signal: interrupt.signal,
  });
  return { ran, requests, surelyDone, doubtful };
}

/** Every row of the file has an answer: there is nothing left to do again. */
const allJudged =
  /^\d+ of \d+ rows are done: \d+ rejected\. Standard output names them; --rejects FILE keeps them\.$/mu;

const claims = /nothing was (?:changed|sent|stored|added|done)/iu;

describe.each(Object.entries({ ...several, ...single }).map(([name, command], turn) => ({ name, command, turn })))(
  '$name',
  ({ name, command, turn }) => {
    let played: Promise<Played> | undefined;
    test.each(inTurn(Object.entries(endings), turn, 9))(
      'says what is so where the service %s, after any number of requests',
      async (_, ending) => {
        played ??= play(command, says(500, ''), Number.POSITIVE_INFINITY);
        const whole = await played;
        expect(whole.ran.exitCode, whole.ran.stderr).toBe(0);
        let partly = 0;
        for (let left = 0; left < whole.requests; left++) {
          const { ran, surelyDone, doubtful } = await play(command, ending, left);
          const where = JSON.stringify({ left, surelyDone, doubtful, exitCode: ran.exitCode, stderr: ran.stderr });
          if (ran.exitCode === 0) {
            expect(surelyDone, where).toBe(whole.surelyDone);
            continue;
          }
          if (surelyDone > 0) {
            partly++;
            expect(doubtful > 0 ? [8, 9, 130] : [8, 130], where).toContain(ran.exitCode);
            expect(ran.stderr, where).not.toMatch(claims);
            expect(ran.stderr, where).toMatch(/Before that, |rows? (?:is|are) done/u);
            if (!allJudged.test(ran.stderr)) expect(ran.stderr, where).toMatch(/again|To see who is in it now/u);
          } else if (doubtful > 0) {
            expect(ran.stderr, where).not.toMatch(claims);
            expect([1, 9], where).toContain(ran.exitCode);
          } else if (ran.exitCode === 8) expect(ran.stderr, where).toMatch(allJudged);
          else expect([1, 3, 4, 7, 10, 130], where).toContain(ran.exitCode);
        }
        // A command of several requests that never stops half-way would prove nothing.
        if (name in several && ending !== 'Ctrl-C') expect(partly).toBeGreaterThan(0);
      },
    );
  },
);

test('a note whose output no disk took was added, and what to do is said once', async () => {
  const world = sandboxWorld();
  const stdout = new Writable({
    write: (_, __, failed) => failed(Object.assign(new Error('full'), { code: 'ENOSPC' })),
  });
  const ran = await svc(world, ['tickets', 'note', '8', '--body', 'Hello'], { stdout });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toMatch(/^Error: Standard output could not be .*Before that, the note was added \(id 8\)\.$/mu);
  expect(ran.stderr).toContain('What the command did stays done; do not repeat it for its output.');
  expect(ran.stderr).not.toContain('blindly');
});

test('lists add: where the list shows nobody new, no other contact is said to have been added', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) =>
    request.method === 'POST'
      ? { status: 200, headers: { 'content-type': 'application/json' }, body: '{"success":"ok"}' }
      : world.exchange(request);
  const ran = await svc({ ...world, exchange }, ['lists', 'add', '2', '--contact', '201']);
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toContain('Contact 201 is not, though the service said so.');
});
