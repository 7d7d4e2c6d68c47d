// A log that somebody empties or edits in place while it is open.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../src/disk/log/append-log.ts';

describe('a file that somebody shortened in place', () => {
  const cuts: Readonly<Record<string, (path: string) => void>> = {
    'to nothing': (path) => truncateSync(path, 0),
    'in the middle of a line': (path) => truncateSync(path, 5),
    'by a line in the middle': (path) => writeFileSync(path, '<1>\n<333>\n'),
    // As an editor writes it that keeps the bytes behind the end, and as one that does not.
    'by a line, with the room behind it': (path) => edit(path, (text) => text.replace('<22>\n', '')),
    'by as much as the room': (path) => edit(path, (text) => text.replace('<22>\n', '').padEnd(text.length, '\0')),
    'and lengthened': (path) => edit(path, (text) => text.replace('<22>', '<22, and much more>')),
    'and lengthened, without the room': (path) =>
      edit(path, (text) => text.replaceAll('\0', '').replace('<22>', `<${'2'.repeat(200_000)}>`)),
    'and lengthened, without its last line end': (path) => edit(path, () => `<1>\n<${'2'.repeat(200_000)}>`),
    'and emptied, and written by somebody else': (path) => edit(path, () => 'a\n'.repeat(100_000)),
    'in its last line': (path) => edit(path, (text) => text.replace('<333>', '<33>')),
  };
  const left: Readonly<Record<string, string>> = {
    'to nothing': '',
    'in the middle of a line': '<1>\n<\n',
    'by a line in the middle': '<1>\n<333>\n',
    'by a line, with the room behind it': '<1>\n<333>\n',
    'by as much as the room': '<1>\n<333>\n',
    'and lengthened': '<1>\n<22, and much more>\n<333>\n',
    'and lengthened, without the room': `<1>\n<${'2'.repeat(200_000)}>\n<333>\n`,
    'and lengthened, without its last line end': `<1>\n<${'2'.repeat(200_000)}>\n`,
    'and emptied, and written by somebody else': 'a\n'.repeat(100_000),
    'in its last line': '<1>\n<22>\n<33>\n',
  };
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(path, change(readFileSync(path, 'utf8')));
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
