// A row that may be done stays unknown until its own new attempt is answered well: no refusal, stop or limit of a later
// run makes it one that was not sent or was rejected, and the plain command never sends it again.
// Each run costs a start of svc, so that of the refusals each kind has its turn; `.ci/run` plays all.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyLine } from '../../src/bulk/journal/apply-line.ts';
import type { RowLine } from '../../src/bulk/journal/lines.ts';
import { rowStatusTable } from '../../src/bulk/journal/row-status-table.ts';
import { refusals, refusing } from '../refusing.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { atDesk } from '../sends/drafting.ts';
import { svc } from '../svc.ts';
import { inTurn, isThorough } from '../thorough.ts';

type Kind = { readonly argv: string; readonly text: string; readonly path: RegExp; readonly isSeen?: true };

const once: Readonly<Record<string, Kind>> = {
  note: { argv: 'tickets note', text: 'ticket,body\n8,One\n9,Two\n', path: /\/tickets\/\d+\/notes$/u },
  event: {
    argv: 'events send',
    text: 'trigger,contact.name,contact.email\norder_create,A,a@example.com\norder_create,B,b@example.com\n',
    path: /\/events$/u,
  },
  reply: {
    argv: 'tickets reply',
    text: 'ticket,body\n8,One\n9,Two\n',
    path: /\/tickets\/\d+\/replies$/u,
    isSeen: true,
  },
  creation: { argv: 'tickets create', text: 'subject\nOne\nTwo\n', path: /\/tickets$/u, isSeen: true },
};

/** Twice is once, so the same command sends them again. */
const repeatable: Readonly<Record<string, Kind>> = {
  'ticket to update': { argv: 'tickets update', text: 'id,subject\n7,New\n8,New\n', path: /\/tickets\/\d+$/u },
  'ticket to close': { argv: 'tickets close', text: '7\n8\n', path: /\/tickets\/\d+$/u },
  'contact to update': { argv: 'contacts update', text: 'id,name\n233,Ann\n175,Bo\n', path: /\/contacts\/\d+$/u },
  'list to update': { argv: 'lists update', text: 'id,name\n1,One\n2,Two\n', path: /\/contactslists\/\d+\/update$/u },
  'list to delete': { argv: 'lists delete', text: '1\n2\n', path: /\/contactslists\/\d+\/delete$/u },
  'conversation to resolve': {
    argv: 'conversations resolve',
    text: '1\n7\n',
    path: /\/conversations\/\d+\/resolve$/u,
  },
  'entry to publish': { argv: 'changelog publish', text: '31\n32\n', path: /\/changelog\/\d+$/u },
};

function behind({ text, path, argv }: Kind) {
  const service = refusing(sandboxWorld({ rateLimit: 'off', seed: few }), path);
  const run = async (flags: readonly string[] = [], name = 'rows.csv', signal?: AbortSignal, rows = text) => {
    const file = join(service.world.folder, name);
    writeFileSync(file, rows);
    const fast = ['--settle', '1', '--max-wait', '3', '--concurrency', '1'];
    const words = [...argv.split(' '), '--from', file, '--json', '--yes', ...fast, ...flags];
    const { exitCode, stdout, stderr } = await svc(service.world, words, signal && { signal });
    const { done, rejected, unknown, unsent, errors } = JSON.parse(stdout || '{}');
    return { exitCode, stderr, done, rejected, unknown, unsent, errors: errors as { readonly error: string }[] };
  };
  return { ...service, run };
}

const eachRefusal = Object.entries(refusals);

/** The kinds with their turns. */
const turns = (kinds: Readonly<Record<string, Kind>>) =>
  Object.entries(kinds).map(([name, kind], turn) => [name, kind, turn] as const);

const bothUnknown = { done: 0, rejected: 0, unknown: 2, unsent: 0 };

