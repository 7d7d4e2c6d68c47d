import { execFileSync } from 'node:child_process';
import { fstatSync, writeSync } from 'node:fs';
import {
  appendFile,
  copyFile,
  cp,
  link,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { damagedText, readInbox } from '../../../src/webhooks/store/folder/file.ts';
import { type InboxOptions, openInbox } from '../../../src/webhooks/store/folder/inbox.ts';
import type { Arrival } from '../../../src/webhooks/store/line.ts';

const folder = () => mkdtemp(join(tmpdir(), 'svc-inbox-'));
const arrival = (id: string, more: Partial<Arrival> = {}): Arrival => ({
  id,
  event: 'ticket.created',
  at: '2026-01-02T03:04:05.000Z',
  headers: { 'content-type': 'application/json', 'x-svc-event': 'ticket.created' },
  body: Buffer.from(`{"id":"${id}"}`),
  ...more,
});
const outcome = { to: 'http://127.0.0.1:3000/', at: '2026-01-02T03:04:06.000Z', status: 200, ms: 12, tries: 1 };
const idsIn = async (path: string) => {
  const ids = [];
  for await (const line of readInbox(path)) if (line.kind === 'arrival') ids.push(line.arrival.id);
  return ids;
};

test('what was added is there after a restart, byte for byte, with its headers and what became of it', async () => {
  const path = await folder();
  const bodies = [
    Buffer.from('{"id":"a","text":"Grüße \u2028 \\u0000 \u0007"}'),
    Buffer.from([0xff, 0x00, 0x0a, 0xfe]),
    Buffer.from('\ufeff{"a":1}\r\n'),
    Buffer.alloc(0),
    Buffer.alloc(1024 * 1024, 'x'),
  ];
  const inbox = await openInbox(path, { limit: 100 });
  await Promise.all(bodies.map((body, index) => inbox.add(arrival(`evt_${index}`, { body }))));
  await inbox.settle('evt_0', outcome);
  await inbox.close();

  const again = await openInbox(path, { limit: 100 });
  for (const [index, body] of bodies.entries()) {
    const found = await again.read(`evt_${index}`);
    expect(Buffer.from(found?.arrival.body ?? []).equals(body)).toBe(true);
    expect(found?.arrival.headers['x-svc-event']).toBe('ticket.created');
  }
  expect((await again.read('evt_0'))?.outcomes).toEqual([outcome]);
  expect(await again.read('evt_unknown')).toBeUndefined();
  await again.close();
});

test('a half-written last line is dropped, and what came before it stays', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  await inbox.add(arrival('evt_1'));
  await inbox.add(arrival('evt_2'));
  await inbox.close();
  const file = join(path, 'inbox.jsonl');
  await truncate(file, (await stat(file)).size - 5);

  const again = await openInbox(path, { limit: 100 });
  expect(again.has('evt_1')).toBe(true);
  expect(again.has('evt_2')).toBe(false);
  await again.add(arrival('evt_2'));
  await again.close();
  expect(await idsIn(path)).toEqual(['evt_1', 'evt_2']);
});

test('whatever the length at which the file was cut, the lines before the cut are read', {
  tags: ['long'],
}, async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  await inbox.add(arrival('evt_1'));
  await inbox.add(arrival('evt_2'));
  await inbox.close();
  const file = join(path, 'inbox.jsonl');
  const whole = await readFile(file, 'utf8');
  const ends = [...whole.matchAll(/\n/gu)].map((match) => match.index + 1);
  for (let length = whole.length; length >= 0; length--) {
    await truncate(file, length);
    expect(await idsIn(path)).toHaveLength(Math.max(0, ends.filter((end) => end <= length).length - 1));
  }
});

test('damage within the file costs the damaged lines and no others', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  await inbox.add(arrival('evt_1'));
  await inbox.close();
  await appendFile(join(path, 'inbox.jsonl'), '\u0000\u0000\n{"id":7}\nnull\n[]\n{"id":"x"}\n\n');
  const again = await openInbox(path, { limit: 100 });
  await again.add(arrival('evt_2'));
  await again.close();
  expect(await idsIn(path)).toEqual(['evt_1', 'evt_2']);
});

