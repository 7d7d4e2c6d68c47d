import { appendFile, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { asksAccount, few, origin, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const rows = (count: number) =>
  `email,name\n${Array.from({ length: count }, (_, i) => `person${i}@example.com,Name ${i}`).join('\n')}\n`;

const world = async (text = rows(1000)): Promise<SandboxWorld & { file: string }> => {
  const there = sandboxWorld({ seed: 'empty', rateLimit: 'off' });
  const file = join(there.folder, 'contacts.csv');
  await writeFile(file, text);
  return { ...there, file };
};

type There = Awaited<ReturnType<typeof world>>;

const sync = (there: There, flags: string[] = [], exchange: Exchange = there.exchange) =>
  svc({ ...there, exchange }, ['contacts', 'sync', there.file, '--json', ...flags]);

/** Answers that many calls, but for that of whose account it is, and then is gone. */
const dyingAfter = (there: There, answers: number): Exchange => {
  let count = 0;
  return async (request) =>
    asksAccount(request) || count++ < answers
      ? there.exchange(request)
      : { lost: 'before-sending', reason: 'refused', detail: 'Refused.' };
};

const report = (ran: { stdout: string }) => JSON.parse(ran.stdout);

const journals = async (there: There) =>
  (await readdir(join(there.folder, 'state', 'sync')))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(there.folder, 'state', 'sync', name));

const journal = async (there: There) => (await journals(there))[0] ?? '';

/** Three of five chunks are done. */
const interrupted = async (text?: string) => {
  const there = await world(text);
  const ran = await sync(there, ['--concurrency', '1'], dyingAfter(there, 3));
  return { there, ran };
};

describe('a run that the network ended', () => {
  test('reports what is done and what is not, and exits with 8', async () => {
    const { ran } = await interrupted();
    expect(ran.exitCode).toBe(8);
    expect(report(ran)).toMatchObject({ rows: 1000, created: 600, unsent: 400, chunks: 3 });
    expect(ran.stderr).toContain('600 of 1,000 rows are done.');
    expect(ran.stderr).toContain('Run the same command again: it continues where this run stopped.');
  });

  test('goes on where it was, and then reports the whole file', async () => {
    const { there } = await interrupted();
    there.sent.length = 0;
    const ran = await sync(there);
    expect(there.sent.filter((line) => line.startsWith('POST'))).toHaveLength(2);
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('600 of 1,000 rows are done.') });
    // Three were answered, one was tried three times in vain, and two now.
    expect(report(ran)).toMatchObject({ rows: 1000, created: 1000, unsent: 0, resumed_rows: 600, chunks: 5 });
  });

  test('says what is done already where the next is stopped before it sends anything', async () => {
    const { there } = await interrupted();
    const stop = new AbortController();
    const exchange: Exchange = async (request) => {
      if (asksAccount(request)) return there.exchange(request);
      stop.abort('SIGTERM');
      return { lost: 'before-sending', reason: 'aborted', detail: 'Stopped.' };
    };
    there.sent.length = 0;
    const ran = await svc({ ...there, exchange }, ['contacts', 'sync', there.file], { signal: stop.signal });
    expect(there.sent.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect(ran.exitCode).toBe(143);
    expect(ran.stderr).toContain('600 of 1,000 rows are done, by earlier runs; this one sent none.');
    expect(ran.stderr).toContain('Run the same command again: it continues where this run stopped.');
  });

  test('goes on under another name, from a copy and from standard input', async () => {
    const { there } = await interrupted();
    const copy = join(there.folder, 'copy.csv');
    await writeFile(copy, rows(1000));
    expect(report(await sync({ ...there, file: copy }))).toMatchObject({ resumed_rows: 600 });
  });

  test('with --restart is gone on with without it, as the advice says', async () => {
    const { there } = await interrupted();
    const ran = await sync(there, ['--concurrency', '1', '--restart'], dyingAfter(there, 2));
    expect(ran.exitCode).toBe(8);
    expect(ran.stderr).toContain('Run the command again without --restart: it continues where this run stopped.');
    expect(report(await sync(there))).toMatchObject({ resumed_rows: 400 });
  });

  test('begins anew with --restart', async () => {
    const { there } = await interrupted();
    const ran = await sync(there, ['--restart']);
    expect(ran.stderr).toContain('Starting from scratch');
    expect(report(ran)).toMatchObject({ created: 400, updated: 600, resumed_rows: 0, requests: 5 });
  });

  test('begins anew where the file has changed, and says so', async () => {
    const { there } = await interrupted();
    await appendFile(there.file, 'one.more@example.com,More\n');
    const ran = await sync(there);
    expect(ran.stderr).toContain('contacts.csv has changed since the run of');
    expect(report(ran)).toMatchObject({ rows: 1001, resumed_rows: 0, created: 401, updated: 600 });
  });

  test('begins anew where the columns mean something else, and says so', async () => {
    const { there } = await interrupted();
    const ran = await sync(there, ['--map', 'name=company']);
    expect(ran.stderr).toContain('contacts.csv was read with other settings in the run of');
    expect(report(ran)).toMatchObject({ resumed_rows: 0 });
  });

  test('is no business of another account', async () => {
    const { there } = await interrupted();
    const ran = await svc(there, ['contacts', 'sync', there.file, '--json'], { env: { SVC_API_KEY: 'key_globex' } });
    expect(report(ran)).toMatchObject({ created: 1000, resumed_rows: 0 });
  });

  test('keeps the rows that the service refused in the report of the next', async () => {
    const there = await world();
    const refusing =
      (inner: Exchange): Exchange =>
      async (request) => {
        const answer = await inner(request);
        if ('lost' in answer) return answer;
        const body = JSON.parse(answer.body);
        return {
          ...answer,
          body: JSON.stringify({ ...body, created: body.created - 1, errors: [{ index: 3, error: 'no' }] }),
        };
      };
    await sync(there, ['--concurrency', '1'], refusing(dyingAfter(there, 2)));
    const ran = await sync(there, [], refusing(there.exchange));
    expect(ran.exitCode).toBe(8);
    expect(report(ran)).toMatchObject({ created: 995, rejected: 5, resumed_rows: 400 });
    expect(report(ran).errors.map(({ line }: { line: number }) => line)).toEqual([5, 205, 405, 605, 805]);
  });
});

