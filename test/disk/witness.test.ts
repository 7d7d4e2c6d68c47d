import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { askWitnesses, forgetWitness, inTurn, newWitness, witnessFolder } from '../../src/disk/lock/witness.ts';

test('a witness says how far a log came for as long as it is not closed, and after an end that was not clean', async ({
  skip,
}) => {
  const folder = await witnessFolder();
  if (folder === undefined) return skip('There is no memory here that is shared by the processes of a machine.');
  const witness = await newWitness(5, import.meta.filename);
  const name = witness?.name ?? '';
  const saidBy = await askWitnesses();
  expect(saidBy(name)).toBe(5);
  witness?.reached(123_456);
  expect(saidBy(name)).toBe(123_456);
  // What it has said already is not written once more.
  await writeFile(join(folder, name), 'another');
  witness?.reached(123_456);
  expect(saidBy(name)).toBeUndefined();
  for (const bytes of [5, 123_456]) {
    witness?.reached(bytes);
    expect(saidBy(name)).toBe(bytes);
  }
  await witness?.close({ stays: true });
  expect(saidBy(name)).toBe(123_456);
  await forgetWitness(name);
  expect(saidBy(name)).toBeUndefined();
  const clean = await newWitness(1, import.meta.filename);
  await clean?.close({ stays: false });
  expect(existsSync(join(folder, clean?.name ?? ''))).toBe(false);
});

test('a name that leads elsewhere is nobody', async () => {
  const saidBy = await askWitnesses();
  expect(saidBy('../../etc/hostname')).toBeUndefined();
  await forgetWitness('../nothing');
});

test('a run looks at few of many, and each has its turn', () => {
  const names = Array.from({ length: 500 }, (_, at) => `${at}-${String(at * 7919 + 1).padStart(8, '0')}`);
  const seen = new Set<string>();
  for (const own of names) {
    const looked = inTurn(names, own);
    expect(new Set(looked).size).toBe(16);
    for (const name of looked) seen.add(name);
  }
  expect(seen.size).toBe(names.length);
  expect(inTurn(names.slice(0, 3), '7-z')).toHaveLength(3);
  expect(inTurn([], '7-z')).toEqual([]);
});

test('a later run removes what is left of logs that are gone, and nothing that somebody may need', {
  tags: ['long'],
}, async ({ skip }) => {
  const folder = await witnessFolder();
  if (folder === undefined) return skip('There is no memory here that is shared by the processes of a machine.');
  const [state, gone] = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'svc-witness-'))));
  const log = async (path: string) => {
    await writeFile(path, 'line\n');
    return path;
  };
  const ended = spawn('true');
  await once(ended, 'exit');
  /** As a process leaves it that ended just now. */
  const left = async (path: string, change: (text: string) => string = (text) => text) => {
    const witness = await newWitness(7, await log(path));
    await witness?.close({ stays: true });
    const file = join(folder, witness?.name ?? '');
    const text = await readFile(file, 'utf8');
    await writeFile(file, change(text.replace(`.${process.pid}.`, `.${ended.pid}.`)));
    return file;
  };
  const [one = '', other = ''] = [state, gone];
  const kept = {
    resumable: await left(join(one, 'stays.jsonl')),
    elsewhere: await left(join(other, 'a.jsonl'), (text) => text.replace(/"mounts":"[^"]*"/u, '"mounts":"mnt:[1]"')),
    otherWorld: await left(join(other, 'b.jsonl'), (text) => text.replace(/("by":"[^"]*)"/u, '$1x"')),
    diskAway: await left(join(other, 'c.jsonl'), (text) => text.replace(/"device":\d+/u, '"device":987654321')),
    former: await left(join(other, 'd.jsonl'), (text) => text.slice(0, 15)),
    cut: await left(join(other, 'e.jsonl'), (text) => text.slice(0, 40)),
    empty: await left(join(other, 'f.jsonl'), () => ''),
    alive: await left(join(other, 'g.jsonl'), (text) => text.replace(`.${ended.pid}.`, `.${process.pid}.`)),
  };
  const forgotten = [
    await left(join(one, 'gone.jsonl')),
    await left(join(other, 'h.jsonl')),
    // The id belongs to another process since.
    await left(join(other, 'i.jsonl'), (text) => text.replace(`.${ended.pid}.`, `.${process.ppid}.`)),
  ];
  await rm(join(one, 'gone.jsonl'));
  await rm(other, { recursive: true });
  const next = await newWitness(1, await log(join(one, 'next.jsonl')));
  // Each run looks at some, and others leave theirs in the same folder.
  for (let run = 0; run < 10_000 && forgotten.some((path) => existsSync(path)); run++) {
    const later = await newWitness(1, join(one, 'next.jsonl'));
    await later?.close({ stays: false });
  }
  expect(forgotten.filter((path) => existsSync(path))).toEqual([]);
  expect(Object.entries(kept).filter(([, path]) => !existsSync(path))).toEqual([]);
  expect((await askWitnesses())(basename(kept.resumable))).toBe(7);
  await next?.close({ stays: false });
  for (const path of Object.values(kept)) await rm(path);
});
