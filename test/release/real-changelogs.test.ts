// @module-tag long
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pickSection } from '../../src/release/pick.ts';
import { sectionsOf } from '../../src/release/section.ts';

/** Changelogs of public projects lie beside the repository where it is worked on; they are other people's. */
const folder = new URL('../../../shared/corpus/changelogs/', import.meta.url);

type Case = {
  readonly file: string;
  readonly version: string | null;
  readonly newest?: boolean;
  readonly verdict: 'right' | 'empty' | 'refused-or-right';
  readonly from?: number;
  readonly to?: number;
};

const definition = /^ {0,3}\[[^\]]+\]:\s*\S+/u;
const rule = /^(?:[-*_] ?){3,}$/u;

/** White space, link definitions and a closing rule aside. */
function plain(text: string): string[] {
  const lines = text
    .split('\n')
    .filter((line) => !definition.test(line) && !/^\s*<a (?:name|id)=/u.test(line))
    .map((line) => line.replaceAll(/\s+/gu, ' ').trim())
    .filter((line) => line !== '');
  while (rule.test(lines.at(-1) ?? '')) lines.pop();
  return lines;
}

const textOf = (name: string): string =>
  readFileSync(new URL(`files/${name}`, folder), 'utf8')
    .replace(/^\u{feff}/u, '')
    .replaceAll(/\r\n?/gu, '\n');

const bare = (version: string): string => version.split('@').at(-1)?.replace(/^v/u, '').toLowerCase() ?? '';

function faultIn({ file, version, newest, verdict, from = 1, to = 0 }: Case): string | undefined {
  const text = textOf(file);
  const picked = pickSection(sectionsOf(text), newest ? undefined : (version ?? undefined));
  if (verdict === 'refused-or-right') return undefined;
  if (verdict === 'empty') return !picked.ok && picked.problem.message.includes('empty') ? undefined : 'not empty';
  if (!picked.ok) return picked.problem.message;
  const expected = plain(
    text
      .split('\n')
      .slice(from - 1, to)
      .join('\n'),
  );
  if (bare(picked.version) !== bare(version ?? '')) return `the version ${picked.version}`;
  return plain(picked.section.markdown()).join('\n') === expected.join('\n') ? undefined : 'another text';
}

test('the sections of real changelogs are read as people read them', (context) => {
  if (!existsSync(folder)) context.skip('there are no changelogs of other projects beside this repository');
  const { cases } = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')) as { cases: Case[] };
  const faults = cases.map((each) => [each.file, each.version, faultIn(each)]).filter(([, , fault]) => fault);
  expect(cases.length).toBeGreaterThan(0);
  expect(faults).toEqual([]);
});

test('no default of a real changelog is an unreleased or a doubtful section', (context) => {
  if (!existsSync(folder)) context.skip('there are no changelogs of other projects beside this repository');
  const { cases } = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')) as { cases: Case[] };
  for (const file of new Set(cases.map((each) => each.file))) {
    const picked = pickSection(sectionsOf(textOf(file)), undefined);
    if (picked.ok) expect([file, picked.section.kind, picked.section.doubt]).toEqual([file, 'released', undefined]);
  }
});
