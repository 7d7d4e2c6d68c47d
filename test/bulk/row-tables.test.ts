// What a run keeps of each row, in tables of few bytes: each against a plain Map, whatever stands in it.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { addTicketNote, createTicket } from '../../src/api/tickets.ts';
import { type Ended, endedRows } from '../../src/bulk/journal/ended-table.ts';
import type { RowStatus } from '../../src/bulk/journal/lines.ts';
import { rowStatusTable } from '../../src/bulk/journal/row-status-table.ts';
import { problemRows } from '../../src/bulk/rows/problem-rows.ts';
import { shortDigest } from '../../src/bulk/rows/row-content.ts';
import { createNumbering, requestsOf, rowRequests, rowsByRequest } from '../../src/bulk/rows/row-requests.ts';
import { takesFor } from '../../src/http/call/given-ids.ts';
import { ownIds } from '../../src/http/call/open-writes.ts';
import { digestNumbers } from '../../src/text/digest-numbers.ts';
import { fc } from '../chance.ts';
import { cpuTimer } from '../cpu.ts';

const digests = Array.from({ length: 12 }, (_, at) => shortDigest(at));
const someRow = fc.oneof(
  fc.constantFrom(...digests),
  fc.tuple(fc.constantFrom(...digests), fc.integer({ min: 2, max: 4 })).map(([one, time]) => `${one}~${time}`),
  fc.constantFrom('row-of-0.1.0', '', 'é'),
);
const request = fc.constantFrom(shortDigest('a'), shortDigest('b'), 'no digest');
const id = fc.option(fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32, Number.MAX_SAFE_INTEGER)));
const line = fc.oneof(fc.nat(), fc.constant(2 ** 33));
const error = fc.constantFrom('', 'The title is empty', 'No such contact');
const is = fc.option(request, { nil: undefined });
const keys = fc.option(fc.constantFrom(['id 7'], ['a@example.com', '+12025550123'], []), { nil: undefined });
const ticket = fc.option(fc.constantFrom(1, 8, 2 ** 32, Number.MAX_SAFE_INTEGER), { nil: undefined });
const isTrue = fc.constantFrom(true as const, undefined);

/** As a journal has it: what is not known is left out. */
const given = <T extends object>(rowStatus: T): T =>
  Object.fromEntries(Object.entries(rowStatus).filter(([, value]) => value !== undefined)) as T;

const someRowStatus: fc.Arbitrary<RowStatus> = fc
  .oneof(
    fc.record({ status: fc.constant('meant' as const), line, is, before: id }),
    fc.record({ status: fc.constant('sent' as const), line, is, before: id, keys }),
    fc.record({
      ...{ status: fc.constant('done' as const), line, is, id, rest: isTrue, of: ticket },
      ...{ secret: fc.option(fc.constant('whsec_1'), { nil: undefined }), error: fc.option(error, { nil: undefined }) },
    }),
    fc.record({ status: fc.constant('rejected' as const), line, is, error }),
    fc.record({ status: fc.constant('unknown' as const), line, is, error, before: id, keys }),
  )
  .map(given);

