import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { Failure } from '../../src/errors.ts';
import { type Findings, lookUntilSettled } from '../../src/http/exchange/settle.ts';
import { virtualClock } from '../svc.ts';

type Answer = Findings | Failure | Error;

/** Looks that long, with these answers in turn; the last one comes again and again. */
async function looking(
  answers: readonly Answer[],
  { settleMs = 10_000, abortAt = Number.POSITIVE_INFINITY, takesMs = 0 } = {},
) {
  const clock = virtualClock();
  const began = clock.ticks();
  const ending = new AbortController();
  const looks: { readonly at: number; readonly maxWaitMs: number | undefined }[] = [];
  const said: unknown[] = [];
  const ctx = { clock, signal: ending.signal, progress: (...told) => said.push(told) } as Partial<Context> as Context;
  const look = async (maxWaitMs?: number): Promise<Findings> => {
    looks.push({ at: clock.ticks() - began, maxWaitMs });
    if (looks.length >= abortAt) ending.abort('SIGINT');
    clock.advance(takesMs);
    const answer = answers[Math.min(looks.length, answers.length) - 1];
    if (answer === undefined || answer instanceof Error) throw answer;
    return answer;
  };
  const looked = await lookUntilSettled(ctx, look, settleMs, 'Looking');
  return { looked, looks, said, at: looks.map((one) => one.at), waits: looks.map((one) => one.maxWaitMs) };
}

const absent: Findings = { candidates: [] };

test('looks at once, then with growing pauses, and the last time at the very end', async () => {
  const { looked, at } = await looking([absent]);
  expect(at).toEqual([0, 500, 1500, 3500, 7500, 10_000]);
  expect(looked).toEqual({ findings: absent, ms: 10_000 });
});

test('the pauses stop growing at eight seconds', async () => {
  const { at } = await looking([absent], { settleMs: 40_000 });
  expect(at).toEqual([0, 500, 1500, 3500, 7500, 15_500, 23_500, 31_500, 39_500, 40_000]);
});

test('each look may repeat its reads for the time that is left, and never for less than five seconds', async () => {
  expect((await looking([absent])).waits).toEqual([10_000, 9500, 8500, 6500, 5000, 5000]);
});

test('where nothing can arrive any more one look is enough, and it waits as the user said', async () => {
  expect(await looking([absent], { settleMs: 0 })).toMatchObject({ at: [0], waits: [undefined] });
});

test.each<Findings>([{ found: { id: 7 } }, { candidates: [7], because: 'useless', advice: 'Replace it.' }])(
  '%j ends it',
  async (findings) => {
    const { looked, at } = await looking([absent, { candidates: [4] }, findings]);
    expect(at).toEqual([0, 500, 1500]);
    expect(looked).toEqual({ findings, ms: 1500 });
  },
);

test('candidates do not end it: ours may be later', async () => {
  const { looked, at } = await looking([{ candidates: [4] }]);
  expect(at).toHaveLength(6);
  expect(looked.findings).toEqual({ candidates: [4] });
});

test('reads that take long count as time', async () => {
  const { looked, at } = await looking([absent], { takesMs: 6000 });
  expect(at).toEqual([0, 6500, 12_500]);
  expect(looked.ms).toBe(18_500);
});

test.each(['auth', 'forbidden', 'usage'] as const)('a look that ends as %s is not tried again', async (kind) => {
  const trouble = new Failure(kind, 'No.');
  const { looked, at } = await looking([absent, trouble]);
  expect(at).toEqual([0, 500]);
  expect(looked).toMatchObject({ findings: absent, trouble });
});

test('a look that fails otherwise is tried again, and what an earlier one saw is kept', async () => {
  const trouble = new Failure('network', 'Cut.');
  const { looked, at } = await looking([{ candidates: [4] }, trouble]);
  expect(at).toHaveLength(6);
  expect(looked).toMatchObject({ findings: { candidates: [4] }, trouble });
});

test('the trouble is over with the first look that succeeds', async () => {
  const { looked } = await looking([new Failure('network', 'Cut.'), absent]);
  expect(looked.trouble).toBeUndefined();
});

test('an error of svc itself is no trouble of the look', async () => {
  await expect(looking([new TypeError('a mistake')])).rejects.toThrow('a mistake');
});

test('an interrupted run looks no more', async () => {
  const { at } = await looking([absent], { abortAt: 2 });
  expect(at).toEqual([0, 500]);
});

test('says why it waits and how long at most, in its own place, and takes it away whatever happens', async () => {
  const over = [undefined, 'look'];
  expect((await looking([absent])).said).toEqual([['Looking, for up to 10 s', 'look'], over]);
  expect((await looking([absent], { settleMs: 1500 })).said[0]).toEqual(['Looking, for up to 2 s', 'look']);
  expect((await looking([absent], { settleMs: 0 })).said).toEqual([['Looking', 'look'], over]);
});

test('where no look succeeds nothing is known to be there', async () => {
  const { looked } = await looking([new Failure('network', 'Cut.')]);
  expect(looked).toMatchObject({ findings: { candidates: [] }, trouble: { message: 'Cut.' } });
});
