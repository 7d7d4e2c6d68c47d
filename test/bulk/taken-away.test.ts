// Journals that another run, which ends just then, takes away between two looks of this one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { journalFolder } from '../../src/batch/journal-folder.ts';
import { wording } from '../../src/bulk/history/begin-journal.ts';
import { kinIn } from '../../src/bulk/journal/copies.ts';
import { type Identity, journalsOnDisk, keysOf, newName } from '../../src/bulk/journal/on-disk.ts';
import { journalText, shortLines } from '../../src/bulk/journal/text.ts';
import { rowRequests } from '../../src/bulk/rows/row-requests.ts';

const account = { service: 'https://service.test', id: '1', isKnown: true, formerly: [], isClockSure: true };
const identity: Identity = { account, command: 'tickets close', settings: '', file: undefined };
const at = '2026-11-01T00:00:00.000Z';

function journal(): string {
  const keys = keysOf(identity);
  const { scope, profile, settings } = keys;
  const header = {
    svc_bulk: 2,
    command: identity.command,
    file: null,
    scope,
    profile,
    settings,
    started_at: at,
  } as const;
  const row = ['a', { status: 'sent', line: 1, before: null, keys: ['id 7'] }] as const;
  const path = join(mkdtempSync(join(tmpdir(), 'svc-taken-')), newName(keys));
  writeFileSync(path, journalText(shortLines({ header, run: { at }, rowStatuses: [row] })));
  return path;
}

const look = (path: string, then: () => void) => {
  const folder = journalFolder(join(path, '..'), wording);
  const read: typeof folder.read = async (...args) => {
    const isRead = await folder.read(...args);
    then();
    return isRead;
  };
  const present = { boot: undefined, saidBy: () => undefined };
  return journalsOnDisk({ ...folder, read }, identity, { present, refs: rowRequests() });
};

test('a journal of this command counts no more once it is gone', async () => {
  const path = journal();
  expect((await look(path, () => {})).ours).toHaveLength(1);
  expect((await look(path, () => rmSync(path))).ours).toEqual([]);
});

test('neither does one of another command for these records', async () => {
  const path = journal();
  const reopening = { ...identity, command: 'tickets reopen' };
  expect(await kinIn(path, reopening)).toBe('tickets close');
  // Asked for once the header is read.
  const taking = Object.defineProperty({ ...reopening }, 'command', {
    enumerable: true,
    get() {
      rmSync(path, { force: true });
      return reopening.command;
    },
  });
  expect(await kinIn(path, taking)).toBeUndefined();
});
