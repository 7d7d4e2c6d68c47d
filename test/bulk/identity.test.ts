import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hexDigestOf } from '../../src/text/digest.ts';
import { asksAccount, few, origin, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

// Which rows were sent before: a row's history is that of the account, the command and its own content.

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });
/** Where contacts are looked for that the smaller account does not have. */
const whole = () => sandboxWorld({ rateLimit: 'off' });
const put = (world: SandboxWorld, name: string, text: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
};
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `Row ${from + at}`).join('\n');
const csv = (from: number, to: number) => `subject\n${lines(from, to)}\n`;

async function create(world: SandboxWorld, file: string, flags: readonly string[] = [], options: RunOptions = {}) {
  const ran = await svc(world, ['tickets', 'create', '--from', file, '--json', ...flags], options);
  return { ...ran, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

type State = {
  readonly tickets: readonly { readonly id: number; readonly subject: string; readonly notes: readonly object[] }[];
};
const ticketsOf = async (world: SandboxWorld) => ((await world.control('GET', 'state')) as State).tickets;
const subjects = async (world: SandboxWorld) =>
  (await ticketsOf(world)).map(({ subject }) => subject).filter((subject) => /^Row/u.test(subject));
const isCreation = ({ method, url }: { method: string; url: string }) => method === 'POST' && url.endsWith('/tickets');

/** Sends the first of ten rows, and is ended. */
async function half(name = 'a.csv') {
  const world = fresh();
  const file = put(world, name, csv(1, 10));
  const ran = await create(world, file, ['--max-sends', '4']);
  expect(ran.report).toMatchObject({ done: 4, unsent: 6 });
  return { world, file };
}

/** One service, whatever it is called. */
const reachedAs = (world: SandboxWorld): SandboxWorld => ({
  ...world,
  exchange: (request) => world.exchange({ ...request, url: origin + new URL(request.url).pathname }),
});

const bulk = (world: SandboxWorld) => join(world.folder, 'state', 'bulk');
const journals = (world: SandboxWorld) =>
  readdirSync(bulk(world))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(bulk(world), name));

describe('a run that is not finished goes on', () => {
  test('under another name of the file', async () => {
    const { world, file } = await half();
    renameSync(file, join(world.folder, 'b.csv'));
    const ran = await create(world, join(world.folder, 'b.csv'));
    expect(ran.report).toMatchObject({ done: 10, resumed_rows: 4 });
    expect(ran.stderr).toContain('Resuming the run of');
    expect(await subjects(world)).toHaveLength(10);
    expect(journals(world)).toHaveLength(1);
  });

  test('through a link, from a copy, and from a pipe', async () => {
    const { world, file } = await half();
    symlinkSync(file, join(world.folder, 'link.csv'));
    await create(world, join(world.folder, 'link.csv'), ['--max-sends', '2']);
    copyFileSync(file, join(world.folder, 'copy.csv'));
    await create(world, join(world.folder, 'copy.csv'), ['--max-sends', '2']);
    const ran = await create(world, '-', [], { stdin: csv(1, 10) });
    expect(ran.report).toMatchObject({ done: 10, resumed_rows: 8 });
    expect(await subjects(world)).toHaveLength(10);
  });

  test('as JSON, with its columns in another order', async () => {
    const world = fresh();
    await create(world, put(world, 'a.csv', 'subject,priority\nRow 1,3\nRow 2,\n'), ['--max-sends', '1']);
    const json = '{"priority":3,"subject":"Row 1"}\n{"subject":"Row 2"}\n';
    await create(world, put(world, 'a.jsonl', json));
    expect(await subjects(world)).toEqual(['Row 1', 'Row 2']);
  });

  test('with a rotated key, and with an OAuth login of the same account', async () => {
    const { world, file } = await half();
    const { access_token } = (await world.control('POST', 'tokens', {
      account_id: 1,
      scopes: ['tickets:write', 'tickets:read', 'identity'],
    })) as { access_token: string };
    const oauth = { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: access_token };
    const ran = await create(world, file, ['--max-sends', '3'], { env: oauth });
    expect(ran.report, ran.stderr).toMatchObject({ done: 7, resumed_rows: 4 });
    // To the service a rotated key is another text of the same account.
    const rotated: SandboxWorld = {
      ...world,
      exchange: (request) => {
        expect(request.headers.authorization).toBe('Bearer key_rotated');
        return world.exchange({ ...request, headers: { ...request.headers, authorization: 'Bearer key_acme' } });
      },
    };
    const last = await create(rotated, file, [], { env: { SVC_API_KEY: 'key_rotated' } });
    expect(last.report).toMatchObject({ done: 10, resumed_rows: 7 });
    expect(await subjects(world)).toHaveLength(10);
  });

  test.each([
    ['http://localhost:4010', 'http://127.0.0.1:4010'],
    ['http://127.0.0.1:4010', 'http://[::1]:4010/'],
    ['http://[::1]:4010', 'http://LOCALHOST:4010'],
    ['https://localhost:4010', 'https://localhost.:4010'],
    ['https://api.example.com', 'https://API.example.com.:443'],
    ['https://127.0.0.1', 'https://localhost:443'],
  ])('with the service under another name of the same address: %s, then %s', async (first, then) => {
    const world = fresh();
    const file = put(world, 'a.csv', csv(1, 4));
    const at = (base: string, flags: readonly string[]) =>
      create(reachedAs(world), file, [...flags, '--base-url', base]);
    expect((await at(first, ['--max-sends', '2'])).report).toMatchObject({ done: 2, unsent: 2 });
    expect((await at(then, [])).report).toMatchObject({ done: 4, resumed_rows: 2 });
    expect(await subjects(world)).toHaveLength(4);
  });

  test.each([
    ['http://localhost:4010', 'http://localhost:4011'],
    ['http://127.0.0.1:4010', 'http://127.0.0.2:4010'],
    ['https://localhost:4010', 'http://localhost:4010'],
    ['https://api.example.com', 'https://api.example.org'],
  ])('but not at another service: %s, then %s', async (first, then) => {
    const world = fresh();
    const file = put(world, 'a.csv', csv(1, 4));
    const at = (base: string) => create(reachedAs(world), file, ['--base-url', base]);
    expect((await at(first)).report).toMatchObject({ done: 4, resumed_rows: 0 });
    expect((await at(then)).report).toMatchObject({ done: 4, resumed_rows: 0 });
  });
});

describe('a history whose account is not known', () => {
  const blind = async (world: SandboxWorld, account: number): Promise<RunOptions> => {
    const scopes = ['tickets:write', 'tickets:read'];
    const grant = (await world.control('POST', 'tokens', { account_id: account, scopes })) as { access_token: string };
    await world.control('POST', 'modules', { account_id: 2, support: true });
    return { env: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: grant.access_token } };
  };

  test('goes on with the very token that made it', async () => {
    const world = fresh();
    const file = put(world, 'a.csv', csv(1, 10));
    const token = await blind(world, 1);
    expect((await create(world, file, ['--max-sends', '3'], token)).report).toMatchObject({ done: 3 });
    expect((await create(world, file, [], token)).report).toMatchObject({ done: 10, resumed_rows: 3 });
    expect(await subjects(world)).toHaveLength(10);
  });

  test.each<[string, boolean, number | 'key', number | 'key']>([
    ['a token of another account after one', true, 1, 2],
    ['a token of another account, half-way', false, 1, 2],
    ['another token of the same account', true, 1, 1],
    ['an account that is known', true, 1, 'key'],
    ['an account that is known, half-way', false, 1, 'key'],
    ['a token after an account that is known', true, 'key', 1],
  ])('is neither used nor passed over for %s: the run asks what is meant', async (_, isWhole, first, second) => {
    const world = fresh();
    const file = put(world, 'a.csv', csv(1, 4));
    const as = async (who: number | 'key') => (who === 'key' ? {} : await blind(world, who));
    await create(world, file, isWhole ? [] : ['--max-sends', '2'], await as(first));
    const before = await subjects(world);
    const other = await as(second);
    const ran = await create(world, file, [], other);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('sent with another login');
    expect(await subjects(world)).toEqual(before);
    const again = await create(world, file, ['--again', '--yes'], other);
    expect(again.report, again.stderr).toMatchObject({ done: 4, resumed_rows: 0 });
    // From then on this login has a history of its own.
    expect((await create(world, file, [], other)).report).toMatchObject({ done: 4, resumed_rows: 4 });
  });

  test('holds up no file that has no row in common, and nothing that may be done twice', async () => {
    const world = fresh();
    const file = put(world, 'a.csv', csv(1, 4));
    await create(world, file, [], await blind(world, 1));
    const other = await blind(world, 2);
    expect((await create(world, put(world, 'b.csv', csv(5, 6)), [], other)).report).toMatchObject({ done: 2 });
    const update = ['tickets', 'update', '--from', put(world, 'u.csv', 'id,priority\n8,2\n'), '--json'];
    expect((await svc(world, update, await blind(world, 1))).exitCode).toBe(0);
    expect((await svc(world, update, await blind(world, 1))).exitCode).toBe(0);
  });
});

