// A person rejects the draft of a row that was sent before: of what was sent there is one, however many rows are equal to it.
import { expect, test } from 'vitest';
import { reply, runs } from './restarting.ts';

const ann = 'id,body\n8,Hello Ann\n';
const twice = `${ann}8,Hello Ann\n`;
const list = `${ann}9,Hello Bob\n`;

test.each<[flag: string, file: string, text: string, exitCode: number]>([
  ['--again', 't.csv', list, 0],
  ['--restart', 't.csv', list, 0],
  ['--restart', 'u.csv', ann, 8],
])('behind a draft with %s in %s the second of two equal rows goes, once', async (flag, file, text, exitCode) => {
  const { run, ok } = runs();
  expect((await run(reply, 'u.csv', ann)).sent).toHaveLength(1);
  expect((await run(reply, file, text, [flag, '--draft'])).exitCode).toBe(0);
  await ok('drafts reject 1');
  for (const count of [1, 0]) {
    const ran = await run(reply, 'u.csv', twice);
    expect([ran.exitCode, ran.sent.length]).toEqual([exitCode, count]);
  }
});
