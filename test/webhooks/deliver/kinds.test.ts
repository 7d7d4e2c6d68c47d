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