test.each([['null'], ['"1"'], ['0'], ['-1'], ['1.5'], ['true'], ['[1]']])(
  'an account whose id is %s is nobody: nothing is sent',
  async (id) => {
    const world = fresh();
    const odd: SandboxWorld = {
      ...world,
      exchange: async (request) => {
        const answer = await world.exchange(request);
        if (!asksAccount(request) || 'lost' in answer) return answer;
        return { ...answer, body: answer.body.replace(/"account_id":\s*\d+/u, `"account_id":${id}`) };
      },
    };
    const file = put(world, 'a.csv', csv(1, 2));
    expect((await create(world, file)).exitCode).toBe(0);
    const ran = await create(odd, file);
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ran.stderr).toContain('an account that has no id');
    expect(await subjects(world)).toHaveLength(2);
    const contacts = put(world, 'c.csv', 'email,name\na@b.test,Ada\n');
    expect((await svc(odd, ['contacts', 'sync', contacts, '--json'])).exitCode).toBe(1);
  },
);

describe('two runs at once', () => {
  test.each([
    ['two names of one file', csv(1, 10)],
    ['files with one row in common', csv(10, 19)],
  ])('%s: the second refuses', async (_, text) => {
    const world = fresh();
    const [first, other] = [put(world, 'a.csv', csv(1, 10)), put(world, 'b.csv', text)];
    let second: ReturnType<typeof create> | undefined;
    const both: SandboxWorld = {
      ...world,
      async exchange(request) {
        if (isCreation(request)) second ??= create(world, other);
        await second;
        return world.exchange(request);
      },
    };
    expect((await create(both, first)).exitCode).toBe(0);
    expect(await second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Another svc is sending rows') });
    expect(await subjects(world)).toHaveLength(10);
  });

  test('files without a row in common both run', async () => {
    const world = fresh();
    const [first, other] = [put(world, 'a.csv', csv(1, 10)), put(world, 'b.csv', csv(11, 20))];
    let second: ReturnType<typeof create> | undefined;
    const both: SandboxWorld = {
      ...world,
      async exchange(request) {
        if (isCreation(request)) second ??= create(world, other);
        await second;
        return world.exchange(request);
      },
    };
    expect((await create(both, first)).exitCode).toBe(0);
    expect(await second).toMatchObject({ exitCode: 0 });
    expect(await subjects(world)).toHaveLength(20);
  });
});

describe('rows of another file', () => {
  test('are not sent again: the run says how many, when and from which file', async () => {
    const world = fresh();
    await create(world, put(world, 'a.csv', csv(1, 3)));
    const ran = await create(world, put(world, 'all.csv', csv(1, 8)));
    expect(ran.report).toMatchObject({ done: 8, resumed_rows: 3 });
    expect(ran.stderr).toMatch(
      /^3 rows were sent before, at \d{4}-\d\d-\d\d \d\d:\d\d from a\.csv, and were not sent again\. To send them again, add --again\.$/mu,
    );
    expect(await subjects(world)).toHaveLength(8);
    expect((await create(world, join(world.folder, 'all.csv'))).report).toMatchObject({ resumed_rows: 8 });
  });

  test('go again with --again, which asks; those of this file do not', async () => {
    const world = fresh();
    await create(world, put(world, 'a.csv', csv(1, 3)));
    const all = put(world, 'all.csv', csv(1, 5));
    const asked = await create(world, all, ['--again']);
    expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('without confirmation') });
    const declined = await create(world, all, ['--again'], { columns: 120, answers: [false] });
    expect(declined).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Declined') });
    expect(await subjects(world)).toHaveLength(3);
    await create(world, all, ['--again', '--yes']);
    expect(await subjects(world)).toHaveLength(8);
    await create(world, all, ['--again', '--yes']);
    await create(world, join(world.folder, 'a.csv'));
    expect(await subjects(world)).toHaveLength(8);
  });

  test('that is a copy of one that is done: the run says so, and --again sends them, once', async () => {
    const world = fresh();
    await create(world, put(world, 'a.csv', csv(1, 3)));
    const copy = put(world, 'b.csv', csv(1, 3));
    for (const flags of [[], ['--dry-run'], []]) {
      const { stderr } = await create(world, copy, flags);
      expect(stderr).toMatch(
        /^3 rows were sent before, at \S+ \S+ from a\.csv, and were not sent again\. To send them again, add --again\.$/mu,
      );
      expect(stderr).not.toContain('This file');
    }
    expect(await create(world, copy, ['--again'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('without confirmation'),
    });
    expect(await subjects(world)).toHaveLength(3);
    await create(world, copy, ['--again', '--yes', '--max-sends', '1']);
    const ran = await create(world, copy, ['--again', '--yes']);
    expect(ran.report).toMatchObject({ done: 3, resumed_rows: 1 });
    expect(await subjects(world)).toHaveLength(6);
    for (const file of [copy, join(world.folder, 'a.csv')]) {
      const { report, stderr } = await create(world, file, ['--again', '--yes']);
      expect(report).toMatchObject({ done: 3, resumed_rows: 3 });
      expect(stderr).toContain('This file was done at');
    }
    const third = await create(world, put(world, 'c.csv', csv(1, 3)));
    expect(third.stderr).toContain('from a.csv and b.csv, and were not sent again');
    expect(await subjects(world)).toHaveLength(6);
  });

  test('that is a copy of one in which a row is in doubt: --again leaves that one alone', async () => {
    const world = fresh();
    const note = ['tickets', 'note', '--yes', '--json', '--from'];
    const text = 'id,body\n7,One\n8,Two\n';
    const silent = {
      ...world,
      exchange: async (request: Parameters<typeof world.exchange>[0]) => {
        const answer = await world.exchange(request);
        const isLost = request.method === 'POST' && request.url.endsWith('/tickets/7/notes');
        return isLost ? ({ lost: 'after-sending', reason: 'reset', detail: 'It broke.' } as const) : answer;
      },
    };
    expect((await svc(silent, [...note, put(world, 'a.csv', text)])).exitCode).toBe(9);
    expect((await svc(world, [...note, put(world, 'b.csv', text), '--again'])).exitCode).toBe(9);
    // A file with one row more is no copy, and knows it all the same.
    const more = await svc(world, [...note, put(world, 'c.csv', `${text}9,Three\n`), '--again']);
    expect([more.exitCode, JSON.parse(more.stdout)]).toMatchObject([9, { done: 2, unknown: 1 }]);
    const notes = async (id: number) => (await ticketsOf(world)).find((one) => one.id === id)?.notes.length;
    expect([await notes(7), await notes(8), await notes(9)]).toEqual([1, 3, 2]);
    await svc(world, [...note, join(world.folder, 'c.csv'), '--retry-unknown']);
    expect([await notes(7), await notes(8), await notes(9)]).toEqual([2, 3, 2]);
  });

  test.each([
    ['alone', []],
    ['beside one that goes', ['Row 2,chloe.brooks@marlow.test']],
  ])('that are done and cannot be read any more, %s, are done, and no row to mend', async (_, more) => {
    const world = whole();
    const text = ['subject,contact', 'Row 1,tara.weber@harbortools.test', ...more, ''].join('\n');
    expect((await create(world, put(world, 'a.csv', text))).exitCode).toBe(0);
    const renamed = ['contacts', 'update', 'tara.weber@harbortools.test', '--email', 'tara@harbortools.test'];
    expect((await svc(world, renamed)).exitCode).toBe(0);
    for (const name of ['a.csv', 'b.csv']) {
      const rejects = join(world.folder, `${name}.rejects`);
      const { report, exitCode, stderr } = await create(world, put(world, name, text), ['--rejects', rejects]);
      expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('rejected')]);
      // No flag sends what cannot be read.
      if (name === 'b.csv') expect(stderr.includes('--again')).toBe(more.length > 0);
      expect(report).toMatchObject({ rows: 1 + more.length, done: 1 + more.length, rejected: 0, unsent: 0 });
      expect(existsSync(rejects) ? readFileSync(rejects, 'utf8') : '').not.toContain('Row 1');
    }
    expect(await subjects(world)).toHaveLength(1 + more.length);
  });

  test('go again with --restart, and a restart that is ended goes on', async () => {
    const world = fresh();
    await create(world, put(world, 'a.csv', csv(1, 3)));
    const all = put(world, 'all.csv', csv(1, 5));
    await create(world, all);
    expect((await create(world, all, ['--restart'])).exitCode).toBe(2);
    await create(world, all, ['--restart', '--yes', '--max-sends', '2']);
    expect((await create(world, all)).report).toMatchObject({ done: 5, resumed_rows: 2 });
    expect(await subjects(world)).toHaveLength(10);
    expect((await create(world, join(world.folder, 'a.csv'))).report).toMatchObject({ done: 3, resumed_rows: 3 });
    expect(await subjects(world)).toHaveLength(10);
  });

  test('that are equal count as often as they stand there', async () => {
    const world = fresh();
    await create(world, put(world, 'a.csv', 'subject\nRow 1\nRow 1\n'));
    const ran = await create(world, put(world, 'b.csv', 'subject\nRow 1\nRow 1\nRow 1\n'));
    expect(ran.report).toMatchObject({ done: 3, resumed_rows: 2 });
    expect(await subjects(world)).toHaveLength(3);
  });

  test('that an ended run may have sent are looked for, and never sent', async () => {
    const world = fresh();
    const dying: SandboxWorld = {
      ...world,
      exchange: async (request) =>
        isCreation(request)
          ? { lost: 'after-sending', reason: 'timeout', detail: 'No answer.' }
          : world.exchange(request),
    };
    const note = ['tickets', 'note', '--json', '--from'];
    const isNote = ({ method }: { method: string }) => method === 'POST';
    const silent: SandboxWorld = {
      ...dying,
      exchange: async (request) =>
        isNote(request) ? { lost: 'after-sending', reason: 'timeout', detail: '' } : world.exchange(request),
    };
    expect((await svc(silent, [...note, put(world, 'a.csv', 'id,body\n7,One\n')])).exitCode).toBe(9);
    const ran = await svc(world, [...note, put(world, 'b.csv', 'id,body\n7,One\n8,Two\n')]);
    expect(ran.exitCode).toBe(9);
    expect(JSON.parse(ran.stdout)).toMatchObject({ done: 1, unknown: 1 });
    expect(world.sent.filter((line) => line.startsWith('POST'))).toEqual(['POST /tickets/8/notes']);
  });

  test('where twice is once have no history: each file changes what it says', async () => {
    const world = whole();
    const update = (name: string, company: string) =>
      svc(world, ['contacts', 'update', '--from', put(world, name, `contact_id,company\n101,${company}\n`)]);
    for (const [name, company] of [
      ['a.csv', 'One'],
      ['b.csv', 'Two'],
      ['c.csv', 'One'],
    ] as const)
      expect((await update(name, company)).exitCode).toBe(0);
    expect(world.sent.filter((line) => line.startsWith('PATCH'))).toHaveLength(3);
    expect(journals(world)).toEqual([]);
  });
});