test('what is still owed to the app is known after a restart, oldest first', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  const to = 'http://127.0.0.1:3000/';
  for (const id of ['a', 'b', 'c', 'd']) await inbox.add(arrival(id, { to }));
  await inbox.add(arrival('kept only'));
  await inbox.settle('b', outcome);
  await inbox.settle('c', { ...outcome, replay: true });
  await inbox.close();
  const again = await openInbox(path, { limit: 100 });
  expect(again.waiting()).toEqual(['a', 'c', 'd']);
  await again.close();
});

test('beyond the limit the oldest go out, but never one that is still owed to the app', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 10 });
  await inbox.add(arrival('owed', { to: 'http://127.0.0.1:3000/' }));
  let n = 0;
  const oneMore = async () => {
    await inbox.add(arrival(`evt_${++n}`));
    await inbox.settle(`evt_${n}`, outcome);
    return idsIn(path);
  };
  while (n < 200) await oneMore();
  // The file is rewritten while others are accepted, so it may be longer for a moment.
  await expect.poll(async () => (await oneMore()).length).toBeLessThanOrEqual(10 + 16 + 1);
  const kept = await idsIn(path);
  expect(kept[0]).toBe('owed');
  expect(kept.at(-1)).toBe(`evt_${n}`);
  // What moved within the file is still found where it is now.
  expect((await inbox.read(`evt_${n}`))?.outcomes).toEqual([outcome]);
  expect((await inbox.read('owed'))?.arrival.id).toBe('owed');
  await inbox.settle('owed', outcome);
  await inbox.close();
  const again = await openInbox(path, { limit: 10 });
  expect(again.waiting()).toEqual([]);
  await again.close();
});

test('reading goes on while the file is written anew', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 5 });
  for (let n = 1; n <= 100; n++) {
    const [, found] = await Promise.all([inbox.add(arrival(`evt_${n}`)), inbox.read(`evt_${n - 1}`)]);
    if (n > 1) expect(found?.arrival.id).toBe(`evt_${n - 1}`);
  }
  await inbox.close();
});

/** A disk on which files can grow by `room` more bytes and then no further, until told otherwise. */
function fullDisk(room: number) {
  const disk = { room };
  const take = (fd: number, length: number, position: number): number => {
    const { size } = fstatSync(fd);
    const some = Math.min(length, Math.max(0, size - position) + disk.room);
    if (some <= 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    disk.room -= Math.max(0, position + some - size);
    return some;
  };
  const writeNow: InboxOptions['writeNow'] = (fd, bytes, offset, length, position) =>
    writeSync(fd, bytes, offset, take(fd, length, position), position);
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    const write = file.write.bind(file) as (...all: unknown[]) => Promise<{ bytesWritten: number }>;
    file.write = (async (bytes: Uint8Array, offset: number, length: number, position: number) =>
      write(bytes, offset, take(file.fd, length, position), position)) as unknown as typeof file.write;
    const truncate = file.truncate.bind(file);
    file.truncate = async (length = 0) => {
      disk.room += Math.max(0, fstatSync(file.fd).size - length);
      await truncate(length);
    };
    return file;
  };
  return { disk, openFile, writeNow };
}

test('on a full disk adding fails, leaves nothing half-written, and works again once there is room', async () => {
  const path = await folder();
  const { disk, ...io } = fullDisk(400);
  const inbox = await openInbox(path, { limit: 100, ...io });
  await inbox.add(arrival('evt_1'));
  await expect(inbox.add(arrival('evt_2', { body: Buffer.alloc(1000, 'x') }))).rejects.toThrow('no space left');
  expect(inbox.has('evt_2')).toBe(false);
  expect(await idsIn(path)).toEqual(['evt_1']);
  disk.room = 10_000;
  await inbox.add(arrival('evt_3'));
  await inbox.close();
  expect(await idsIn(path)).toEqual(['evt_1', 'evt_3']);
});

