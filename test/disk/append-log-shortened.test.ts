// A log that somebody empties or edits in place while it is open.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../src/disk/append-log.ts';

describe('a file that somebody shortened in place', () => {
  const cuts: Readonly<Record<string, (path: string) => void>> = {
    'to nothing': (path) => truncateSync(path, 0),
    'in the middle of a line': (path) => truncateSync(path, 5),
    'by a line in the middle': (path) => writeFileSync(path, '<1>\n<333>\n'),
  };
  const left: Readonly<Record<string, string>> = {
    'to nothing': '',
    'in the middle of a line': '<1>\n<\n',
    'by a line in the middle': '<1>\n<333>\n',
  };
  test.each(Object.keys(cuts))(
    '%s: what is appended, noted or closed after that stands in lines of its own',
    async (how) => {
      for (const next of ['append', 'note', 'close'] as const) {
        const path = join(await mkdtemp(join(tmpdir(), 'svc-cut-')), 'lines.jsonl');
        const log = await openLog(path, { take: () => true, room: 'ahead', deleted: 'restore' });
        for (const line of ['<1>\n', '<22>\n', '<333>\n']) await log.append(line);
        cuts[how]?.(path);
        if (next === 'append') await log.append('<4>\n');
        if (next === 'note') await log.note('<4>\n');
        if (next !== 'close') await log.append('<5>\n');
        await log.close();
        expect(readFileSync(path, 'utf8'), next).toBe(`${left[how]}${next === 'close' ? '' : '<4>\n<5>\n'}`);
      }
    },
  );
});