describe('a map finds out what a row means, and is no part of it', () => {
  test('so a migration by two results and then both sends each note once, and a better map what was rejected', async () => {
    const world = fresh();
    const results = (name: string, rows: string) => put(world, name, `old,svc_id\n${rows}\n`);
    const [a, b] = [results('a.csv', '1,7'), results('b.csv', '2,8')];
    const notes = put(world, 'notes.csv', 'ticket,body\n1,One\n2,Two\n3,Three\n');
    const run = async (...maps: string[]) => {
      const flags = maps.flatMap((path) => ['--id-map', `${path}:old`]);
      const ran = await svc(world, ['tickets', 'note', '--from', notes, '--map', 'ticket=id', '--json', ...flags]);
      return { ...ran, report: JSON.parse(ran.stdout) };
    };
    expect((await run(a)).report).toMatchObject({ done: 1, rejected: 2 });
    // What the first map knew is done, whatever the second one knows.
    expect((await run(b)).report).toMatchObject({ done: 2, rejected: 1, resumed_rows: 1 });
    const all = results('all.csv', '1,7\n2,8\n3,9');
    const last = await run(all);
    expect(last).toMatchObject({ exitCode: 0, report: { done: 3, resumed_rows: 2 } });
    expect(await run(a, b)).toMatchObject({ exitCode: 0, report: { done: 3, resumed_rows: 3 } });
    expect(world.sent.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /tickets/7/notes',
      'POST /tickets/8/notes',
      'POST /tickets/9/notes',
    ]);
  });

  test('several count together', async () => {
    const world = fresh();
    const flags = ['a.csv:old', 'b.csv:old'].flatMap((map) => ['--id-map', join(world.folder, map)]);
    put(world, 'a.csv', 'old,svc_id\n1,7\n5,9\n');
    put(world, 'b.csv', 'old,svc_id\n2,8\n5,9\n');
    const notes = put(world, 'notes.csv', 'id,body\n1,One\n2,Two\n');
    expect((await svc(world, ['tickets', 'note', '--from', notes, ...flags])).exitCode).toBe(0);
    expect(world.sent.filter((line) => line.startsWith('POST')).sort()).toEqual([
      'POST /tickets/7/notes',
      'POST /tickets/8/notes',
    ]);
  });

  test('and an id that is another one in each is exit 2', async () => {
    const world = fresh();
    const flags = ['a.csv:old', 'b.csv:old'].flatMap((map) => ['--id-map', join(world.folder, map)]);
    put(world, 'a.csv', 'old,svc_id\n1,7\n');
    put(world, 'b.csv', 'old,svc_id\n1,8\n');
    const notes = put(world, 'notes.csv', 'id,body\n1,One\n');
    const ran = await svc(world, ['tickets', 'note', '--from', notes, ...flags]);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--id-map: 1 is 7 in a.csv, and 8 in b.csv.'),
    });
    expect(world.sent).toEqual([]);
  });
});

