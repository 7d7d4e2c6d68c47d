/** Every kind of sink is told where people look for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { topicTexts } from '../../../src/program/topic-texts.ts';
import { sinkKindNames } from '../../../src/webhooks/deliver/kinds.ts';

test.each([
  ['docs/webhooks.md', readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'webhooks.md'), 'utf8')],
  ['svc help serve', topicTexts.serve()],
])('%s names the fields of every kind of sink', (_, text) => {
  expect(sinkKindNames.filter((name) => !text.includes(`sinks[].${name}.`))).toEqual([]);
});

test('the example of svc help serve has one of each kind', () => {
  expect(sinkKindNames.filter((name) => !topicTexts.serve().includes(` ${name}: {`))).toEqual([]);
});

/** In the words of the README. */
const words: Readonly<Record<(typeof sinkKindNames)[number], string>> = {
  http: 'HTTP',
  exec: 'programs',
  file: 'files',
  nats: 'NATS',
};

test('the README names every kind', () => {
  const readme = readFileSync(join(import.meta.dirname, '..', '..', '..', 'README.md'), 'utf8');
  const [sinks] = readme.match(/[^:]* as sinks/u) ?? [];
  for (const said of Object.values(words)) expect(sinks).toContain(said);
});