test('a file that was synced to its end is synced again, and when it was is said', async () => {
  const there = await world(rows(3));
  await sync(there);
  const ran = await sync(there);
  expect(ran.stderr).toMatch(/This file was last synced at \d{4}-\d\d-\d\d \d\d:\d\d; syncing it again\./u);
  expect(report(ran)).toMatchObject({ created: 0, updated: 3, resumed_rows: 0, requests: 1 });
});

describe('a journal that is damaged', () => {
  test.each([
    ['torn in its last line', (bytes: number) => bytes - 20],
    ['torn by one byte', (bytes: number) => bytes - 1],
  ])('%s is taken up to there', async (_, size) => {
    const { there } = await interrupted();
    const path = await journal(there);
    await truncate(path, size((await readFile(path)).length));
    expect(report(await sync(there))).toMatchObject({ unsent: 0, chunks: 5 });
    expect(report(await sync(there))).toMatchObject({ updated: 1000, resumed_rows: 0 });
  });

  test('at its end, by what a power cut leaves, is taken up to there', async () => {
    const { there } = await interrupted();
    await appendFile(await journal(there), Buffer.concat([Buffer.alloc(300), Buffer.from('\n{"done":\n\n')]));
    expect(report(await sync(there))).toMatchObject({ unsent: 0, chunks: 5, resumed_rows: 600 });
  });

  test.each([
    ['of 0 bytes', 0, 'is empty'],
    ['torn in its first line', 10, 'is damaged in line 1'],
  ])('%s is refused, for rows were sent; --restart begins anew', async (_, size, said) => {
    const { there } = await interrupted();
    await truncate(await journal(there), size);
    const ran = await sync(there);
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`The journal of this sync ${said}`) });
    expect(ran.stderr).toContain('add --restart');
    expect(report(await sync(there, ['--restart']))).toMatchObject({ resumed_rows: 0, created: 400, updated: 600 });
  });

  test('in the middle is refused with its line; nothing is sent, and the journal stays as it is', async () => {
    const { there } = await interrupted();
    const path = await journal(there);
    const lines = (await readFile(path, 'utf8')).split('\n');
    lines[3] = lines[3]?.replace('"created":200', '"created":-1') ?? '';
    await writeFile(path, lines.join('\n'));
    there.sent.length = 0;
    const ran = await sync(there);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('The journal of this sync is damaged in line 4');
    expect(there.sent).toEqual(['GET /platform/account']);
    expect(await readFile(path, 'utf8')).toBe(lines.join('\n'));
    expect(report(await sync(there, ['--restart']))).toMatchObject({ created: 400, updated: 600, unsent: 0 });
  });

  test('that does not fit the file is refused', async () => {
    const { there } = await interrupted();
    const path = await journal(there);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('"first_line":2,', '"first_line":3,'));
    const ran = await sync(there);
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('does not fit the file') });
  });
});