test('a sync that fails is a failure, and the bytes are written anew, not only synced again', async () => {
  const path = await folder();
  let fail = false;
  let writes = 0;
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    const { datasync } = file;
    file.datasync = async () => {
      if (fail) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
      await datasync.call(file);
    };
    return file;
  };
  const writeNow: InboxOptions['writeNow'] = (...about) => {
    writes++;
    return writeSync(...about);
  };
  const inbox = await openInbox(path, { limit: 100, openFile, writeNow });
  fail = true;
  await expect(inbox.add(arrival('evt_1'))).rejects.toThrow('i/o error');
  fail = false;
  writes = 0;
  await inbox.add(arrival('evt_1'));
  expect(writes).toBeGreaterThan(0);
  await inbox.close();
  expect(await idsIn(path)).toEqual(['evt_1']);
});

test('an inbox that was deleted while in use comes back whole', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  await inbox.add(arrival('evt_1'));
  await rm(path, { recursive: true });
  await inbox.add(arrival('evt_2'));
  expect((await inbox.read('evt_1'))?.arrival.id).toBe('evt_1');
  await inbox.add(arrival('evt_3'));
  await inbox.close();
  expect(await idsIn(path)).toEqual(['evt_1', 'evt_2', 'evt_3']);
});

const movings: readonly [how: string, (file: string) => Promise<void>][] = [
  ['moved away', (file) => rename(file, `${file}.away`)],
  ['linked elsewhere and removed', (file) => link(file, `${file}.away`).then(() => rm(file))],
  ['moved away, with an empty one in its place', (file) => rename(file, `${file}.1`).then(() => writeFile(file, ''))],
  ['replaced by a copy', (file) => copyFile(file, `${file}.copy`).then(() => rename(`${file}.copy`, file))],
  [
    'in a folder that was moved away and copied back',
    async (file) => {
      const folder = dirname(file);
      await rename(folder, `${folder}-away`);
      await cp(`${folder}-away`, folder, { recursive: true });
    },
  ],
];

test.each(movings)(
  'an inbox that was %s while in use has every line by its name as soon as it counts',
  async (_, how) => {
    const path = await folder();
    const inbox = await openInbox(path, { limit: 100 });
    await inbox.add(arrival('evt_1'));
    await how(join(path, 'inbox.jsonl'));
    await inbox.add(arrival('evt_2'));
    // What a kill would leave.
    expect(await idsIn(path)).toEqual(['evt_1', 'evt_2']);
    await how(join(path, 'inbox.jsonl')).catch(() => {});
    await inbox.close();
    expect(await idsIn(path)).toEqual(['evt_1', 'evt_2']);
  },
);

test('what somebody put in the place of the inbox stays beside it', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  await writeFile(join(path, 'other'), 'theirs\n');
  await rename(join(path, 'other'), join(path, 'inbox.jsonl'));
  await inbox.add(arrival('evt_1'));
  expect(await readFile(join(path, 'inbox.jsonl.replaced-1'), 'utf8')).toBe('theirs\n');
  await inbox.close();
  expect(await idsIn(path)).toEqual(['evt_1']);
});

test('lines in the middle that cannot be read are told, with how many and where, and the others are there', async () => {
  const path = await folder();
  const inbox = await openInbox(path, { limit: 100 });
  for (const id of ['evt_1', 'evt_2', 'evt_3', 'evt_4']) await inbox.add(arrival(id));
  await inbox.close();
  const file = join(path, 'inbox.jsonl');
  const text = await readFile(file, 'utf8');
  // As a disk that lost a block leaves it.
  const hole = text.slice(text.indexOf('evt_2'), text.indexOf('evt_3'));
  await writeFile(file, text.replace(hole, '\0'.repeat(hole.length)));
  const told: unknown[] = [];
  const again = await openInbox(path, { limit: 100, onDamage: (damaged) => told.push(damaged) });
  expect(await again.latest(10)).toEqual(['evt_1', 'evt_4']);
  await again.close();
  const read = [];
  for await (const line of readInbox(path, (damaged) => told.push(damaged))) read.push(line.kind);
  expect(told).toEqual([1, 2].map(() => ({ path: file, count: 1, first: 3 })));
  expect(damagedText({ path: 'FILE', count: 2, first: 3 })).toBe(
    '2 lines of FILE cannot be read, the first is line 3: what they held is lost.',
  );
});

