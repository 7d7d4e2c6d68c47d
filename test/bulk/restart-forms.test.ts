// What a file has sent it does not send again by itself, whatever forms of its rows were begun with --restart in between.
import { expect, test } from 'vitest';
import { atOnce, type Meets, own, reply, runs } from './restarting.ts';

const more = 'id,body,status\n8,Hello Ann,open\n9,Hello Bob,open\n';
const turned = 'id,body,status\n9,Hello Bob,open\n8,Hello Ann,open\n';
const extra = 'id,body,extra\n9,Hello Bob,x\n8,Hello Ann,x\n';
const mapped = 'id,text\n8,Hello Ann\n9,Hello Bob\n';
const two = 'id,body,more\n8,Hello Ann,Bye Ann\n9,Hello Bob,Bye Bob\n';
const bye = 'id,text\n8,Bye Ann\n9,Bye Bob\n';
const byMap = ['--map', 'text=body'];
const ignored = ['--map', 'status=ignore'];

function replies() {
  const at = runs();
  /** How many messages went. */
  const go = async (file: string, text: string, flags: readonly string[] = [], met: readonly Meets[] = []) => {
    const { exitCode, sent, stderr } = await at.run(reply, file, text, flags, met);
    return { exitCode, sent: sent.filter((body) => JSON.parse(body).body !== undefined).length, stderr };
  };
  return { ...at, go };
}

type Step = readonly [file: string, text: string, flags: readonly string[], sent: number];

test.each<[what: string, steps: readonly Step[]]>([
  [
    'the file itself, as another request',
    [
      ['t.csv', more, [], 2],
      ['t.csv', more, [...ignored, '--restart'], 2],
      ['t.csv', mapped, byMap, 0],
      ['t.csv', more, [], 0],
    ],
  ],
  [
    'another file with --restart',
    [
      ['t.csv', more, [], 2],
      ['u.csv', turned, [...ignored, '--restart'], 2],
      ['u.csv', extra, [], 0],
      ['t.csv', more, [], 0],
    ],
  ],
  [
    'another file with --again',
    [
      ['t.csv', `${more}12,Hello Cy,open\n`, [], 3],
      ['u.csv', more, [...ignored, '--again'], 2],
      ['u.csv', extra, [], 0],
      ['t.csv', own, [], 0],
      ['t.csv', more, [], 0],
      ['t.csv', own, [], 0],
    ],
  ],
  [
    'another file with --again, and this one goes on with a row of its own',
    [
      ['t.csv', `${more}12,Hello Cy,\n`, [], 3],
      ['u.csv', more, [...ignored, '--again'], 2],
      ['t.csv', `${mapped}12,Hello Cy\n11,Hello Di\n`, byMap, 1],
      ['t.csv', `${more}12,Hello Cy,\n`, [], 0],
    ],
  ],
  [
    'the file itself with the text of another column',
    [
      ['t.csv', two, ['--map', 'more=ignore'], 2],
      ['t.csv', two, ['--map', 'body=ignore', '--map', 'more=body', '--restart'], 2],
      ['t.csv', bye, byMap, 0],
      ['t.csv', two, ['--map', 'more=ignore'], 0],
    ],
  ],
])(
  'stays sent where %s has sent the rows since, and has other columns by then',
  { tags: ['long'] },
  async (_, steps) => {
    const { go } = replies();
    for (const [file, text, flags, sent] of steps)
      expect(await go(file, text, flags)).toMatchObject({ exitCode: 0, sent });
  },
);

test.each([
  ['once', []],
  ['once more, before its first row,', atOnce],
])('a --restart that was stopped %s and whose file has lost a column by then names what was sent', async (_, met) => {
  const { go } = replies();
  expect(await go('t.csv', more)).toMatchObject({ exitCode: 0, sent: 2 });
  expect(await go('t.csv', more, ['--restart', '--max-sends', '1'])).toMatchObject({ exitCode: 8, sent: 1 });
  if (met.length > 0) expect((await go('t.csv', more, ['--restart'], met)).exitCode).toBe(10);
  const lost = await go('t.csv', own);
  expect(lost).toMatchObject({ exitCode: 2, sent: 0 });
  expect(lost.stderr).toContain('1 row of t.csv that was sent is no longer in it, or changed: line 2');
  expect(lost.stderr).toContain('add --again');
  expect(await go('t.csv', own, ['--again'])).toMatchObject({ exitCode: 0, sent: 2 });
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: 0 });
});

test.each(['t.csv', 'copy.csv'])('a later --restart of a file that has grown since counts for %s', async (file) => {
  const { go } = replies();
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: 2 });
  expect((await go('t.csv', own, ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', more, ['--restart'])).toMatchObject({ exitCode: 0, sent: 2 });
  for (const text of [own, more, own]) expect(await go(file, text)).toMatchObject({ exitCode: 0, sent: 0 });
});

test('so it does where the file has other columns by then', async () => {
  const { go } = replies();
  expect(await go('o.csv', own)).toMatchObject({ exitCode: 0, sent: 2 });
  expect((await go('t.csv', own, ['--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', more, ['--restart'])).toMatchObject({ exitCode: 0, sent: 2 });
  expect(await go('t.csv', mapped, byMap)).toMatchObject({ exitCode: 0, sent: 0 });
});

test('one of a file that has grown since, and that has sent nothing, takes the place of none', async () => {
  const { go } = replies();
  expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent: 2 });
  for (const text of [own, more]) expect((await go('t.csv', text, ['--restart'], atOnce)).exitCode).toBe(10);
  for (const sent of [2, 0]) expect(await go('t.csv', own)).toMatchObject({ exitCode: 0, sent });
  expect(await go('t.csv', more)).toMatchObject({ exitCode: 2, sent: 0 });
});

test('one that was stopped sends no row of which a later --restart has sent less', async () => {
  const { go } = replies();
  expect(await go('t.csv', more)).toMatchObject({ exitCode: 0, sent: 2 });
  expect((await go('t.csv', more, [...ignored, '--restart'], atOnce)).exitCode).toBe(10);
  expect(await go('t.csv', own, ['--restart'])).toMatchObject({ exitCode: 0, sent: 2 });
  for (const flags of [[], ignored]) expect(await go('t.csv', more, flags)).toMatchObject({ sent: 0 });
});
