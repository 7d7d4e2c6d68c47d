// A run with --restart that was stopped, and what other files, lists and forms of its rows do before it goes on.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/bulk/journal/text.ts';
import { atOnce, type Meets, own, reply, runs, unknown } from './restarting.ts';

function replies() {
  const at = runs();
  const go = async (file: string, text: string, flags: readonly string[] = [], met: readonly Meets[] = []) => {
    const { exitCode, sent, stderr } = await at.run(reply, file, text, flags, met);
    return { exitCode, sent: sent.map((body) => JSON.parse(body).body), stderr };
  };
  /** A first run of the file, and one with --restart that was stopped before its first row. */
  const begun = async (file: string, text: string, flags: readonly string[] = []) => {
    expect((await go(file, text, flags)).exitCode).toBe(0);
    expect((await go(file, text, [...flags, '--restart'], atOnce)).exitCode).toBe(10);
  };
  return { ...at, go, begun };
}

const both = ['Hello Ann', 'Hello Bob'];
/** The same rows in other columns: each has another name, and the same request. */
const mapped = 'id,text\n8,Hello Ann\n9,Hello Bob\n';
const byMap = ['--map', 'text=body'];

test.each<[what: string, flags: readonly string[]]>([
  ['only asked', []],
  ['sent them', ['--again']],
])('is none of a copy that has %s before, and goes on behind its run', async (_, flags) => {
  const { go } = replies();
  expect((await go('t.csv', own)).exitCode).toBe(0);
  expect((await go('copy.csv', own, flags)).exitCode).toBe(0);
  expect((await go('t.csv', own, ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('copy.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: both });
});

test.each(['u.csv', '-'])('goes on as %s, where nothing was run before', async (name) => {
  const { go, begun } = replies();
  await begun('t.csv', own);
  expect(await go(name, own)).toMatchObject({ exitCode: 0, sent: both });
  expect(await go(name, own)).toMatchObject({ exitCode: 0, sent: [] });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
});

test.each<[what: string, list: string, sent: readonly string[]]>([
  ['shares a row', 'id,body\n8,Hello Ann\n12,Hello Cy\n', ['Hello Cy']],
  ['is a part of it', 'id,body\n8,Hello Ann\n', []],
])('of standard input is none of another list that %s, and goes on behind that', async (_, list, sent) => {
  const { go, begun } = replies();
  await begun('-', own);
  expect(await go('-', list)).toMatchObject({ exitCode: 0, sent });
  expect(await go('-', own)).toMatchObject({ exitCode: 0, sent: both });
});

test('goes on with rows that another file has only asked about since', async () => {
  const { go, begun } = replies();
  await begun('t.csv', own);
  expect(await go('m.csv', `${mapped}12,Hello Cy\n`, byMap)).toMatchObject({ exitCode: 0, sent: ['Hello Cy'] });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: both });
});

test('sends no row again that another file has sent since, also where a third one has asked about it', async () => {
  const { go, begun, put } = replies();
  await begun('t.csv', own);
  expect((await go('m.csv', mapped, [...byMap, '--again'])).sent).toEqual(both);
  const byTemplate = ['--template', put('hello.md', 'Hello {{name}}')];
  expect((await go('n.csv', 'id,name\n8,Ann\n9,Bob\n12,Cy\n', byTemplate)).sent).toEqual(['Hello Cy']);
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
});

test('goes on with a row of which another file has done the rest since', async () => {
  const { go } = replies();
  const flags = ['--status', 'pending'];
  const one = 'id,body\n8,Hello Ann\n';
  expect((await go('t.csv', one, flags, ['Ctrl-C'])).exitCode).toBe(130);
  expect((await go('t.csv', one, [...flags, '--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('b.csv', `${one}12,Hello Cy\n`, flags)).toMatchObject({ exitCode: 0, sent: ['Hello Cy'] });
  expect(await go('t.csv', one, flags)).toMatchObject({ exitCode: 0, sent: ['Hello Ann'] });
});

test('goes on where the same file has other columns by then, each row once', async () => {
  const { go, begun } = replies();
  const twice = `${own}8,Hello Ann\n`;
  await begun('t.csv', twice);
  const part = await go('t.csv', `${mapped}8,Hello Ann\n`, [...byMap, '--max-sends', '2']);
  expect(part).toMatchObject({ exitCode: 8, sent: both });
  expect(await go('t.csv', twice)).toMatchObject({ exitCode: 0, sent: ['Hello Ann'] });
  expect(await go('t.csv', twice)).toMatchObject({ exitCode: 0, sent: [] });
});

test('goes on also where the same file has the columns of the run before, or another file has gone on with that', async () => {
  const { go } = replies();
  expect((await go('t.csv', mapped, [...byMap, '--max-sends', '1'])).exitCode).toBe(8);
  expect((await go('t.csv', own, ['--restart'], atOnce)).exitCode).toBe(10);
  expect((await go('u.csv', mapped, [...byMap, '--max-sends', '1'])).sent).toEqual(['Hello Bob']);
  expect(await go('t.csv', mapped, byMap)).toMatchObject({ exitCode: 0, sent: ['Hello Ann'] });
});

test('goes on with the rows that a later one, of a part of the file, has not begun', async () => {
  const { go, begun } = replies();
  await begun('t.csv', own);
  expect((await go('t.csv', 'id,body\n8,Hello Ann\n', ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: both });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
});

test('leaves that of another file its own', async () => {
  const { go, begun } = replies();
  const other = 'id,body\n12,Hello Cy\n8,Hello Ann\n';
  await begun('t.csv', own);
  expect((await go('o.csv', other)).sent).toEqual(['Hello Cy']);
  expect((await go('o.csv', other, ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: both });
  expect(await go('o.csv', other)).toMatchObject({ exitCode: 0, sent: ['Hello Cy'] });
});

test('goes on with rows that have grown since they were sent, but not past one that was sent since', async () => {
  const { go } = replies();
  const more = 'id,body,status\n8,Hello Ann,open\n9,Hello Bob,open\n';
  expect((await go('t.csv', own)).exitCode).toBe(0);
  expect((await go('t.csv', more, ['--restart'], atOnce)).exitCode).toBe(10);
  expect((await go('b.csv', 'id,body\n12,Hello Cy\n8,Hello Ann\n', ['--again'])).sent).toContain('Hello Ann');
  expect(await go('t.csv', more)).toMatchObject({ exitCode: 2, sent: [] });
  expect((await go('t.csv', more, ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', more)).toMatchObject({ exitCode: 0, sent: both });
});

test('goes on with a row like one in doubt, but not past a doubt that came since', async () => {
  const { go } = replies();
  const like = 'id,body,status\n8,Hello Ann,open\n';
  const one = 'id,body\n8,Hello Ann\n';
  expect((await go('o.csv', like, [], unknown.slice(1))).exitCode).toBe(9);
  expect((await go('t.csv', one, ['--restart'], atOnce)).exitCode).toBe(10);
  expect((await go('o.csv', like, ['--restart'], unknown.slice(1))).exitCode).toBe(9);
  expect(await go('t.csv', one)).toMatchObject({ exitCode: 2, sent: [] });
  expect((await go('t.csv', one, ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', one)).toMatchObject({ exitCode: 0, sent: ['Hello Ann'] });
});

test('knows a row in doubt that it was refused to send, and another form of the file has sent since', async () => {
  const { go, put, world } = replies();
  const byTemplate = ['--template', put('hello.md', 'Hello {{name}}')];
  const limited: readonly Meets[] = new Array(8).fill('HTTP 429');
  expect((await go('t.csv', 'id,text\n8,Hello Ann\n', byMap, unknown.slice(1))).exitCode).toBe(9);
  const one = 'id,body\n8,Hello Ann\n';
  expect((await go('t.csv', one, ['--restart'], limited)).exitCode).toBe(9);
  await world.clock.sleep(600_000);
  expect(await go('n.csv', 'id,name\n8,Ann\n', [...byTemplate, '--retry-unknown'])).toMatchObject({
    sent: ['Hello Ann'],
  });
  for (const flags of [[], ['--retry-unknown']])
    expect(await go('t.csv', one, flags)).toMatchObject({ exitCode: 0, sent: [] });
});

test('goes on with a row that the service has refused to another file since', async () => {
  const { go, begun } = replies();
  await begun('t.csv', own);
  const refused = await go('b.csv', 'id,body\n12,Hello Cy\n8,Hello Ann\n', ['--again'], ['is done', 'HTTP 422']);
  expect(refused).toMatchObject({ exitCode: 8, sent: ['Hello Cy', 'Hello Ann'] });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: both });
});

test('goes on with a row like one in doubt, but not past a second doubt that came since', async () => {
  const { go } = replies();
  const like = (status: string) => `id,body,status\n8,Hello Ann,${status}\n`;
  const one = 'id,body\n8,Hello Ann\n';
  expect((await go('o.csv', like('open'), [], unknown.slice(1))).exitCode).toBe(9);
  expect((await go('t.csv', one, ['--restart'], atOnce)).exitCode).toBe(10);
  expect((await go('p.csv', like('pending'), ['--restart'], unknown.slice(1))).exitCode).toBe(9);
  expect(await go('t.csv', one)).toMatchObject({ exitCode: 2, sent: [] });
});

test('goes on with rows that have grown from one of before, but not past another that was sent since', async () => {
  const { go } = replies();
  const more = 'id,body,status,priority\n8,Hello Ann,open,2\n';
  expect((await go('t.csv', 'id,body,priority\n8,Hello Ann,2\n')).exitCode).toBe(0);
  expect((await go('t.csv', more, ['--restart'], atOnce)).exitCode).toBe(10);
  expect((await go('b.csv', 'id,body\n12,Hello Cy\n8,Hello Ann\n', ['--again'])).exitCode).toBe(0);
  expect(await go('t.csv', more)).toMatchObject({ exitCode: 2, sent: [] });
});

test('of standard input goes on also where svc was killed right behind its beginning', async () => {
  const { go, begun, world } = replies();
  await begun('-', own);
  const bulk = join(world.folder, 'state', 'bulk');
  for (const name of readdirSync(bulk).filter((one) => one.endsWith('.jsonl'))) {
    const [, header = '', run = '', line = ''] = readFileSync(join(bulk, name), 'utf8').split('\n');
    if (line.startsWith('{"restart"')) writeFileSync(join(bulk, name), marked(`${header}\n${run}\n${line}\n`));
  }
  expect(await go('-', own)).toMatchObject({ exitCode: 0, sent: both });
});

test.each<[what: string, next: string, flags: readonly string[], sent: number]>([
  ['was sent beside it', 'template', ['--restart'], 1],
  ['became a second one', 'template', ['--restart', '--draft'], 0],
  ['became a second one from a third file with the same columns', 'map', ['--restart', '--draft'], 0],
])('sends no row beside a draft of another file, nor where it %s', async (_, next, flags, sent) => {
  const { go, begun, put } = replies();
  const one = 'id,body\n8,Hello Ann\n';
  await begun('t.csv', one);
  expect((await go('m.csv', 'id,text\n8,Hello Ann\n', [...byMap, '--restart', '--draft'])).exitCode).toBe(0);
  const [text, form] =
    next === 'map'
      ? ['id,text\n8,Hello Ann\n', byMap]
      : ['id,name\n8,Ann\n', ['--template', put('hello.md', 'Hello {{name}}')]];
  const beside = await go('v.csv', text, [...form, ...flags]);
  expect([beside.exitCode, beside.sent.length]).toEqual([0, sent]);
  expect(await go('t.csv', one)).toMatchObject({ exitCode: 0, sent: [] });
});

test('is none of another list at the same path, and goes on behind that', async () => {
  const { go, begun } = replies();
  const other = 'id,body\n12,Hello Cy\n';
  await begun('t.csv', own);
  expect(await go('t.csv', other)).toMatchObject({ exitCode: 0, sent: ['Hello Cy'] });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: both });
  for (const text of [own, other]) expect(await go('t.csv', text)).toMatchObject({ exitCode: 0, sent: [] });
});

test('goes on with the rows that were not in the file for a while, each once', async () => {
  const { go, begun } = replies();
  const [whole, part] = [`${own}12,Hello Cy\n`, 'id,body\n8,Hello Ann\n12,Hello Cy\n'];
  await begun('t.csv', whole);
  expect(await go('t.csv', part)).toMatchObject({ exitCode: 0, sent: ['Hello Ann', 'Hello Cy'] });
  expect(await go('t.csv', whole)).toMatchObject({ exitCode: 0, sent: ['Hello Bob'] });
  for (const text of [whole, part]) expect(await go('t.csv', text)).toMatchObject({ exitCode: 0, sent: [] });
});

test('leaves a row that another file has sent since, also where it was not in the file for a while', async () => {
  const { go, begun } = replies();
  await begun('t.csv', own);
  expect((await go('t.csv', 'id,body\n8,Hello Ann\n')).sent).toEqual(['Hello Ann']);
  expect((await go('m.csv', 'id,text\n9,Hello Bob\n', [...byMap, '--again'])).sent).toEqual(['Hello Bob']);
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
});

test.each<[rows: string, then: string, left: number]>([
  ['AA', 'AA', 1],
  ['AAA', 'AAA', 2],
  ['AAB', 'BAA', 2],
])(
  'goes on with %s where one of equal rows is done and the file, %s, has other columns by then',
  async (was, is, left) => {
    const { go, world } = replies();
    const list = (rows: string) => [...rows].map((one) => `${one === 'A' ? '8,Hello Ann' : '9,Hello Bob'}\n`).join('');
    const limited: readonly Meets[] = ['is done', ...new Array(8).fill('HTTP 429')];
    expect((await go('t.csv', `id,text\n${list(was)}`, byMap)).exitCode).toBe(0);
    expect((await go('t.csv', `id,text\n${list(was)}`, [...byMap, '--restart'], limited)).exitCode).toBe(8);
    await world.clock.sleep(600_000);
    const gone = await go('t.csv', `id,body\n${list(is)}`);
    expect([gone.exitCode, gone.sent.length]).toEqual([0, left]);
    for (const [head, flags] of [
      ['body', []],
      ['text', byMap],
    ] as const)
      expect(await go('t.csv', `id,${head}\n${list(is)}`, flags)).toMatchObject({ exitCode: 0, sent: [] });
  },
);
