// --again sends what this file has not sent with its request, whatever runs of other files and forms of the rows come between.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const texts = {
  'a.csv': 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n',
  'copy.csv': 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n',
  'third.csv': 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n',
  // These have a row of their own, too: a run that sends nothing leaves nothing.
  'other.csv': 'id,body\n12,Hello Cy\n9,Hello Bob\n8,Hello Ann\n11,Hello Di\n',
  'map.csv': 'id,text\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n11,Hello Ed\n',
  'name.csv': 'id,name\n8,Ann\n9,Bob\n12,Cy\n11,Flo\n',
  'both.csv': 'id,body,more\n8,Hello Ann,Bye\n9,Hello Bob,Bye\n12,Hello Cy,Bye\n',
  'hello.md': 'Hello {{name}}',
} as const;

function files() {
  const at = desk();
  const put = (name: string, text: string) => writeFileSync(join(at.world.folder, name), text);
  for (const [name, text] of Object.entries(texts)) put(name, text);
  const of = (name: string): readonly string[] => {
    if (name === 'map.csv') return ['--map', 'text=body'];
    return name === 'name.csv' ? ['--template', join(at.world.folder, 'hello.md')] : [];
  };
  const line = (name: string, ...flags: readonly string[]) => [
    'tickets',
    'reply',
    '--from',
    join(at.world.folder, name),
    ...of(name),
    '--yes',
    '--json',
    ...flags,
  ];
  const sent = () => writesOf(at.world).length;
  return { ...at, put, line, sent };
}

test.each(['map.csv', 'name.csv', 'other.csv'])(
  'what %s has found sent is still what it was for --again',
  { tags: ['long'] },
  async (form) => {
    const { ok, line, sent } = files();
    await ok(line('a.csv'));
    await ok(line(form));
    expect(sent()).toBe(4);
    const own = await ok(line('a.csv', '--again'));
    expect(own.stderr).toContain('--restart');
    expect(sent()).toBe(4);
    await ok(line(form));
    expect((await ok(line(form, '--again'))).stdout).toContain('"done": 4');
    expect(sent()).toBe(7);
    for (const name of ['a.csv', form, 'a.csv', form]) {
      await ok(line(name));
      const none = await ok(line(name, '--again'));
      expect(none.stderr).toContain('--restart');
      expect(none.stderr).not.toContain('add --again');
    }
    expect(sent()).toBe(7);
  },
);

test.each(['map.csv', 'name.csv', 'other.csv'])(
  'a stopped --again goes on after runs of %s, and sends nothing a third time',
  { tags: ['long'] },
  async (form) => {
    const { ok, run, line, sent } = files();
    await ok(line('a.csv'));
    await ok(line(form));
    for (const all of [5, 6, 7, 7]) {
      await run(line('copy.csv', '--again', '--max-sends', '1'));
      expect(sent()).toBe(all);
      for (const name of [form, 'a.csv', form]) await ok(line(name));
      await ok(line('a.csv', '--again'));
      expect(sent()).toBe(all);
    }
  },
);

test('files that are sent with --again in turns send each row once each', { tags: ['long'] }, async () => {
  const { ok, run, line, sent } = files();
  await ok(line('a.csv'));
  for (let turn = 0; turn < 4; turn++)
    for (const name of ['other.csv', 'map.csv', 'name.csv', 'a.csv'])
      await run(line(name, '--again', '--max-sends', '1'));
  expect(sent()).toBe(15);
  for (const name of ['other.csv', 'map.csv', 'name.csv', 'a.csv']) await ok(line(name, '--again'));
  expect(sent()).toBe(15);
});

test('copies that go on with one stopped --again in turns are one file under other names', async () => {
  const { world, ok, run, line, sent } = files();
  await ok(line('a.csv'));
  for (const name of ['copy.csv', 'third.csv', 'copy.csv', 'third.csv', 'copy.csv']) {
    await run(line(name, '--again', '--max-sends', '1'));
    await ok(line('a.csv'));
  }
  expect(sent()).toBe(6);
  // What came to its end is left to no other file.
  renameSync(join(world.folder, 'third.csv'), join(world.folder, 'fourth.csv'));
  await ok(line('fourth.csv', '--again'));
  expect(sent()).toBe(9);
});

test('what was sent before the row went as another request stays sent', async () => {
  const { ok, run, line, sent } = files();
  const [hello, bye] = [
    ['--map', 'more=ignore'],
    ['--map', 'body=ignore', '--map', 'more=body'],
  ];
  await ok(line('both.csv', ...hello));
  await ok(line('both.csv', ...bye, '--again'));
  expect(sent()).toBe(6);
  await ok(line('a.csv'));
  for (const flags of [hello, bye, [...hello, '--again'], [...bye, '--again']]) await ok(line('both.csv', ...flags));
  expect(sent()).toBe(6);
  expect((await run(line('a.csv', '--again'))).exitCode).toBe(0);
  expect(sent()).toBe(9);
});

