// What anybody changes in a record of writes is found, and the line is named.
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openAudit } from '../../src/audit/audit.ts';
import { entriesIn, filesOf } from '../../src/audit/read.ts';
import { verify } from '../../src/audit/verify.ts';
import { Failure } from '../../src/errors.ts';
import { fc } from '../chance.ts';
import { virtualClock } from '../svc.ts';
import { draws } from '../thorough.ts';
import { aboutIn } from './about.ts';

let whole: string;
let head: string;

const rootIn = (state: string) => join(state, 'audit', 'acme');
const fresh = () => mkdtempSync(join(tmpdir(), 'svc-audit-'));

/** Three months of writes, some of them at once. */
async function written(state: string): Promise<void> {
  const clock = virtualClock('2026-01-30T12:00:00.000Z');
  const audit = openAudit({ clock, files: { state } }, 'acme', 'on');
  for (let day = 0; day < 5; day++) {
    const begun = await Promise.all(['tickets note', 'lists delete'].map((words) => audit.begin(aboutIn(words), '')));
    await Promise.all(begun.map((one) => one.ended({ outcome: 'done', status: 200 })));
    clock.advance(10 * 24 * 3_600_000);
  }
}

beforeAll(async () => {
  whole = fresh();
  await written(whole);
  head = (await verify(rootIn(whole))).head ?? '';
});

/** A copy of the record, to be changed. */
function copied(): { readonly root: string; readonly files: readonly string[] } {
  const state = fresh();
  cpSync(whole, state, { recursive: true });
  return { root: rootIn(state), files: filesOf(rootIn(state)) };
}

const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);
const write = (file: string, lines: readonly string[]) =>
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));