describe.each(turns(once))('%s in doubt, sent again with --retry-unknown', (_, kind, turn) => {
  const inDoubt = async () => {
    const service = behind(kind);
    service.meets(kind.isSeen ? service.late : service.lost);
    expect(await service.run()).toMatchObject({ ...bothUnknown, exitCode: 9 });
    return service;
  };
  /** What was on its way arrives; the plain command then sends nothing, whatever the file is called. */
  const sendsNothing = async (service: ReturnType<typeof behind>, names: readonly string[]) => {
    await service.letGo();
    service.meets(() => undefined);
    const ended = kind.isSeen ? { exitCode: 0, done: 2, unknown: 0 } : { ...bothUnknown, exitCode: 9 };
    for (const name of names) expect(await service.run([], name)).toMatchObject(ended);
    expect(service.times()).toEqual([1, 1]);
  };

  test.each(inTurn(eachRefusal, turn, 3))('%s leaves it unknown', async (_, refusal) => {
    const service = await inDoubt();
    service.meets(() => refusal);
    const second = await service.run(['--retry-unknown']);
    expect(second).toMatchObject({ ...bothUnknown, exitCode: 9 });
    for (const { error } of second.errors) expect(error).toContain('may or may not have been');
    await sendsNothing(service, isThorough ? ['rows.csv', 'copy.csv'] : ['rows.csv']);
  });

  test('so does Ctrl-C before it leaves', async () => {
    const service = await inDoubt();
    const stop = new AbortController();
    service.meets(() => {
      stop.abort('SIGINT');
      return { lost: 'before-sending', reason: 'aborted', detail: 'It was stopped.' };
    });
    const second = await service.run(['--retry-unknown'], 'rows.csv', stop.signal);
    expect(second).toMatchObject({ ...bothUnknown, exitCode: 130 });
    await sendsNothing(service, ['rows.csv', 'copy.csv']);
  });

  test('so does --max-sends, and what is said of it sends nothing twice', async () => {
    const service = await inDoubt();
    service.meets(() => undefined);
    const second = await service.run(['--retry-unknown', '--max-sends', '1']);
    expect(second).toMatchObject({ exitCode: 9, done: 1, rejected: 0, unknown: 1, unsent: 0 });
    expect(second.stderr).toContain('1 row is left, because of --max-sends 1.');
    expect(second.stderr).not.toContain('to send more');
    const sent = service.times().length;
    expect(await service.run()).toMatchObject({ exitCode: 9, done: 1, unknown: 1, unsent: 0 });
    expect(service.times()).toHaveLength(sent);
  });

  test('a good answer settles it', async () => {
    const service = await inDoubt();
    service.meets(() => undefined);
    expect(await service.run(['--retry-unknown'])).toMatchObject({ exitCode: 0, done: 2, unknown: 0 });
    expect(await service.run()).toMatchObject({ exitCode: 0, done: 2, unknown: 0 });
  });

  test('refused twice it says no more than once, and a third attempt may still settle it', async () => {
    const service = await inDoubt();
    service.meets(() => refusals['HTTP 422']);
    const [second, third] = [await service.run(['--retry-unknown']), await service.run(['--retry-unknown'])];
    expect(third).toMatchObject({ ...bothUnknown, exitCode: 9, errors: second.errors });
    service.meets(() => undefined);
    expect(await service.run(['--retry-unknown'])).toMatchObject({ exitCode: 0, done: 2, unknown: 0 });
  });
});