test('a row that the service refused in one file, and that is a draft or sent from another, is what it is there', async () => {
  for (const more of [['--draft'], []]) {
    const { world, ok, run, json, line, sent } = files();
    await world.control('POST', 'faults', {
      method: 'POST',
      path: '/tickets/9/',
      action: 'status',
      status: 422,
      times: 1,
    });
    expect((await run(line('a.csv'))).exitCode).toBe(8);
    expect(sent()).toBe(3);
    await ok(line('name.csv', ...more));
    expect(sent()).toBe(more.length === 0 ? 5 : 3);
    const { stdout } = await ok(line('a.csv'));
    expect(JSON.parse(stdout)).toMatchObject({ done: 3, rejected: 0, ...(more.length > 0 && { drafted: 1 }) });
    if (more.length > 0) expect(await json('drafts list')).toHaveLength(2);
  }
});

test('a file whose drafts a person rejected has sent nothing: --again sends what another file has sent', async () => {
  const { ok, line, sent } = files();
  await ok(line('a.csv', '--draft'));
  await ok('drafts reject 1 2 3');
  await ok(line('other.csv', '--again'));
  expect(sent()).toBe(4);
  for (const _ of [1, 2]) {
    await ok(line('a.csv', '--again'));
    expect(sent()).toBe(7);
  }
});

test('what a run was stopped at, and another file found, is done in each form', async () => {
  const { world, ok, line, sent } = files();
  let count = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'POST') count++;
    const answer = await world.exchange(request);
    return count > 0 ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } : answer;
  };
  const argv = line('a.csv', '--max-sends', '1', '--settle', '1');
  expect((await svc({ ...world, exchange }, argv)).exitCode).toBe(9);
  await ok(line('other.csv'));
  expect(sent()).toBe(4);
  const { stdout } = await ok(line('map.csv'));
  expect(JSON.parse(stdout)).toMatchObject({ done: 4, unknown: 0 });
  expect(sent()).toBe(5);
});

test('a row that may have gone as another request stays one, though its request of now was sent from elsewhere', async () => {
  const { world, ok, run, line, sent } = files();
  await ok(line('map.csv'));
  const bye = ['--map', 'body=ignore', '--map', 'more=body', '--settle', '1'];
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
  };
  expect((await svc({ ...world, exchange }, line('both.csv', ...bye))).exitCode).toBe(9);
  for (const more of [[], ['--again']])
    for (const flags of [['--map', 'more=ignore'], bye])
      expect((await run(line('both.csv', ...flags, ...more))).exitCode).not.toBe(0);
  expect(sent()).toBe(4);
});

test('a message that a person rejected is sent by --again alone, whatever else its row was sent as from elsewhere', async () => {
  const { ok, run, put, line, sent } = files();
  put('also.csv', 'id,body,more\n12,Hello Cy,Bye\n9,Hello Bob,Bye\n8,Hello Ann,Bye\n');
  await ok(line('both.csv', '--map', 'more=ignore', '--draft'));
  await ok('drafts reject 1 2 3');
  await ok(line('also.csv', '--map', 'body=ignore', '--map', 'more=body', '--again'));
  expect(sent()).toBe(3);
  const plain = await run(line('a.csv'));
  expect(JSON.parse(plain.stdout)).toMatchObject({ rejected: 3, done: 0 });
  expect(plain.exitCode).toBe(8);
  expect(sent()).toBe(3);
  await ok(line('a.csv', '--again'));
  expect(sent()).toBe(6);
});

test('a row that another file found is done in the next form, also where its own file ran since', async () => {
  const { world, ok, run, line, sent } = files();
  let isLost = false;
  const exchange: typeof world.exchange = async (request) => {
    isLost ||= request.method === 'POST';
    const answer = await world.exchange(request);
    return isLost ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } : answer;
  };
  expect((await svc({ ...world, exchange }, line('a.csv', '--max-sends', '1', '--settle', '1'))).exitCode).toBe(9);
  await ok(line('other.csv'));
  expect(sent()).toBe(4);
  await ok(line('a.csv'));
  const { stdout } = await run(line('map.csv'));
  expect(JSON.parse(stdout)).toMatchObject({ done: 4, unknown: 0 });
  expect(sent()).toBe(5);
});

