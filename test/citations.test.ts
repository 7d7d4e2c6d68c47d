// Every rule of the service that code, tests and pages cite stands in docs/service.md, and nothing cites a page that is not here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const files = ['src', 'test', 'bench', 'build', 'bin', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|js|md)$/u.test(name))
    .map((name) => `${folder}/${name}`),
);
const texts = [...files, 'README.md', 'CONTRIBUTING.md'].map((path) => [path, read(path)] as const);

const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

const page = read('docs/service.md');
const rules = [...page.matchAll(/^- <a id="([\w-]+)"><\/a>\*\*([\w-]+)\*\*/gmu)].map(([, id = '', name = '']) => ({
  id,
  name,
}));
const headings = [...page.matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) => slug(heading));

test('each rule has a name of its own, which is its anchor', () => {
  expect(rules.length).toBeGreaterThan(60);
  for (const { id, name } of rules) expect(id).toBe(name);
  const anchors = [...rules.map(({ id }) => id), ...headings];
  expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([]);
});

test('each rule that is cited stands there', () => {
  const cited = texts.flatMap(([path, text]) =>
    [...text.matchAll(/service\.md#([\w-]+)/gu)].map(([, anchor = '']) => ({ path, anchor })),
  );
  expect(cited.length).toBeGreaterThan(40);
  const anchors = new Set([...rules.map(({ id }) => id), ...headings]);
  expect(cited.filter(({ anchor }) => !anchors.has(anchor))).toEqual([]);
});

test('no text of src names a page that whoever installed the package does not have', () => {
  const named = texts.flatMap(([path, text]) => {
    const said = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^'`\n]*$/gmu, '');
    return path.startsWith('src/') && /\bdocs\/[\w-]+\.md/u.test(said) ? [path] : [];
  });
  expect(named).toEqual([]);
});

test('each page that a comment, a test or a page names is in the repository', () => {
  const named = texts.flatMap(([path, text]) =>
    [...text.matchAll(/(?<![\w/.-])(?:docs\/)?([\w-]+)\.(?:md|txt)(?:, section \d+|#[\w-]+)/gu)].map(
      ([cited, name]) => ({ path, cited, name }),
    ),
  );
  const pages = new Set(readdirSync(join(root, 'docs')).map((name) => name.replace(/\.md$/u, '')));
  expect(
    named.filter(({ name = '' }) => !pages.has(name) && !['README', 'CONTRIBUTING', 'CHANGELOG'].includes(name)),
  ).toEqual([]);
});

test('each file and folder that CONTRIBUTING.md names is in the repository', () => {
  const named = [
    ...read('CONTRIBUTING.md').matchAll(
      /(?<![\w/.-])(?:src|test|docs|bench|build|bin|examples|completions)\/[\w/.*-]*/gu,
    ),
  ];
  // RESOURCE, GROUP and NAME stand for what is added.
  const paths = named
    .map(([path]) => path.replace(/[.]$/u, ''))
    .filter((path) => !/[A-Z]{4}|\*/u.test(path))
    .map((path) => path.replace(/\/$/u, ''));
  expect(paths.length).toBeGreaterThan(80);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('each name that CONTRIBUTING.md says is in a file is in that file', () => {
  const said = [
    ...read('CONTRIBUTING.md').matchAll(
      /((?:`\w+`(?:, and|,| and) )*`\w+`)\s+(?:in|of)\s+`((?:src|test|build)\/[\w/.-]+\.\w+)`/gu,
    ),
  ].flatMap(([, names = '', path = '']) => [...names.matchAll(/`(\w+)`/gu)].map(([, name = '']) => ({ name, path })));
  const inFiles = said.filter(({ path }) => !path.includes('RESOURCE'));
  expect(inFiles.length).toBeGreaterThan(20);
  expect(inFiles.filter(({ name, path }) => !new RegExp(`\\b${name}\\b`, 'u').test(read(path)))).toEqual([]);
});

test('each name of the code that CONTRIBUTING.md names is there', () => {
  const names = [...read('CONTRIBUTING.md').matchAll(/`([A-Za-z]\w+)`/gu)].map(([, name = '']) => name);
  const code = texts.flatMap(([path, text]) => (path.endsWith('.md') ? [] : [text])).join('\n');
  const words = new Set(code.match(/\w+/gu));
  expect(names.length).toBeGreaterThan(80);
  expect(names.filter((name) => !words.has(name) && !/^[A-Z]+$/u.test(name))).toEqual([]);
});