test('of two runs of one file at once the second refuses', async () => {
  const there = await world();
  let second: Awaited<ReturnType<typeof sync>> | undefined;
  const exchange: Exchange = async (request) => {
    if (!asksAccount(request)) second ??= await sync(there);
    return there.exchange(request);
  };
  const first = await sync(there, ['--concurrency', '1'], exchange);
  expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Another svc is syncing this file') });
  expect(report(first)).toMatchObject({ created: 1000, updated: 0 });
});

test('a file that changes while it is read is noticed', async () => {
  const there = await world();
  let changed = false;
  const exchange: Exchange = async (request) => {
    if (!changed) await appendFile(there.file, 'late@example.com,Late\n');
    changed = true;
    return there.exchange(request);
  };
  const ran = await sync(there, ['--concurrency', '1'], exchange);
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was changed while it was being read') });
  // The sums are of what was read, and the row that came later was neither checked nor sent.
  const { rows, created, updated, rejected, unknown, unsent } = report(ran);
  expect([rows, created + updated + rejected + unsent, unsent - unknown]).toEqual([1000, 1000, 0]);
  expect(report(await sync(there))).toMatchObject({ rows: 1001, unsent: 0 });
});

test('an answer that is lost is asked for again, and nothing is doubled', async () => {
  const there = await world();
  await there.control('POST', 'faults', [{ path: '/platform/contacts/sync', action: 'drop-after', nth: 2, times: 2 }]);
  const ran = await sync(there, ['--concurrency', '2']);
  expect(ran.exitCode).toBe(0);
  const { created, updated, requests } = report(ran);
  expect({ sum: created + updated, requests }).toEqual({ sum: 1000, requests: 7 });
  expect(((await there.control('GET', 'state')) as { contacts: unknown[] }).contacts).toHaveLength(1000);
});

test('an OAuth login of the same account goes on after its token was renewed', async () => {
  const there = await world();
  const tokens = async () =>
    (
      (await there.control('POST', 'tokens', { account_id: 1, scopes: ['contacts:write', 'identity'] })) as {
        access_token: string;
      }
    ).access_token;
  const run = async (exchange: Exchange) =>
    svc({ ...there, exchange }, ['contacts', 'sync', there.file, '--json', '--concurrency', '1'], {
      env: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: await tokens() },
    });
  expect((await run(dyingAfter(there, 3))).exitCode).toBe(8);
  expect(report(await run(there.exchange))).toMatchObject({ resumed_rows: 600, created: 1000 });
});

