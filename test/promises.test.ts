// docs/promises.md against what README, docs and help say, and against the tests that it names.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AnyCommand, Group } from '../src/command/command.ts';
import { entries } from '../src/commands/index.ts';
import { topicTexts } from '../src/program/topic-texts.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Not pages for users, or the list itself. */
const notRead = new Set(['promises.md', 'decisions.md', 'dependencies.md', 'service.md', 'row-history.md']);

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md') && !notRead.has(name))
    .map((name) => `docs/${name}`),
];

/** Words with which people promise. A sentence that has one of them is a promise, or is listed as none. */
const promising =
  /\b(?:never|always|guarantee[sd]?|nobody|twice|doubled|not lost|nothing lost|nothing is|nothing was|exactly once|at least once|at most once|whatever is killed)\b/iu;

const plain = (text: string): string =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .replaceAll(/[*`]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();

/** Paragraphs, points of lists and cells of tables; examples are no prose. */
const blocksOf = (markdown: string): string[] =>
  markdown
    .replaceAll(/```[\s\S]*?```/gu, '\n\n')
    .replaceAll(/<!--[\s\S]*?-->/gu, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-#]|\d+\.) )|\n(?=\|)|(?<!\\)\|/u);

const sentencesOf = (text: string): string[] =>
  plain(text)
    .split(/(?<=[.!?])\s+/u)
    .map((sentence) => sentence.replace(/^(?:[-#]+|\d+\.) /u, '').trim())
    .filter((sentence) => sentence !== '');

function textsOf(node: Group | AnyCommand): string[] {
  if ('commands' in node) return [node.summary, ...[node.itself ?? [], ...node.commands].flat().flatMap(textsOf)];
  const params = Object.values({ ...node.args, ...node.flags }) as { readonly description: string }[];
  return [node.summary, node.details ?? '', ...params.map(({ description }) => description)];
}

async function helpTexts(): Promise<string[]> {
  const groups = await Promise.all(
    entries.map(async ({ name, summary, load }) => ({ name, summary, ...(await load()) })),
  );
  // Wide enough that no sentence is broken.
  const said = Object.values(topicTexts).flatMap((text) => text(10_000).split(/\n(?![a-z])/u));
  return [...groups.flatMap(textsOf), ...said];
}

async function said(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const page of pages) {
    for (const block of blocksOf(read(page))) for (const one of sentencesOf(block)) found.set(one, page);
  }
  for (const text of await helpTexts()) {
    for (const one of text.split('\n\n').flatMap(sentencesOf)) if (!found.has(one)) found.set(one, 'the help');
  }
  return found;
}

type Listed = { readonly sentence: string; readonly file: string; readonly title: string };

const [promised = '', excused = ''] = read('docs/promises.md').split(/^## Not promises$/mu);

/** `- SENTENCE → FILE: TITLE` */
const listed: readonly Listed[] = [...promised.matchAll(/^- (.+) → `([^`]+)`: (.+)$/gmu)].map(
  ([, sentence = '', file = '', title = '']) => ({ sentence: plain(sentence), file, title }),
);
const noPromises = new Set([...excused.matchAll(/^- (.+)$/gmu)].map(([, sentence = '']) => plain(sentence)));

test('every promise that README, docs and help make is listed, or is listed as none', async () => {
  const known = new Set(listed.map(({ sentence }) => sentence));
  const missing = [...(await said())].filter(([one]) => promising.test(one) && !known.has(one) && !noPromises.has(one));
  expect(missing.map(([one, page]) => `${page}: ${one}`)).toEqual([]);
});

test('every listed sentence is said somewhere', async () => {
  const sentences = await said();
  const stale = [...listed.map(({ sentence }) => sentence), ...noPromises].filter((one) => !sentences.has(one));
  expect(stale).toEqual([]);
});

test('every listed promise names a test that is there', () => {
  const wrong = listed.filter(({ file, title }) => !existsSync(join(root, file)) || !read(file).includes(title));
  expect(wrong).toEqual([]);
  expect(listed.length).toBeGreaterThan(50);
});

test('every line of the list can be read', () => {
  const lines = promised.split('\n').filter((line) => line.startsWith('- '));
  expect(lines.filter((line) => !/^- .+ → `[^`]+`: .+$/u.test(line))).toEqual([]);
});