test('a record over three months is whole, and each month begins with the digest of the one before', async () => {
  expect(filesOf(rootIn(whole))).toHaveLength(3);
  const verdict = await verify(rootIn(whole), head);
  expect(verdict).toMatchObject({ lines: 20, writes: 10, fault: undefined, isTorn: false, hasHead: true });
  expect((await entriesIn(rootIn(whole))).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

type Where = { readonly file: number; readonly line: number };
const anyLine: fc.Arbitrary<Where> = fc.record({ file: fc.nat(2), line: fc.nat(7) });

/** The line that is meant, of a file that has fewer. */
function placed({ file, line }: Where, files: readonly string[]) {
  const path = files[file] ?? '';
  const lines = linesOf(path);
  const at = line % lines.length;
  return { path, lines, at, isLast: file === files.length - 1 && at === lines.length - 1 };
}

test('a byte that is changed, whichever it is and to whatever, is found in its line', async () => {
  const change = fc.record({ file: fc.nat(2), offset: fc.nat(1_000_000), to: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(change, async ({ file, offset, to }) => {
      const { root, files } = copied();
      const path = files[file] ?? '';
      const bytes = readFileSync(path);
      // Without the last line feed the last line is cut off, which only a head shows.
      const at = offset % (bytes.length - 1);
      fc.pre(bytes[at] !== to);
      const line = bytes.subarray(0, at).toString('latin1').split('\n').length;
      bytes[at] = to;
      writeFileSync(path, bytes);
      expect((await verify(root)).fault).toMatchObject({ file: path, at: line, what: 'changed' });
      rmSync(root, { recursive: true });
    }),
    { numRuns: draws(40, 150) },
  );
});

test('a line that is removed is found, and named by its place', async () => {
  await fc.assert(
    fc.asyncProperty(anyLine, async (where) => {
      const { root, files } = copied();
      const { path, lines, at, isLast } = placed(where, files);
      write(path, lines.toSpliced(at, 1));
      const { fault, hasHead } = await verify(root, head);
      if (isLast) expect({ fault, hasHead }).toEqual({ fault: undefined, hasHead: false });
      else if (at > 0) expect(fault).toEqual({ file: path, at: at + 1, what: 'removed' });
      else expect(fault?.what).toBe('removed');
    }),
    { numRuns: draws(10, 30) },
  );
});

test('a line that is added, a copy or one of somebody’s own, is found where it stands', async () => {
  await fc.assert(
    fc.asyncProperty(anyLine, anyLine, fc.boolean(), async (where, from, isCopy) => {
      const { root, files } = copied();
      const { path, lines, at } = placed(where, files);
      const source = placed(from, files);
      const line = isCopy ? (source.lines[source.at] ?? '') : '{"seq":3,"outcome":"done"}';
      // Beside the same line nobody can say which of the two is the copy.
      fc.pre(lines[at] !== line && lines[at - 1] !== line);
      write(path, lines.toSpliced(at, 0, line));
      const { fault } = await verify(root);
      expect({ file: fault?.file, at: fault?.at }).toEqual({ file: path, at: at + 1 });
    }),
    { numRuns: draws(15, 50) },
  );
});

test('lines that changed places are found at the first of the two', async () => {
  await fc.assert(
    fc.asyncProperty(anyLine, anyLine, async (one, other) => {
      const { root, files } = copied();
      const first = placed(one, files);
      const second = placed({ ...other, file: one.file }, files);
      fc.pre(first.at < second.at);
      const { lines } = first;
      const swapped = lines.with(first.at, lines[second.at] ?? '').with(second.at, lines[first.at] ?? '');
      write(first.path, swapped);
      expect((await verify(root)).fault).toEqual({ file: first.path, at: first.at + 1, what: 'moved' });
    }),
    { numRuns: draws(10, 30) },
  );
});

test('a line that somebody wrote again, sum and all, is found by the one that follows it', async () => {
  const { root, files } = copied();
  const [path = ''] = files;
  const other = mkdtempSync(join(tmpdir(), 'svc-audit-'));
  const clock = virtualClock('2026-01-30T12:00:00.000Z');
  const forged = openAudit({ clock, files: { state: other } }, 'acme', 'on');
  await forged.begin(aboutIn('tickets close'), '');
  const [line = ''] = linesOf(filesOf(rootIn(other))[0] ?? '');
  write(path, linesOf(path).with(0, line));
  expect((await verify(root)).fault).toEqual({ file: path, at: 1, what: 'changed' });
});

test('a tail that was cut is whole to look at, and found by a head that was kept elsewhere', async () => {
  const { root, files } = copied();
  const last = files.at(-1) ?? '';
  write(last, linesOf(last).slice(0, -2));
  expect(await verify(root)).toMatchObject({ fault: undefined, hasHead: false });
  expect((await verify(root, head)).hasHead).toBe(false);
  rmSync(last);
  expect(await verify(root, head)).toMatchObject({ fault: undefined, hasHead: false });
});

test('a half-written last line, as a crash or a full disk leaves it, breaks nothing: the next write goes on behind the last whole one', async () => {
  const { root, files } = copied();
  const last = files.at(-1) ?? '';
  const before = linesOf(last).length;
  appendFileSync(last, '{"seq":11,"newest":11,"li');
  expect(await verify(root, head)).toMatchObject({ fault: undefined, isTorn: true, hasHead: true });
  const clock = virtualClock('2026-03-30T12:00:00.000Z');
  const audit = openAudit({ clock, files: { state: join(root, '..', '..') } }, 'acme', 'on');
  expect((await audit.begin(aboutIn('tickets note'), '')).seq).toBe(11);
  expect(linesOf(last)).toHaveLength(before + 1);
  expect(await verify(root, head)).toMatchObject({ fault: undefined, isTorn: false, hasHead: true });
});

test('a last line that somebody damaged is not cut off: it stays to be found, and writes go on', async () => {
  const { root, files } = copied();
  const last = files.at(-1) ?? '';
  const lines = linesOf(last);
  write(last, lines.with(-1, 'nothing'));
  const clock = virtualClock('2026-03-30T12:00:00.000Z');
  const audit = openAudit({ clock, files: { state: join(root, '..', '..') } }, 'acme', 'on');
  expect((await audit.begin(aboutIn('tickets note'), '')).seq).toBe(11);
  expect((await verify(root)).fault).toEqual({ file: last, at: lines.length, what: 'changed' });
});

test('a clock that is set back begins no second end: the newest month goes on', async () => {
  const { root, files } = copied();
  const clock = virtualClock('2026-02-03T12:00:00.000Z');
  const audit = openAudit({ clock, files: { state: join(root, '..', '..') } }, 'acme', 'on');
  await audit.begin(aboutIn('tickets note'), '');
  expect(linesOf(files.at(-1) ?? '').at(-1)).toContain('"time":"2026-02-03');
  expect((await verify(root, head)).fault).toBeUndefined();
});

test('an empty file, cut off whole, goes on from the month before', async () => {
  const { root, files } = copied();
  truncateSync(files.at(-1) ?? '');
  const clock = virtualClock('2026-03-30T12:00:00.000Z');
  const audit = openAudit({ clock, files: { state: join(root, '..', '..') } }, 'acme', 'on');
  await audit.begin(aboutIn('tickets note'), '');
  expect(await verify(root, head)).toMatchObject({ fault: undefined, hasHead: false });
});

test('where neither the record nor a setting can be saved, the advice says so', async () => {
  const state = join(fresh(), 'a file where the folder should be');
  writeFileSync(state, '');
  const hintWith = async (config: string) => {
    const audit = openAudit({ clock: virtualClock(), files: { state, config } }, 'acme', 'on');
    const failure = await audit.begin(aboutIn('tickets note'), '').catch((error: unknown) => error);
    return failure instanceof Failure ? failure.hint : undefined;
  };
  expect(await hintWith(fresh())).toMatch(/before\.\nWithout a record: svc config set audit off$/u);
  const stuck = join(state, 'config');
  expect(await hintWith(stuck)).toMatch(/\nWithout a record: svc config set audit off$/u);
  expect(await hintWith(stuck)).toContain(`Settings cannot be saved in ${stuck} either, so first set SVC_CONFIG_DIR`);
});
