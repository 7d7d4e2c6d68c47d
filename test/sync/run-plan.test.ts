import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/errors.ts';
import { byEmail, type Chunk, digestOfChunk, type Outcome } from '../../src/sync/chunks.ts';
import type { Journal } from '../../src/sync/journal.ts';
import type { Plan } from '../../src/sync/plan.ts';
import type { Row } from '../../src/sync/rows.ts';
import { runPlan, type Target } from '../../src/sync/run.ts';

const rows: Row[] = [2, 3, 4].map((line) => ({
  line,
  contact: { email: `p${line}@example.com` },
  size: 40,
  phone: 'fine',
}));

const done: Outcome = { created: 1, updated: 0, synced: 0, unaccounted: 0, problems: [] };

type Wish = {
  readonly send?: (chunk: Chunk) => Promise<Outcome>;
  readonly past?: Partial<Journal['past']>;
  readonly chunks?: number;
  readonly rows?: readonly Row[];
  readonly signal?: AbortSignal;
};

/** One row a chunk, one chunk at a time. */
async function running({ send = async () => done, past, chunks, rows: wanted = rows, signal }: Wish) {
  const sent: number[] = [];
  const written: unknown[] = [];
  let ticks = 1_000;
  let requests = 0;
  const plan = {
    table: { source: { name: 'a.csv' } },
    sendable: wanted.length,
    chunks: chunks ?? wanted.length,
    digests: wanted.map((row, number) => digestOfChunk({ number, rows: [row] })),
    async *judged() {
      yield wanted;
    },
    // Nothing else of a plan is read while it runs.
  } as unknown as Plan;
  const journal: Journal = {
    path: '/state/journal',
    earlier: { kind: 'none' },
    lost: new AbortController().signal,
    check: () => {},
    past: { done: new Map(), ms: 0, requests: 0, ...past },
    sent: async ({ number }) => void written.push(['sent', number]),
    back: async ({ number }) => void written.push(['back', number]),
    done: async ({ number }, _, used, ms) => void written.push(['done', number, used, ms]),
    finished: async () => void written.push(['finished']),
    close: async () => {},
  };
  const target: Target = {
    chunkSize: 1,
    keysOf: byEmail,
    requests: () => requests,
    async send(chunk) {
      sent.push(chunk.number);
      ticks += 100;
      requests += 2;
      return send(chunk);
    },
  };
  const clock = { now: () => new Date(0), ticks: () => ticks, sleep: async () => {} };
  const ports = { clock, signal: signal ?? new AbortController().signal, notice: () => {} };
  const job = { plan, target, journal, concurrency: 1, onProgress: () => {} };
  return { totals: await runPlan(ports, job), sent, written };
}

const pastChunk = (rowsThen: number) => ({
  ...{ chunk: 0, first_line: 2, rows: rowsThen, requests: 5, ms: 500, errors: [] },
  ...{ created: 1, updated: 0, synced: 0, unaccounted: 1 },
});

describe('nothing more is sent', () => {
  test('after a chunk that failed', async () => {
    const failure = new Failure('auth', 'No.');
    const { totals, sent, written } = await running({ send: () => Promise.reject(failure) });
    expect(sent).toEqual([0]);
    expect(written).toEqual([
      ['sent', 0],
      ['back', 0],
    ]);
    expect(totals.stopped).toBe(failure);
  });

  test('after a mistake of svc itself, which is told with its cause', async () => {
    const cause = new Error('boom');
    const { totals, sent } = await running({ send: () => Promise.reject(cause) });
    expect(sent).toEqual([0]);
    expect(totals.stopped).toMatchObject({ kind: 'failed', message: 'The sync failed unexpectedly: boom', cause });
  });

  test('after Ctrl-C', async () => {
    const stop = new AbortController();
    const send = async () => {
      stop.abort();
      return done;
    };
    const { totals, sent, written } = await running({ send, signal: stop.signal });
    expect(sent).toEqual([0]);
    expect(written.at(-1)).toEqual(['done', 0, 2, 100]);
    expect(totals.stopped?.kind).toBe('interrupted');
  });

  test('where the journal is of other rows', async () => {
    const { totals, sent } = await running({ past: { done: new Map([[0, pastChunk(2)]]) } });
    expect(sent).toEqual([]);
    expect(totals.stopped).toMatchObject({
      message: 'The journal of this sync does not fit the file: /state/journal',
      hint: expect.stringContaining('--restart'),
    });
  });

  test('where there is nothing to send', async () => {
    const { totals, sent, written } = await running({ rows: [] });
    expect(sent).toEqual([]);
    expect(written).toEqual([['finished']]);
    expect(totals.stopped).toBeUndefined();
  });
});

test('a run goes on behind what earlier runs have done, and counts their time and requests', async () => {
  const past = { done: new Map([[0, pastChunk(1)]]), ms: 500, requests: 5 };
  const { totals, sent, written } = await running({ past, send: async () => ({ ...done, unaccounted: 2 }) });
  expect(sent).toEqual([1, 2]);
  expect(written).toEqual([['sent', 1], ['done', 1, 2, 100], ['sent', 2], ['done', 2, 2, 200], ['finished']]);
  expect(totals).toMatchObject({ created: 3, unaccounted: 5, requests: 9, ms: 700, resumedRows: 1, chunks: 3 });
});

test('a file that holds fewer rows while it is sent is not finished, and the next step is named', async () => {
  const { totals, written } = await running({ chunks: 4 });
  expect(written).not.toContainEqual(['finished']);
  expect(totals.stopped).toMatchObject({
    message: 'a.csv was changed while it was being read.',
    hint: 'Run the same command again: it goes on with the file as it is now.',
  });
});