describe('another template over the same rows', () => {
  const reply = (world: SandboxWorld, text: string, ...flags: string[]) => {
    put(world, 't.md', text);
    const argv = ['tickets', 'reply', '--from', join(world.folder, 'r.csv'), '--template', join(world.folder, 't.md')];
    return svc(world, [...argv, '--yes', ...flags]);
  };

  test('is other work once the first run is finished, rejected rows included', async () => {
    const world = fresh();
    put(world, 'r.csv', 'id\n7\n8\n9999\n');
    expect((await reply(world, 'One.')).exitCode).toBe(8);
    expect((await reply(world, 'Two.')).exitCode).toBe(8);
    expect((await reply(world, 'One.')).exitCode).toBe(8);
    expect(world.sent.filter((line) => line.startsWith('POST') && !line.includes('9999'))).toHaveLength(4);
  });

  test('is refused while it is not, under whatever name', async () => {
    const world = fresh();
    put(world, 'r.csv', 'id\n7\n8\n');
    expect((await reply(world, 'One.', '--max-sends', '1')).exitCode).toBe(8);
    renameSync(join(world.folder, 'r.csv'), join(world.folder, 'old.csv'));
    put(world, 'r.csv', 'id\n8\n');
    expect(await reply(world, 'Two.')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is not finished'),
    });
    expect(world.sent.filter((line) => line.startsWith('POST'))).toHaveLength(1);
  });
});

