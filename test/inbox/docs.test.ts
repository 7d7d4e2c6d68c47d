/** docs/inbox.md holds the keys of the table; UPDATE_README=1 writes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keys } from '../../src/inbox/keys.ts';
import { ownViews } from '../../src/inbox/views.ts';

const file = join(import.meta.dirname, '..', '..', 'docs', 'inbox.md');
const [start, end] = ['<!-- keys -->', '<!-- /keys -->'];

const table = [
  '| key | what it does |',
  '| --- | --- |',
  ...keys.map(
    ({ shown, about }) =>
      `| ${shown
        .split(' ')
        .map((key) => `\`${key}\``)
        .join(' ')} | ${about} |`,
  ),
].join('\n');

test('docs/inbox.md names the keys that there are, and what each does', () => {
  const text = readFileSync(file, 'utf8');
  const [before = '', rest = ''] = text.split(start);
  const [, after = ''] = rest.split(end);
  const written = `${before}${start}\n\n${table}\n\n${end}${after}`;
  if (process.env.UPDATE_README === '1') writeFileSync(file, written);
  expect(readFileSync(file, 'utf8')).toBe(written);
});

test('docs/inbox.md names every view of svc', () => {
  const text = readFileSync(file, 'utf8');
  expect(Object.keys(ownViews).filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
});

test('no key does two things', () => {
  const all = keys.flatMap((entry) => entry.keys);
  expect(all.filter((key, at) => all.indexOf(key) !== at)).toEqual([]);
});