test('an account that is not known goes on with the very same token alone', async () => {
  const there = await world();
  const blind = async (account: number) =>
    (await there.control('POST', 'tokens', { account_id: account, scopes: ['contacts:write'] })) as {
      access_token: string;
    };
  const run = ({ access_token: token }: { access_token: string }, exchange: Exchange) =>
    svc({ ...there, exchange }, ['contacts', 'sync', there.file, '--json', '--concurrency', '1'], {
      env: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: token },
    });
  const [first, other] = [await blind(1), await blind(2)];
  expect((await run(first, dyingAfter(there, 3))).exitCode).toBe(8);
  expect(report(await run(other, there.exchange))).toMatchObject({ resumed_rows: 0, created: 1000 });
  expect(report(await run(first, there.exchange))).toMatchObject({ resumed_rows: 600, created: 1000 });
});

test('a rotated key of the same account goes on', async () => {
  const { there } = await interrupted();
  const rotated: Exchange = (request) =>
    there.exchange({ ...request, headers: { ...request.headers, authorization: 'Bearer key_acme' } });
  const ran = await svc({ ...there, exchange: rotated }, ['contacts', 'sync', there.file, '--json'], {
    env: { SVC_API_KEY: 'key_rotated' },
  });
  expect(report(ran)).toMatchObject({ resumed_rows: 600, created: 1000 });
});

test('the service under another name of this machine goes on', { tags: ['long'] }, async () => {
  const { there } = await interrupted();
  const reached = (url: string) => url.replace(/^https?:\/\/[^/]+/u, origin);
  const at = (base: string, exchange: Exchange = there.exchange) =>
    sync(there, ['--base-url', base, '--concurrency', '1'], (request) =>
      exchange({ ...request, url: reached(request.url) }),
    );
  const first = await at('http://127.0.0.1:4010', dyingAfter(there, 2));
  expect(report(first)).toMatchObject({ unsent: 600 });
  expect(report(await at('http://LOCALHOST:4010/'))).toMatchObject({ resumed_rows: 400, unsent: 0 });
  expect(report(await at('http://127.0.0.1:4011'))).toMatchObject({ resumed_rows: 0 });
});

describe('a service that was reset after a run was interrupted', () => {
  test.each([['empty'], ['demo']] as const)('to %s: the run does not go on, and says how it can', async (seed) => {
    const { there } = await interrupted();
    await there.control('POST', 'reset', { seed });
    there.sent.length = 0;
    const ran = await sync(there);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toMatch(/600 rows of contacts\.csv were done before, but .*It may have been reset/u);
    expect(ran.stderr).toContain('--restart');
    expect(there.sent.filter((line) => line.startsWith('POST'))).toEqual([]);
    const yes = await sync(there, ['--yes']);
    expect(yes).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Warning: 600 rows') });
    expect(report(await sync(there, ['--restart']))).toMatchObject({ rows: 1000, resumed_rows: 0, unsent: 0 });
  });

  test('one that was not costs a look, also where others came since; one that cannot be read goes on', {
    tags: ['long'],
  }, async () => {
    const { there } = await interrupted();
    const others = { ...there, folder: sandboxWorld({ seed: few }).folder, file: join(there.folder, 'others.csv') };
    await writeFile(others.file, rows(350).replaceAll('person', 'other'));
    await sync(others);
    there.sent.length = 0;
    const refused: Exchange = async (request) =>
      request.method === 'GET' && request.url.includes('/contacts')
        ? { status: 403, headers: {}, body: '{"error":"Insufficient scope."}' }
        : dying(request);
    const dying = dyingAfter(there, 1);
    expect(report(await sync(there, ['--concurrency', '1'], refused))).toMatchObject({ created: 800 });
    expect(report(await sync(there))).toMatchObject({ created: 1000, unsent: 0 });
    expect(there.sent.filter((line) => line.startsWith('GET /contacts')).length).toBeLessThanOrEqual(5);
  });
});
