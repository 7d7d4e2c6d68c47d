// @module-tag long
import { readFileSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { asksAccount, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

// A power cut keeps of a file what was synced, and of its name what its folder's sync has kept. So every sync of this
// process is watched, as it happens, and compared with what the next step relies on.

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** Calls `onSync` after each real sync of a file or a folder. */
async function watchSyncs(onSync: (kind: 'file' | 'folder') => void): Promise<void> {
  const probe = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  for (const name of ['sync', 'datasync'] as const) {
    const real = prototype[name];
    prototype[name] = async function watched(this: FileHandle) {
      const kind = (await this.stat()).isDirectory() ? 'folder' : 'file';
      await real.call(this);
      onSync(kind);
    };
    endings.push(() => {
      prototype[name] = real;
    });
  }
}

const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => `person${i}@example.com,Name ${String(i).padStart(6, '0')}\n`).join('');

async function world(count: number) {
  const there = sandboxWorld({ seed: 'empty', rateLimit: 'off' });
  const file = join(there.folder, 'contacts.csv');
  await writeFile(file, `email,name\n${rows(count)}`);
  const folder = join(there.folder, 'state', 'sync');
  const journal = async () => {
    const [name] = (await readdir(folder)).filter((entry) => entry.endsWith('.jsonl'));
    return join(folder, name ?? 'none');
  };
  return { ...there, file, journal, argv: ['contacts', 'sync', file, '--json', '--concurrency', '1'] };
}

test('each chunk, and what became of it, is safe from a power cut before the next step', async () => {
  const there = await world(600);
  let journal = '';
  let safe = '';
  let folderIsSafe = false;
  await watchSyncs((kind) => {
    if (kind === 'folder') folderIsSafe = true;
    else if (journal) safe = readFileSync(journal, 'utf8');
  });
  const before: string[] = [];
  const exchange: typeof there.exchange = async (request) => {
    if (asksAccount(request)) return there.exchange(request);
    if (!journal) {
      journal = await there.journal();
      expect(folderIsSafe).toBe(true);
    } else {
      expect(safe).toBe(await readFile(journal, 'utf8'));
    }
    before.push(await readFile(journal, 'utf8'));
    return there.exchange(request);
  };
  expect((await svc({ ...there, exchange }, there.argv)).exitCode).toBe(0);
  expect(safe).toBe(await readFile(journal, 'utf8'));
  // The journal grew before each request: what goes out is written down first.
  expect(before.map((text) => text.length)).toEqual([...new Set(before.map((text) => text.length))]);
  expect(before).toHaveLength(3);
});

test('the first chunk is on disk before it goes out', async () => {
  const there = await world(1);
  const synced: number[] = [];
  let lines = 0;
  await watchSyncs((kind) => {
    if (kind === 'file') synced.push(synced.length);
  });
  const exchange: typeof there.exchange = async (request) => {
    if (!asksAccount(request)) lines = (await readFile(await there.journal(), 'utf8')).trimEnd().split('\n').length;
    return there.exchange(request);
  };
  await svc({ ...there, exchange }, there.argv);
  // Header, run and sent; then done and finished.
  expect(lines).toBe(3);
  expect(synced.length).toBeGreaterThanOrEqual(5);
});

test('a file that changes in place while it is sent is not finished: the next run takes it from the start', async () => {
  const there = await world(20_000);
  let changed = false;
  const exchange: typeof there.exchange = async (request) => {
    if (!changed && !asksAccount(request)) {
      changed = true;
      // The last row, of the same length: neither the rows nor the chunks are other ones.
      const file = await open(there.file, 'r+');
      const { size } = await file.stat();
      await file.write('X', size - 2);
      await file.close();
    }
    return there.exchange(request);
  };
  const ran = await svc({ ...there, exchange }, there.argv);
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was changed while it was being read') });
  expect(await readFile(await there.journal(), 'utf8')).not.toContain('"finished"');
  const next = await svc(there, there.argv);
  expect(JSON.parse(next.stdout)).toMatchObject({ rows: 20_000, resumed_rows: 0, unsent: 0 });
});

test('of a row that changes while earlier ones are sent nothing goes out: it was not read and checked', async () => {
  const there = await world(20_000);
  const at = Buffer.byteLength('email,name\n') + rows(15_000).indexOf('Name 014999');
  const bodies: string[] = [];
  const exchange: typeof there.exchange = async (request) => {
    if (!asksAccount(request) && bodies.push(String(request.body)) === 1) {
      const file = await open(there.file, 'r+');
      await file.write('X', at);
      await file.close();
    }
    return there.exchange(request);
  };
  const ran = await svc({ ...there, exchange }, there.argv);
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was changed while it was being read') });
  expect(bodies.length).toBeGreaterThan(1);
  expect(bodies.filter((body) => body.includes('ame 014999'))).toEqual([]);
});