test.each(eachRefusal)('a row in doubt that goes as another request stays in doubt: %s', async (what, refusal) => {
  const two = behind({ argv: 'tickets note', text: 'ticket,body,x\n8,One,Two\n', path: /\/notes$/u });
  two.meets(two.lost);
  expect(await two.run()).toMatchObject({ exitCode: 9, unknown: 1 });
  two.meets(() => refusal);
  const map = ['--map', 'x=body', '--map', 'body=ignore'];
  expect(await two.run([...map, '--retry-unknown'])).toMatchObject({ exitCode: 9, unknown: 1 });
  await two.letGo();
  two.meets(() => undefined);
  const plain = { text: 'ticket,body\n8,One\n', name: 'plain.csv' };
  // How it goes on does not hang on what refused it.
  const goesOn = isThorough || what === 'HTTP 422';
  for (const flags of goesOn ? [[], ['--again']] : [[]])
    expect(await two.run(flags, plain.name, undefined, plain.text)).toMatchObject({ exitCode: 9, unknown: 1 });
  expect(two.times()).toEqual([1]);
  if (!goesOn) return;
  const retried = await two.run(['--retry-unknown'], plain.name, undefined, plain.text);
  expect(retried).toMatchObject({ exitCode: 0, done: 1 });
  expect(await two.run([], plain.name, undefined, plain.text)).toMatchObject({ exitCode: 0, done: 1 });
  expect(two.times()).toEqual([2]);
});

test.each(Object.entries(refusals))(
  'a row in doubt that --restart sends again stays unknown: %s',
  async (_, refusal) => {
    const two = behind(once.note as Kind);
    two.meets(two.lost);
    expect(await two.run()).toMatchObject({ exitCode: 9, unknown: 2 });
    two.meets(() => refusal);
    expect(await two.run(['--restart'])).toMatchObject({ ...bothUnknown, exitCode: 9 });
    await two.letGo();
    two.meets(() => undefined);
    expect(await two.run([], 'copy.csv', undefined, 'ticket,body\n8,One\n')).toMatchObject({ exitCode: 9, unknown: 1 });
    expect(two.times()).toEqual([1, 1]);
    expect(await two.run(['--restart'])).toMatchObject({ exitCode: 0, done: 2 });
    expect(two.times()).toEqual([2, 2]);
  },
);

test('a row in doubt that --restart sends as another request stays in doubt as what it was', {
  tags: ['long'],
}, async () => {
  const two = behind({ argv: 'tickets note', text: 'ticket,body,x\n8,One,Two\n', path: /\/notes$/u });
  two.meets(two.lost);
  expect(await two.run()).toMatchObject({ exitCode: 9, unknown: 1 });
  two.meets(() => undefined);
  const map = ['--map', 'x=body', '--map', 'body=ignore'];
  expect(await two.run([...map, '--restart'])).toMatchObject({ exitCode: 0, done: 1 });
  expect(await two.run(map)).toMatchObject({ exitCode: 0, done: 1 });
  const plain = { text: 'ticket,body\n8,One\n', name: 'plain.csv' };
  for (const flags of [[], ['--again']]) {
    expect(await two.run(flags)).toMatchObject({ exitCode: 9, unknown: 1 });
    expect(await two.run(flags, plain.name, undefined, plain.text)).toMatchObject({ exitCode: 9, unknown: 1 });
  }
  expect(two.times()).toEqual([1, 1]);
});

test('a row in doubt that became a draft is in doubt again where a person rejects that', async () => {
  const argv = 'tickets reply';
  const reply = behind({ argv, text: 'ticket,body,status\n8,One,pending\n', path: /\/replies$/u });
  reply.meets(reply.late);
  expect(await reply.run()).toMatchObject({ exitCode: 9, unknown: 1 });
  reply.meets(() => undefined);
  expect(await reply.run(['--draft', '--retry-unknown'])).toMatchObject({ exitCode: 0, done: 1 });
  expect((await svc(reply.world, ['drafts', 'reject', '1', '--yes'])).exitCode).toBe(0);
  for (const flags of [[], ['--again']])
    expect(await reply.run(flags)).toMatchObject({ exitCode: 9, rejected: 0, unknown: 1 });
  const other = 'ticket,body,status\n8,One,open\n';
  expect(await reply.run([], 'other.csv', undefined, other)).toMatchObject({ exitCode: 2 });
  expect(reply.times()).toEqual([]);
  expect(await reply.run(['--retry-unknown'])).toMatchObject({ exitCode: 0, done: 1 });
});