describe('what became of rows', () => {
  const inFile = fc.uniqueArray(fc.tuple(someRow, request), { selector: ([row]) => row, maxLength: 10 });
  const steps = fc.array(fc.tuple(someRow, fc.option(someRowStatus), fc.nat({ max: 3 }), fc.nat({ max: 3 })), {
    maxLength: 60,
  });

  test('is what a Map holds, beside the rows of a file and without one', { tags: ['long'] }, () => {
    fc.assert(
      fc.property(fc.option(inFile, { nil: undefined }), steps, (file, done) => {
        const known = file && rowRequests();
        for (const [row, is] of file ?? []) known?.set(row, is);
        const rowStatuses = rowStatusTable(known);
        const plain = new Map<string, RowStatus>();
        const [runs, sentBy] = [new Map<string, number>(), new Map<string, number>()];
        for (const [row, rowStatus, run, sent] of done) {
          if (rowStatus === null) {
            rowStatuses.delete(row);
            plain.delete(row);
            continue;
          }
          rowStatuses.set(row, rowStatus);
          rowStatuses.setRun(row, run, sent);
          plain.set(row, rowStatus);
          runs.set(row, run);
          sentBy.set(row, sent);
        }
        expect(rowStatuses.size).toBe(plain.size);
        expect(new Map(rowStatuses)).toEqual(plain);
        expect([...rowStatuses.keys()].sort()).toEqual([...plain.keys()].sort());
        expect([...rowStatuses.values()]).toHaveLength(plain.size);
        for (const row of [...plain.keys(), ...digests]) {
          expect([rowStatuses.has(row), rowStatuses.get(row)]).toEqual([plain.has(row), plain.get(row)]);
          if (!plain.has(row)) continue;
          expect(rowStatuses.runOf(row)).toBe(runs.get(row));
          expect(rowStatuses.sentBy(row)).toBe(sentBy.get(row));
          expect([rowStatuses.nameAt(rowStatuses.placeOf(row)), rowStatuses.at(rowStatuses.placeOf(row))]).toEqual([
            row,
            plain.get(row),
          ]);
        }
        const open = [...plain].filter(([, { status }]) => status === 'sent' || status === 'unknown');
        expect(new Map(rowStatuses.standing('sent', 'unknown'))).toEqual(new Map(open));
      }),
    );
  });
});

const someEnded: fc.Arbitrary<Ended> = fc.oneof(
  fc.record({ status: fc.constant('unsent' as const), line, error: fc.option(error, { nil: undefined }) }).map(given),
  fc.record({ status: fc.constant('rejected' as const), line, error }),
  fc.record({ status: fc.constant('unknown' as const), line, error }),
  fc
    .record({
      status: fc.constant('done' as const),
      line,
      id,
      rest: isTrue,
      error: fc.option(error, { nil: undefined }),
    })
    .map(given),
);

test('many earlier runs of few rows are read in no more time beside a large file', { tags: ['long'] }, () => {
  const readAll = (known: ReturnType<typeof rowRequests>): number => {
    const runs = Array.from({ length: 300 }, (_, run) => {
      const rowStatuses = rowStatusTable(known);
      rowStatuses.set(shortDigest(`run ${run}`), { status: 'done', line: 2, id: run });
      return rowStatuses;
    });
    const took = cpuTimer();
    const rows = runs.flatMap((rowStatuses) => [...rowStatuses.keys()]);
    const ms = took();
    expect(rows).toHaveLength(300);
    return ms;
  };
  const large = rowRequests();
  for (let row = 0; row < 50_000; row++) large.set(shortDigest(row), shortDigest(`request ${row}`));
  readAll(rowRequests());
  expect(readAll(large)).toBeLessThan(10 * readAll(rowRequests()) + 100);
});

test('how rows ended is what a Map holds, in the order of the file', { tags: ['long'] }, () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(0, 1, 2, 9, 20_000), someEnded), { maxLength: 40 }), (steps) => {
      const [ended, plain] = [endedRows(), new Map<number, Ended>()];
      for (const [at, one] of steps) {
        ended.set(at, one);
        plain.set(at, one);
      }
      const inOrder = [...plain].sort(([a], [b]) => a - b);
      expect([...ended]).toEqual(inOrder);
      expect([...ended.values()]).toEqual(inOrder.map(([, one]) => one));
      expect([ended.size, ended.has(3), ended.get(3)]).toEqual([plain.size, false, undefined]);
    }),
  );
});

