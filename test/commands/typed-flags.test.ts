// Which words of a line are flags, and which are the values of one.
import { expect, test } from 'vitest';
import { param } from '../../src/command/param.ts';
import { typedFlags } from '../../src/command/typed-flags.ts';

const flags = {
  dry_run: param.toggle('Send nothing'),
  body: param.text('The text', { short: 'b' }),
  note: { ...param.text('Another'), aliases: ['remark'] },
  out: param.output('A file'),
};

const seen = (line: string) =>
  typedFlags(line.split(' '), { flags }).map(({ name, value, at }) => [name, value, at] as const);

test.each<[line: string, flags: readonly (readonly [string, string | undefined, number])[]]>([
  [
    'reply 8 --dry-run --yes',
    [
      ['--dry-run', undefined, 2],
      ['--yes', undefined, 3],
    ],
  ],
  ['reply 8 --body --dry-run', [['--body', '--dry-run', 3]]],
  ['reply 8 -b -h', [['-b', '-h', 3]]],
  [
    'reply 8 --remark -h -h',
    [
      ['--remark', '-h', 3],
      ['-h', undefined, 4],
    ],
  ],
  [
    'reply 8 --body=--dry-run --dry-run',
    [
      ['--body', '--dry-run', 2],
      ['--dry-run', undefined, 3],
    ],
  ],
  ['reply 8 --out=a=b.csv', [['--out', 'a=b.csv', 2]]],
  [
    'reply 8 --profile acme -o json',
    [
      ['--profile', 'acme', 3],
      ['-o', 'json', 5],
    ],
  ],
  [
    'reply -yp acme',
    [
      ['-y', undefined, 1],
      ['-p', 'acme', 2],
    ],
  ],
  [
    'reply -ypacme --json',
    [
      ['-y', undefined, 1],
      ['-p', 'acme', 1],
      ['--json', undefined, 2],
    ],
  ],
  [
    'reply -yh',
    [
      ['-y', undefined, 1],
      ['-h', undefined, 1],
    ],
  ],
  ['reply --unknown --yes', [['--unknown', '--yes', 2]]],
  ['reply 8 --body', [['--body', undefined, 3]]],
  ['reply 8 - -- --yes', []],
])('%s', (line, expected) => {
  expect(seen(line)).toEqual(expected);
});