/** A reply in doubt that --retry-unknown made a draft of. */
async function draftedInDoubt() {
  const reply = behind({ argv: 'tickets reply', text: 'ticket,body,status\n8,One,pending\n', path: /\/replies$/u });
  const desk = atDesk(reply.world);
  const approve = async (...flags: readonly string[]) =>
    (await desk.run(['drafts', 'approve', '1', '--digest', (await desk.shown(1)).digest, ...flags])).exitCode;
  const like = () => reply.run([], 'other.csv', undefined, 'ticket,body,status\n8,One,open\n');
  reply.meets(reply.late);
  expect(await reply.run()).toMatchObject({ exitCode: 9, unknown: 1 });
  reply.meets(() => undefined);
  expect(await reply.run(['--draft', '--retry-unknown'])).toMatchObject({ exitCode: 0, done: 1 });
  return { ...reply, approve, like };
}

test('a row in doubt stays so where the service refuses the draft of its next attempt', {
  tags: ['long'],
}, async () => {
  const { run, approve, like, meets, times } = await draftedInDoubt();
  expect(await like()).toMatchObject({ exitCode: 2 });
  meets(() => refusals['HTTP 422']);
  expect(await approve()).toBe(6);
  for (const flags of [[], ['--again'], ['--retry-unknown']]) {
    const ran = await run(flags);
    expect(ran).toMatchObject({ exitCode: 9, done: 0, rejected: 0, unknown: 1 });
    expect(ran.errors[0]?.error).toMatch(/may or may not have been.*; then: draft 1 was refused by the service/u);
  }
  expect(await like()).toMatchObject({ exitCode: 2 });
  expect(times()).toEqual([]);
});

test('a draft of a row in doubt that was sent settles it', async () => {
  const { run, approve, like, meets, times } = await draftedInDoubt();
  meets(() => undefined);
  expect(await approve()).toBe(0);
  expect(await run()).toMatchObject({ exitCode: 0, done: 1 });
  expect(await like()).toMatchObject({ exitCode: 0, done: 1 });
  expect(times()).toEqual([2]);
});

test('a row in doubt is not passed over where a person rejected the draft of one like it, and is once one is sent', {
  tags: ['long'],
}, async () => {
  const reply = behind({ argv: 'tickets reply', text: 'ticket,body,status\n8,One,pending\n', path: /\/replies$/u });
  const desk = atDesk(reply.world);
  const like = (status: string, ...flags: readonly string[]) =>
    reply.run(flags, `${status}.csv`, undefined, `ticket,body,status\n8,One,${status}\n`);
  reply.meets(reply.late);
  expect(await reply.run()).toMatchObject({ exitCode: 9, unknown: 1 });
  reply.meets(() => undefined);
  expect(await like('open', '--draft', '--retry-unknown')).toMatchObject({ exitCode: 0, done: 1 });
  await desk.ok('drafts reject 1');
  expect(await like('closed')).toMatchObject({ exitCode: 2 });
  expect(await like('open', '--draft', '--again', '--retry-unknown')).toMatchObject({ exitCode: 0, done: 1 });
  expect((await desk.approve(2)).exitCode).toBe(0);
  expect(await like('closed')).toMatchObject({ exitCode: 0, done: 1 });
});