describe('a journal that lost what it said stops the run', () => {
  test.each([
    ['empty', () => 0, 'is empty'],
    ['cut short', (size: number) => size - 1, 'has lost its end'],
    ['cut in its first line', () => 20, 'is damaged in line 1'],
  ])('%s: the run names it and the way out, and sends nothing', async (_, cutAt, said) => {
    const { world, file } = await half();
    const [journal = ''] = journals(world);
    const surely = Number(/\d{12}/u.exec(readFileSync(journal, 'utf8')));
    truncateSync(journal, cutAt(surely));
    for (const from of [file, put(world, 'other.csv', csv(5, 20))]) {
      const ran = await create(world, from);
      expect(ran).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(`The journal of an earlier run ${said}`),
      });
      expect(ran.stderr).toContain(`rm '${journal}'`);
    }
    expect(await subjects(world)).toHaveLength(4);
  });
});

describe('a clock that jumps', () => {
  test('prunes nothing: neither a run that is not finished nor a young one', async () => {
    const { world, file } = await half();
    await create(world, put(world, 'b.csv', csv(21, 22)));
    world.clock.set(100 * 24 * 3_600_000);
    const late = { ...world, exchange: datedBy(world, -100 * 24 * 3_600_000) };
    await create(late, put(world, 'c.csv', csv(31, 32)));
    expect(journals(world)).toHaveLength(3);
    expect((await create(world, file)).report).toMatchObject({ done: 10, resumed_rows: 4 });
    expect((await create(world, join(world.folder, 'b.csv'))).report).toMatchObject({ resumed_rows: 2 });
  });

  test('where no clock jumped, what has been over for 90 days goes, and what is not over stays', async () => {
    const { utimesSync } = await import('node:fs');
    const { world } = await half();
    await create(world, put(world, 'b.csv', csv(21, 22)));
    for (const journal of journals(world)) utimesSync(journal, 1, 1);
    world.clock.advance(91 * 24 * 3_600_000);
    await create(world, put(world, 'c.csv', csv(31, 32)));
    expect(journals(world)).toHaveLength(2);
    expect((await create(world, join(world.folder, 'a.csv'))).report).toMatchObject({ done: 10, resumed_rows: 4 });
  });

  test('a journal that cannot be read to its end is not taken for one of a run that is over', async () => {
    const { utimesSync } = await import('node:fs');
    const world = fresh();
    const file = put(world, 'b.csv', csv(21, 22));
    for (const flags of [[], ['--again']]) await create(world, file, flags);
    const [journal = ''] = journals(world);
    const text = readFileSync(journal, 'utf8');
    writeFileSync(journal, text.replace(/(\n\{"finished".*\n)./u, '$1?'));
    expect(readFileSync(journal, 'utf8')).not.toBe(text);
    utimesSync(journal, 1, 1);
    world.clock.advance(91 * 24 * 3_600_000);
    const notes = put(world, 'notes.csv', 'id,body\n7,One\n');
    expect((await svc(world, ['tickets', 'note', '--from', notes, '--yes'])).exitCode).toBe(0);
    expect(journals(world)).toContain(journal);
  });

  /** The service's clock is that far from this machine's. */
  const datedBy =
    (world: SandboxWorld, ms: number): SandboxWorld['exchange'] =>
    async (request) => {
      const answer = await world.exchange(request);
      if ('lost' in answer) return answer;
      const date = new Date(world.clock.now().getTime() + ms).toUTCString();
      return { ...answer, headers: { ...answer.headers, date } };
    };
});

describe('what was confirmed is what is sent', () => {
  test('a file that changes at the question stops the run before the first request', async () => {
    const world = fresh();
    const file = put(world, 'r.csv', 'id,body\n7,Right\n8,Right\n');
    const changing: SandboxWorld = {
      ...world,
      async exchange(request) {
        if (asksAccount(request)) put(world, 'r.csv', 'id,body\n7,Right\n8,Wrong\n');
        return world.exchange(request);
      },
    };
    const ran = await svc(changing, ['tickets', 'reply', '--from', file], { columns: 120, answers: [true] });
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was changed while it was being read') });
    expect(world.sent.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  test('a row that changes while others are sent is not sent', async () => {
    const world = fresh();
    const text = `subject,description\n${lines(1, 100).replaceAll('\n', `,${'x'.repeat(8000)}\n`)},x\n`;
    const file = put(world, 'a.csv', text);
    let isChanged = false;
    const changing: SandboxWorld = {
      ...world,
      async exchange(request) {
        if (isCreation(request) && !isChanged) put(world, 'a.csv', text.replace('Row 99', 'Row XX'));
        isChanged ||= isCreation(request);
        return world.exchange(request);
      },
    };
    const ran = await create(changing, file);
    expect(ran.exitCode).not.toBe(0);
    expect((await ticketsOf(world)).map(({ subject }) => subject)).not.toContain('Row XX');
  });
});

/** Tickets, and contacts too. */
const rowsOf = (from: number, to: number) =>
  `subject,email\n${[...Array(to - from + 1)].map((_, at) => `Row ${from + at},c${from + at}@example.com\n`).join('')}`;

type Change = readonly [how: string, change: (file: string) => void, isTold: boolean];
const changes: readonly Change[] = [
  ['overwritten', (file) => writeFileSync(file, rowsOf(3, 4)), true],
  ['appended to', (file) => writeFileSync(file, 'Row 3,c3@example.com\n', { flag: 'a' }), true],
  ['cut', (file) => truncateSync(file, 14), true],
  [
    'replaced',
    (file) => {
      writeFileSync(`${file}.new`, rowsOf(1, 3));
      renameSync(`${file}.new`, file);
    },
    true,
  ],
  ['written as it was', (file) => writeFileSync(file, rowsOf(1, 2)), false],
  ['deleted', (file) => rmSync(file), false],
];

const senders = ['tickets create --from', 'contacts sync'].map((words, turn) => [words, turn] as const);

describe.each(senders)('svc %s', (words, turn) => {
  test.each(inTurn(changes, turn, senders.length))(
    'a file that changes while its rows are sent is told at the end: %s',
    async (_, change, isTold) => {
      const world = fresh();
      const file = put(world, 'a.csv', rowsOf(1, 2));
      let isChanged = false;
      const changing: SandboxWorld = {
        ...world,
        async exchange(request) {
          if (request.method === 'POST' && !isChanged) change(file);
          isChanged ||= request.method === 'POST';
          return world.exchange(request);
        },
      };
      const ran = await svc(changing, [...words.split(' '), file, '--json']);
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 2, unsent: 0 });
      const said = 'a.csv has changed since svc read it: what was read then is what was sent.';
      expect(ran.stderr.includes(said), ran.stderr).toBe(isTold);
    },
  );
});

test.each([
  [['tickets', 'close', '7'], '7 and --from cannot be used together'],
  [['tickets', 'close', '7', '8'], '7 8 and --from cannot be used together'],
  [['tickets', 'note', '7', '--body', 'One'], '7 and --from cannot be used together'],
  [['contacts', 'update', '101', '--company', 'One'], '101 and --from cannot be used together'],
  [['tickets', 'close', 'T-1044'], 'T-1044 and --from cannot be used together'],
  [['contacts', 'update', 'ada@example.com', '--company', 'One'], 'ada@example.com and --from cannot be used together'],
])('%j with an id beside --from is exit 2, and nothing is sent', async (argv, said) => {
  const world = fresh();
  const ran = await svc(world, [...argv, '--from', put(world, 'ids', '9\n'), '--yes']);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
  expect(world.sent).toEqual([]);
});

describe('a journal of version 0.1.0', () => {
  const digestOf = (...parts: readonly string[]) => hexDigestOf(JSON.stringify(parts)).slice(0, 20);
  const requestOf = (subject: string) =>
    Buffer.from(hexDigestOf(JSON.stringify({ body: { subject } })), 'hex')
      .toString('base64url')
      .slice(0, 22);

  /** Rows 1 to 3 are done. */
  function former(world: SandboxWorld, file: string, isFinished: boolean): string {
    const account = digestOf(JSON.stringify([origin, hexDigestOf('key_acme')]));
    const settings = digestOf(JSON.stringify([{ body: {} }, null]));
    const place = digestOf(account, 'tickets create', file);
    const at = '2026-02-28T12:00:00.000Z';
    const text = [
      { svc_bulk: 1, command: 'tickets create', file, place, account, settings, started_at: at },
      { run: { at, boot: '0'.repeat(32) } },
      ...[1, 2, 3].map((n) => ({ done: { row: requestOf(`Row ${n}`), line: n + 1, id: n, requests: 1, ms: 1 } })),
      ...(isFinished ? [{ finished: { at } }] : []),
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
    const mark = (bytes: number) => `{"svc_bulk_bytes":"${String(bytes).padStart(12, '0')}"}\n`;
    mkdirSync(bulk(world), { recursive: true });
    const path = join(bulk(world), `${place}-${settings}-abc.jsonl`);
    writeFileSync(path, mark(mark(0).length + text.length) + text);
    return path;
  }

  test.each([true, false])('counts (finished: %s), also for a file of another name', async (isFinished) => {
    const world = fresh();
    former(world, join(world.folder, 'a.csv'), isFinished);
    expect((await create(world, put(world, 'b.csv', csv(1, 4)))).report).toMatchObject({ done: 4, resumed_rows: 3 });
    const own = await create(world, put(world, 'a.csv', csv(1, 5)));
    expect(own.report).toMatchObject({ done: 5, resumed_rows: 4 });
    // And again, now by what this version wrote in its place.
    expect((await create(world, join(world.folder, 'a.csv'))).report).toMatchObject({ done: 5, resumed_rows: 5 });
    rmSync(join(world.folder, 'b.csv'));
    expect((await subjects(world)).sort()).toEqual(['Row 4', 'Row 5']);
  });

  test('that is empty stops every run, for nobody can tell whose it was', async () => {
    const world = fresh();
    truncateSync(former(world, join(world.folder, 'a.csv'), false), 0);
    const ran = await create(world, put(world, 'b.csv', csv(1, 4)));
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is empty') });
    expect(await subjects(world)).toEqual([]);
  });
});

test('a record that one row made is not taken for an equal row of another file', async () => {
  const world = fresh();
  // Both rows are said to have left, and only the first one's record is there.
  const both = put(world, 'a.csv', 'subject\nRow 1\nRow 1\n');
  await create(world, both, ['--max-sends', '1']);
  const [journal = ''] = journals(world);
  const text = readFileSync(journal, 'utf8')
    .replaceAll('\0', '')
    .replace(/^\{"back".*\n/gmu, '');
  const done = /\{"done":\{"row":"([^"]+)".*\}\}/u.exec(text);
  const row = done?.[1] ?? '';
  // As a kill leaves it that comes when the second row has taken the record, and the first one is still looked for.
  const sent = `{"sent":{"row":"${row}","line":2,"before":0}}`;
  const taken = (done?.[0] ?? '').replace(row, `${row}~2`);
  writeFileSync(journal, text.replace(done?.[0] ?? '', `${taken}\n${sent}`));
  const ran = await create(world, put(world, 'first.csv', 'subject\nRow 1\n'));
  expect(ran).toMatchObject({ exitCode: 9, report: { done: 0, unknown: 1 } });
});
