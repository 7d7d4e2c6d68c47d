// What is wrong in a policy is said in plain words, and the example of the docs lets through what has no text.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, writesOf } from './drafting.ts';

function withPolicy(text: string) {
  const at = desk();
  mkdirSync(join(at.world.folder, 'config'), { recursive: true });
  writeFileSync(join(at.world.folder, 'config/policy.yaml'), text);
  return at;
}

const wrong: readonly (readonly [text: string, said: string])[] = [
  ['sends:\n  max_per_hr: 5', 'sends.max_per_hr is not known here; known are mode, max_per_hour, quiet, allow, deny.'],
  ['send:\n  mode: ask', 'send is not known here; known is sends.'],
  ['sends:\n  quiet: { form: "20:00" }', 'sends.quiet.form is not known here; known are from, to, zone, days.'],
  ['sends:\n  max_per_hour: many', 'sends.max_per_hour must be a number, and is a text.'],
  ['sends:\n  deny: 5', 'sends.deny must be a text, and is 5.'],
  ['sends:\n  mode: never', 'sends.mode: must be one of allow, ask, draft.'],
];

test.each(wrong)('%j is refused in words', async (text, said) => {
  const { run, world } = withPolicy(text);
  const ran = await run('tickets reply 8 --body Hello --yes');
  expect(ran.exitCode).toBe(5);
  expect(ran.stderr).toContain(said);
  expect(ran.stderr).not.toMatch(/Expected|Invalid|never but/u);
  expect(writesOf(world)).toEqual([]);
});

test('the filter of the docs forbids a refund, and lets a resolve through, which has no text', async () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/drafts.md'), 'utf8');
  const [deny = ''] = /^ {2}deny: .*$/mu.exec(docs) ?? [];
  const { run } = withPolicy(`sends:\n${deny}\n`);
  expect((await run('conversations resolve 7 --yes')).exitCode).toBe(0);
  expect((await run(['tickets', 'reply', '8', '--body', 'Your Refund is here', '--yes'])).exitCode).toBe(5);
  expect((await run('tickets reply 8 --body Hello --yes')).exitCode).toBe(0);
});

test.each([
  ['.body | test("refund")', 'the filter .body | test("refund") failed: object'],
  ['.by, .by', 'the filter .by, .by must give one true or false, and gives 2 values.'],
  ['.nothing', 'the filter .nothing must give one true or false, and gives null.'],
])('the rule deny: %s, which cannot be judged, does not read as one that forbids', async (filter, said) => {
  const { run, world } = withPolicy(`sends:\n  deny: '${filter}'\n`);
  const ran = await run('tickets reply 8 --body Hello --yes');
  expect(ran.exitCode).toBe(5);
  expect(ran.stderr).toMatch(
    /The rule sends\.deny in \S+policy\.yaml cannot be judged, so nothing may be sent: the filter/u,
  );
  expect(ran.stderr).toContain(said);
  expect(ran.stderr).toContain('What a rule sees: svc help sends');
  expect(ran.stderr).not.toMatch(/forbids|and The/u);
  expect(writesOf(world)).toEqual([]);
});