test('what this file has sent it does not send again where another file drafted it since, and a person rejected that', async () => {
  const { ok, run, line, sent } = files();
  await ok(line('a.csv'));
  await ok(line('other.csv', '--again', '--draft'));
  await ok('drafts reject 1 2 3 4');
  for (const flags of [[], ['--again']]) {
    const own = await ok(line('a.csv', ...flags));
    expect(JSON.parse(own.stdout)).toMatchObject({ done: 3, rejected: 0 });
    expect(own.stderr).toContain('--restart');
    expect(own.stderr).not.toContain('add --again');
    const other = await run(line('other.csv'));
    expect(other.exitCode).toBe(8);
    expect(JSON.parse(other.stdout)).toMatchObject({ done: 0, rejected: 4 });
    expect(sent()).toBe(3);
  }
  await ok(line('other.csv', '--again'));
  expect(sent()).toBe(7);
});

test('a file under another name has sent what it sent before it was renamed, also as a form of other columns', async () => {
  const { world, ok, run, put, line, sent } = files();
  await run(line('a.csv', '--max-sends', '1'));
  renameSync(join(world.folder, 'a.csv'), join(world.folder, 'copy.csv'));
  await ok(line('copy.csv'));
  put('copy.csv', texts['name.csv']);
  const { stderr } = await ok([...line('copy.csv', '--again'), '--template', join(world.folder, 'hello.md')]);
  expect(stderr).toContain('3 rows were sent before');
  expect(sent()).toBe(4);
});

test('what a file has sent is still what it was for --again where a copy of it began again', async () => {
  const { ok, line, sent } = files();
  await ok(line('a.csv'));
  await ok(line('copy.csv', '--restart'));
  expect(sent()).toBe(6);
  for (const flags of [[], ['--again']]) {
    const { stderr } = await ok(line('a.csv', ...flags));
    expect(stderr).toContain('--restart');
    expect(stderr).not.toContain('add --again');
  }
  await ok(line('copy.csv', '--again'));
  expect(sent()).toBe(6);
  for (const all of [9, 12]) {
    await ok(line('copy.csv', '--restart'));
    expect(sent()).toBe(all);
  }
});

test('--restart sends again the rows of the file as it is now: what else was sent of it stays sent', async () => {
  const { ok, put, line, sent } = files();
  const [hello, bye] = [
    ['--map', 'more=ignore'],
    ['--map', 'body=ignore', '--map', 'more=body'],
  ];
  await ok(line('both.csv', ...hello));
  await ok(line('both.csv', ...bye, '--restart'));
  for (const flags of [hello, bye, [...hello, '--again']]) await ok(line('both.csv', ...flags));
  await ok(line('a.csv'));
  expect(sent()).toBe(6);
  put('other.csv', 'id,body\n11,Hello Di\n10,Hello Ed\n');
  await ok(line('other.csv'));
  put('other.csv', 'id,body\n11,Hello Di\n');
  await ok(line('other.csv', '--restart'));
  put('other.csv', 'id,body\n11,Hello Di\n10,Hello Ed\n');
  await ok(line('other.csv'));
  expect(sent()).toBe(9);
});

test('a draft waits also where its row was begun again as another request', async () => {
  const { ok, run, line, sent } = files();
  await ok(line('both.csv', '--map', 'more=ignore', '--draft'));
  await ok(line('both.csv', '--map', 'body=ignore', '--map', 'more=body', '--restart'));
  expect(sent()).toBe(3);
  const { stdout } = await ok(line('a.csv'));
  expect(JSON.parse(stdout)).toMatchObject({ done: 3, drafted: 3 });
  await ok('drafts reject 1 2 3');
  expect((await run(line('a.csv'))).exitCode).toBe(8);
  expect(sent()).toBe(3);
});

test('so it is where the draft is of a copy, which has one history with it', async () => {
  const { ok, run, put, line, sent } = files();
  put('copy.csv', 'id,body\n8,Hello Ann\n9,Hello Bob\n12,Hello Cy\n');
  await ok(line('a.csv'));
  await ok(line('copy.csv', '--again', '--draft'));
  await ok('drafts reject 1 2 3');
  for (const flags of [[], ['--again'], ['--dry-run']]) {
    expect(JSON.parse((await ok(line('a.csv', ...flags))).stdout)).toMatchObject({ done: 3, rejected: 0 });
    expect((await run(line('copy.csv'))).exitCode).toBe(8);
  }
  expect(sent()).toBe(3);
  await ok(line('copy.csv', '--again'));
  for (const name of ['a.csv', 'copy.csv']) await ok(line(name));
  expect(sent()).toBe(6);
});

test('rows that come into a file that was begun again are not sent again by it', async () => {
  const { ok, put, line, sent } = files();
  await ok(line('a.csv'));
  put('some.csv', 'id,body\n9,Hello Bob\n8,Hello Ann\n');
  await ok(line('some.csv', '--restart'));
  put('some.csv', 'id,body\n9,Hello Bob\n12,Hello Cy\n8,Hello Ann\n');
  await ok(line('some.csv'));
  expect(sent()).toBe(5);
});
