import { expect, test } from 'vitest';
import { entries } from '../../src/commands/index.ts';
import { notThere } from '../../src/program/not-there.ts';

test('no command that is there is called missing', async () => {
  const wrong: string[] = [];
  for (const entry of entries) {
    const node = await entry.load();
    if (!('commands' in node)) continue;
    for (const { name } of node.commands) if (notThere(name, entry.name)) wrong.push(`${entry.name} ${name}`);
  }
  expect(wrong).toEqual([]);
});