describe.each(turns(repeatable))('a %s in doubt, sent again by the same command', (_, kind, turn) => {
  // What hangs on no refusal: every second kind.
  const inItsTurn = inTurn([test], turn, 2)[0] ?? (() => {});
  const inDoubt = async () => {
    const service = behind(kind);
    service.meets(service.lost);
    expect(await service.run()).toMatchObject({ ...bothUnknown, exitCode: 9 });
    return service;
  };
  const isGone = (what: string) => what === 'HTTP 404' && kind.argv.endsWith('delete');

  // To meet one that is gone, a deletion needs the turn of HTTP 404.
  test.each(inTurn(eachRefusal, turn + 1, 3))(
    '%s leaves it unknown, and a good answer settles it',
    async (what, refusal) => {
      const service = await inDoubt();
      service.meets(() => refusal);
      const second = await service.run();
      // What was to be deleted is not there.
      const ended = isGone(what) ? { exitCode: 0, done: 2, unknown: 0 } : { ...bothUnknown, exitCode: 9 };
      expect(second).toMatchObject(ended);
      if (isGone(what)) return;
      for (const { error } of second.errors) expect(error).toContain('may or may not have been');
      await service.letGo();
      service.meets(() => undefined);
      if (kind.argv.endsWith('delete')) service.meets(() => refusals['HTTP 404']);
      expect(await service.run()).toMatchObject({ exitCode: 0, done: 2, rejected: 0, unknown: 0, unsent: 0 });
      // And is forgotten with the run.
      service.meets(() => refusals['HTTP 422']);
      expect(await service.run()).toMatchObject({ done: 0, rejected: 2, unknown: 0, unsent: 0 });
    },
  );

  inItsTurn('Ctrl-C before it leaves leaves it unknown', async () => {
    const service = await inDoubt();
    const stop = new AbortController();
    service.meets(() => {
      stop.abort('SIGINT');
      return { lost: 'before-sending', reason: 'aborted', detail: 'It was stopped.' };
    });
    expect(await service.run([], 'rows.csv', stop.signal)).toMatchObject({ ...bothUnknown, exitCode: 130 });
  });

  inItsTurn('--restart forgets it', async () => {
    const service = await inDoubt();
    service.meets(() => refusals['HTTP 422']);
    expect(await service.run(['--restart'])).toMatchObject({ done: 0, rejected: 2, unknown: 0, unsent: 0 });
  });

  test('the rows that were done beside it go again with it', async () => {
    const service = behind(kind);
    let left = 0;
    service.meets((request) => (++left === 1 ? undefined : service.lost(request)));
    expect(await service.run()).toMatchObject({ exitCode: 9, done: 1, unknown: 1 });
    let again = 0;
    service.meets(() => {
      again++;
      return undefined;
    });
    if (kind.argv.endsWith('delete')) return;
    expect(await service.run()).toMatchObject({ exitCode: 0, done: 2, unknown: 0 });
    expect(again).toBe(2);
  });
});

describe('a journal of a build that took a row in doubt back before it went again', () => {
  const row = 'a';
  const about = { row, line: 2 };
  const cost = { requests: 1, ms: 1 };
  const error = 'The note may or may not have been added.';
  const said = (lines: readonly RowLine[]) => {
    const rowStatuses = rowStatusTable();
    const before: readonly RowLine[] = [
      { sent: { ...about, before: null, like: 'l' } },
      { unknown: { ...about, error, ...cost } },
      { back: about },
    ];
    for (const line of [...before, ...lines]) applyLine(rowStatuses, line);
    return rowStatuses.get(row);
  };
  const sent: RowLine = { sent: { ...about, before: 7, like: 'l' } };
  const meant: RowLine = { meant: { rows: [about], before: 7 } };

  test.each<[string, readonly RowLine[]]>([
    ['and never sent it', []],
    ['and meant to send it', [meant, { back: about }]],
    ['and was refused by a limit', [meant, sent, { back: about }]],
    ['and was to make a draft of it', [{ drafting: { ...about, batch: 'b', like: 'l' } }, { back: about }]],
    [
      'and could not keep the draft of it',
      [{ drafting: { ...about, batch: 'b', like: 'l' } }, { unknown: { ...about, error, ...cost } }],
    ],
  ])('%s still calls it unknown', (_, lines) => {
    expect(said(lines)).toMatchObject({ status: 'unknown', error, like: 'l' });
  });

  test('and was refused calls it unknown, and says both', () => {
    const rejected = said([sent, { rejected: { ...about, error: 'body is bad', ...cost } }]);
    expect(rejected).toMatchObject({ status: 'unknown', like: 'l', error: `${error.slice(0, -1)}; then: body is bad` });
  });

  test('and sent it calls it done', () => {
    expect(said([sent, { done: { ...about, id: 9, ...cost } }])).toMatchObject({ status: 'done', id: 9 });
  });
});