describe('the rows of a file', () => {
  test('of equal content are told apart, in every reading alike', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...digests.slice(0, 4)), { maxLength: 40 }), (contents) => {
        const rows = rowRequests();
        const times = new Map<string, number>();
        const numbered = createNumbering(rows.names);
        for (const [at, content] of contents.entries()) {
          const time = (times.get(content) ?? 0) + 1;
          times.set(content, time);
          const ref = numbered(content, at);
          expect(ref).toBe(time === 1 ? content : `${content}~${time}`);
          rows.set(ref, content);
          expect(rows.names.find(ref)).toBe(at);
        }
        const again = createNumbering(rows.names);
        for (const [at, content] of contents.entries()) expect(again(content, at)).toBe(rows.names.nameAt(at));
      }),
    );
  });

  test('that send the same are taken in their order, each once', () => {
    const rows = rowRequests();
    for (const [at, one] of ['a', 'b', 'a', '', 'a', 'b'].entries())
      rows.set(digests[at] ?? '', one && shortDigest(one));
    const [a, b] = [shortDigest('a'), shortDigest('b')];
    expect([requestsOf(rows).has(a), requestsOf(rows).has(''), requestsOf(rows).has(shortDigest('c'))]).toEqual([
      true,
      false,
      false,
    ]);
    const left = rowsByRequest(rows, (place) => place !== 2);
    const taken = [left.take(a), left.take(a), left.take(a), left.take(b), left.take(''), left.take('c')];
    expect(taken).toEqual([digests[0], digests[4], undefined, digests[1], undefined, undefined]);
    expect([...rows.values()].filter((one) => one === '')).toHaveLength(1);
  });

  test('that cannot be sent are known by their position', () => {
    const rows = rowRequests();
    for (const row of digests) rows.set(row, '');
    const problems = problemRows(rows);
    problems.set(3, { line: 5, error: 'has no id' });
    problems.set(1, { line: 3, error: 'has no id' });
    expect([...problems]).toEqual([
      [1, { line: 3, error: 'has no id', ref: digests[1] }],
      [3, { line: 5, error: 'has no id', ref: digests[3] }],
    ]);
    expect([problems.size, problems.has(2), problems.get(2), [...problems.values()].length]).toEqual([
      2,
      false,
      undefined,
      2,
    ]);
  });
});

/** Bytes that `make` keeps for each of `count` rows. */
function bytesOf(count: number, make: () => unknown): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const taken = () => {
    // Buffers that the first finds to be garbage are surely freed once a second begins.
    collect();
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = taken();
  const kept = make();
  const bytes = (taken() - before) / count;
  expect(kept).toBeTruthy();
  return bytes;
}

const own = () => ({
  address: undefined,
  within: digestNumbers(),
  numbers: new Map(),
  writes: 0,
  warned: new Set<string>(),
});
const answerTo = (id: number) => ({ status: 201, headers: { date: 'today' }, body: JSON.stringify({ note: { id } }) });

test.each([
  ['row', 110, createTicket],
  ['note', 160, addTicketNote],
] as const)(
  'a %s that is done takes at most %i bytes, all that is known of it counted',
  { tags: ['long'] },
  (_, most, operation) => {
    // Just beyond where the tables double: nowhere do they take more for each.
    const count = 53_000;
    const bytes = bytesOf(count, () => {
      const service = { learnt: { ...own(), made: new Map(), given: new Map(), open: new Map() } };
      const [rows, ended, ids] = [rowRequests(), endedRows(), ownIds(service, operation)];
      for (let at = 0; at < count; at++) rows.set(shortDigest(at), shortDigest(['sent', at]));
      const rowStatuses = rowStatusTable(rows);
      for (let at = 0; at < count; at++) {
        const [row, is] = [rows.names.nameAt(at), rows.requestAt(at)];
        const [line, id] = [at + 2, at + 100];
        const of = operation.safety === 'once' ? { of: at + 1 } : {};
        rowStatuses.set(row, { status: 'meant', line, is, before: 7 });
        rowStatuses.set(row, { status: 'done', line, is, id, ...of });
        ended.set(at, { status: 'done', line, id });
        ids.add(id);
        const takes = takesFor(service, operation, { params: { id: at + 1 } });
        if (!takes([id], answerTo(id))) throw new Error(`${id} was taken before`);
      }
      expect([rows.size, rowStatuses.size, ended.size, ids.size()]).toEqual([count, count, count, count]);
      return [service, rows, ended, rowStatuses];
    });
    expect(bytes).toBeLessThanOrEqual(most);
    expect(bytes).toBeGreaterThan(most / 2);
  },
);