test.each(['my diary', 'my diary\nday one\n', '{"name":"x"}\n[1]\n5\n'])(
  'a file of somebody else is refused, and stays as it is: %j',
  async (text) => {
    const path = await folder();
    const file = join(path, 'inbox.jsonl');
    await mkdir(path, { recursive: true });
    await writeFile(file, text);
    await expect(openInbox(path, { limit: 100 })).rejects.toThrow('is no inbox of svc');
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test.each(['', '\0\0\0', '{"lim', '{"limit":1', '{"id":"evt_1","bo\0\0'])(
  'a first line that a crash has torn is cut off: %j',
  async (text) => {
    const path = await folder();
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'inbox.jsonl'), text);
    const inbox = await openInbox(path, { limit: 100 });
    await inbox.add(arrival('evt_1'));
    await inbox.close();
    expect(await idsIn(path)).toEqual(['evt_1']);
  },
);

test.skipIf(process.platform === 'win32')(
  'a named pipe in the place of an inbox is refused, and not waited for',
  async () => {
    const path = await folder();
    await mkdir(path, { recursive: true });
    execFileSync('mkfifo', [join(path, 'inbox.jsonl')]);
    await expect(idsIn(path)).rejects.toThrow('it is no ordinary file');
    await expect(openInbox(path, { limit: 100 })).rejects.toThrow('it is no ordinary file');
  },
);

test('room that was made ahead is given back, and after a kill it is no part of the inbox', async () => {
  const path = await folder();
  const file = join(path, 'inbox.jsonl');
  const inbox = await openInbox(path, { limit: 100 });
  await inbox.add(arrival('evt_1'));
  const killed = await readFile(file);
  expect(killed.length).toBeGreaterThan(64 * 1024);
  expect(await idsIn(path)).toEqual(['evt_1']);
  await inbox.close();
  expect((await stat(file)).size).toBeLessThan(1024);
  await writeFile(file, killed);
  const again = await openInbox(path, { limit: 100 });
  await again.add(arrival('evt_2'));
  await again.close();
  expect(await idsIn(path)).toEqual(['evt_1', 'evt_2']);
  expect((await readFile(file)).includes(0)).toBe(false);
});

test('deliveries that come together share a sync', async () => {
  const path = await folder();
  let syncs = 0;
  const openFile: typeof open = async (...args) => {
    const file = await open(...args);
    const { datasync } = file;
    file.datasync = () => {
      syncs++;
      return datasync.call(file);
    };
    return file;
  };
  const inbox = await openInbox(path, { limit: 1000, openFile });
  syncs = 0;
  await Promise.all(Array.from({ length: 200 }, (_, n) => inbox.add(arrival(`evt_${n}`))));
  expect(syncs).toBeLessThan(10);
  await inbox.close();
});

test('only its owner can read an inbox', async () => {
  const path = await folder();
  const inbox = await openInbox(join(path, 'new'), { limit: 10 });
  expect((await stat(join(path, 'new', 'inbox.jsonl'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(path, 'new'))).mode & 0o777).toBe(0o700);
  await inbox.close();
});

test('an inbox of an older svc, whose lines do not say what happened, knows repeats of what was rebuilt', async () => {
  const path = await folder();
  const about = (id: string) => ({
    id,
    body: Buffer.from(`{"event":"ticket.created","id":"${id}","data":{"ticket_id":7}}`),
  });
  const inbox = await openInbox(path, { limit: 100 });
  await inbox.add(arrival('rebuilt:ticket.created:7', about('rebuilt:ticket.created:7')));
  await inbox.close();
  expect(await readFile(join(path, 'inbox.jsonl'), 'utf8')).not.toContain('happening');
  const again = await openInbox(path, { limit: 100 });
  expect(await again.add(arrival('evt_1', about('evt_1')))).toBe('repeat');
  await again.close();
});
