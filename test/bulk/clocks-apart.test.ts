// A service of several machines, whose clocks are apart: a row of svc's own is found all the same, and is not sent again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

type Clocks = {
  /** How far the clock that dates the record of the second row is behind the others, in milliseconds. */
  readonly behindMs?: number;
  /** How far the `Date` of the n-th answer is ahead of the clock that dates records, in milliseconds. */
  readonly aheadMs?: (nth: number) => number;
};

/** Three rows; the answer to the second one is lost, and it was carried out. */
async function lostSecond({ behindMs = 0, aheadMs = () => 0 }: Clocks, words: readonly string[]) {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  let [writes, answers] = [0, 0];
  let second: number | undefined;
  const redated = (key: string, value: unknown, holder: Record<string, unknown>) =>
    key === 'created_at' && second !== undefined && holder.id === second
      ? new Date(Date.parse(String(value)) - behindMs).toISOString()
      : value;
  const exchange: typeof world.exchange = async (request) => {
    world.clock.advance(50);
    const answer = (await world.exchange(request)) as HttpResponse;
    const isLost = request.method === 'POST' && ++writes === 2;
    const json = JSON.parse(answer.body);
    if (isLost) second = (json.ticket ?? json.entry).id;
    const body = JSON.stringify(json, function (this: Record<string, unknown>, key, value) {
      return redated(key, value, this);
    });
    const date = new Date(world.clock.now().getTime() + aheadMs(++answers)).toUTCString();
    return isLost ? lost : { ...answer, headers: { ...answer.headers, date }, body };
  };
  const file = join(world.folder, 'rows.csv');
  const [first = '', text = ''] = words[0] === 'tickets' ? ['subject', 'description'] : ['title', 'content'];
  writeFileSync(file, `${first},${text}\nRow 1,a\nRow 2,b\nRow 3,c\n`);
  const argv = [...words, '--from', file, '--yes', '--concurrency', '1', '--settle', '2'];
  return { ran: await svc({ ...world, exchange }, argv), writes };
}

const kinds = [
  ['tickets', 'create'],
  ['changelog', 'create'],
] as const;

test.each(
  kinds.flatMap((words) => [
    [`${words[0]}: records of machines that are 3 s apart`, { behindMs: 3000 }, words] as const,
    [`${words[0]}: a Date that is two minutes ahead of records`, { aheadMs: () => 120_000 }, words] as const,
    [
      `${words[0]}: one answer with a Date two minutes ahead`,
      { aheadMs: (nth: number) => (nth === 1 ? 120_000 : 0) },
      words,
    ] as const,
  ]),
)('%s', async (_, clocks, words) => {
  const { ran, writes } = await lostSecond(clocks, words);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(writes).toBe(3);
});
