// Notes of svc on standard error: whatever somebody else wrote into one is shown, never obeyed.
import fs from 'node:fs';
import { expect, test, vi } from 'vitest';
import { nodeContext } from '../../src/node/context.ts';

test('colours and line ends in the text of a note are shown, not obeyed', () => {
  const written: string[] = [];
  // A terminal has the one, a pipe and a file the other.
  const spies = [
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0),
    vi.spyOn(fs, 'writeSync').mockImplementation((_file, bytes) => {
      written.push(String(bytes));
      return bytes.length;
    }),
  ];
  try {
    nodeContext().notice('--exec failed for T-1 \x1b[8mhidden\x1b[0m\nand \x1b]0;title\x07');
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(written).toEqual(['--exec failed for T-1 ^[[8mhidden^[[0m↵and ^[]0;title^G\n']);
});
