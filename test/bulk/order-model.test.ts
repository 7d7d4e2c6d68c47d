// @module-tag long
// Several rows for one record, where twice is once: whatever is late, lost or killed, no earlier row overwrites a later one.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange, HttpResponse, Lost } from '../../src/context.ts';
import { fc } from '../chance.ts';
import { asksAccount, wholeAccount } from '../sandbox-world.ts';
import { createWorld, virtualClock, type World } from '../svc.ts';
import { draws } from '../thorough.ts';
import { runOrKill } from './killing.ts';

type Trouble = {
  readonly seen: 'answer' | 'time-out' | 'reset' | '502' | 'page' | 'own 500' | '429' | 'refused';
  readonly acts: boolean;
  /** How much later than svc's end of the attempt the service acts: within the time that svc waits for it. */
  readonly afterMs: number;
};

/** Tickets with a subject, and updates of it that are answered in time, late or not at all. */
function ticketService(troubles: readonly Trouble[], ticks: () => number) {
  const left = [...troubles];
  const subjects = new Map<number, string>();
  let onTheWay: { readonly at: number; readonly act: () => void }[] = [];
  const says = (status: number, json: unknown, headers = {}): HttpResponse => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof json === 'string' ? json : JSON.stringify(json),
  });
  const ticketOf = (id: number) =>
    says(200, { ticket: { id, ticket_number: `T-${id}`, subject: subjects.get(id) ?? '' } });
  const lost = (reason: Lost['reason']): Lost => ({ lost: 'after-sending', reason, detail: 'No answer.' });

  function arrive(until: number): void {
    const due = onTheWay.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
    onTheWay = onTheWay.filter(({ at }) => at > until);
    for (const { act } of due) act();
  }

  const exchange: Exchange = async ({ method, url, body }) => {
    arrive(ticks());
    if (asksAccount({ url })) return says(200, JSON.parse(wholeAccount));
    const id = Number(/\/tickets\/(\d+)$/u.exec(new URL(url).pathname)?.[1]);
    if (method === 'GET') return ticketOf(id);
    const { seen, acts, afterMs } = left.shift() ?? { seen: 'answer', acts: true, afterMs: 0 };
    const { subject } = JSON.parse(String(body)) as { subject: string };
    const act = () => void subjects.set(id, subject);
    if (seen === '429') return says(429, { error: 'Slow down' }, { 'retry-after': '1' });
    if (seen === 'refused') return { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' };
    if (seen === 'answer') {
      act();
      return ticketOf(id);
    }
    // A service that tells of its own failure has ended with the request.
    if (acts && seen === 'own 500') act();
    else if (acts) onTheWay.push({ at: ticks() + afterMs, act });
    if (seen === 'own 500') return says(500, { error: 'Server error' });
    if (seen === '502') return says(502, '<html>Bad gateway</html>');
    if (seen === 'page') return says(200, '<html>Sign in</html>');
    return lost(seen === 'reset' ? 'reset' : 'timeout');
  };
  return {
    exchange,
    /** A request that left a process which was gone before the answer, and arrives that much later. */
    sendLate:
      (afterMs: number): Exchange =>
      async (request) => {
        if (request.method !== 'GET') left.unshift({ seen: 'reset', acts: true, afterMs });
        return exchange(request);
      },
    /** Lets everything arrive that is still on its way. */
    subjectOf(id: number): string | undefined {
      arrive(Number.POSITIVE_INFINITY);
      return subjects.get(id);
    },
  };
}

const trouble: fc.Arbitrary<Trouble> = fc.record({
  seen: fc.constantFrom<Trouble['seen']>(
    ...(['answer', 'answer', 'answer', 'time-out', 'reset', '502', 'page', 'own 500', '429', 'refused'] as const),
  ),
  acts: fc.boolean(),
  afterMs: fc.constantFrom(0, 100, 3000, 20_000, 29_000),
});

const story = fc.record({
  /** The record of each row. Every row has a text of its own, but for those that are alike. */
  rows: fc.array(fc.record({ id: fc.integer({ min: 1, max: 3 }), like: fc.integer({ min: 0, max: 20 }) }), {
    minLength: 2,
    maxLength: 8,
  }),
  troubles: fc.array(trouble, { minLength: 2, maxLength: 14 }),
  kills: fc.array(
    fc.record({ at: fc.integer({ min: 0, max: 6 }), heard: fc.boolean(), afterMs: fc.constantFrom(0, 3000, 29_000) }),
    { maxLength: 2 },
  ),
  /** How often it is run again after the kills. */
  runs: fc.integer({ min: 1, max: 3 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
});

type Report = { done: number; rejected: number; unknown: number; unsent: number; rows: number };

test('no row that is called done is overwritten by an earlier one, and rows = done + unknown + unsent', async () => {
  const endings = { whole: 0, unknown: 0, killed: 0 };
  await fc.assert(
    fc.asyncProperty(story, async ({ rows, troubles, kills, runs, concurrency }) => {
      const clock = virtualClock();
      const service = ticketService(troubles, clock.ticks);
      let world: World = createWorld(service.exchange, { clock });
      const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
      const [file, results] = [join(folder, 'rows.jsonl'), join(folder, 'results.jsonl')];
      const texts = rows.map(({ id, like }) => ({ id, subject: `Text ${like}` }));
      writeFileSync(file, texts.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const argv = ['tickets', 'update', '--from', file, '--json', '--concurrency', String(concurrency)];
      let last: Report | undefined;
      let statuses: string[] = [];
      for (const kill of [...kills, ...new Array<undefined>(runs)]) {
        const killed = kill && { ...world, exchange: kill.heard ? service.sendLate(kill.afterMs) : service.exchange };
        const mortal: World = killed
          ? { ...world, exchange: dyingAt(world.exchange, killed.exchange, kill.at) }
          : world;
        const { ran, next } = await runOrKill(mortal, [...argv, '--results', results], kill);
        world = { ...next, exchange: service.exchange };
        if (!ran) {
          endings.killed++;
          continue;
        }
        expect(ran.stderr).not.toContain('unexpectedly');
        last = JSON.parse(ran.stdout) as Report;
        statuses = await statusesIn(results);
        expect(last.done + last.unknown + last.unsent).toBe(rows.length);
        endings[last.unknown > 0 ? 'unknown' : 'whole']++;
        if (last.unknown > 0) expect(ran.exitCode).toBe(9);
        else expect(ran.exitCode, ran.stderr).toBe(last.unsent > 0 ? 8 : 0);
        if (ran.exitCode === 0) break;
      }
      if (!last) return;
      for (const id of new Set(texts.map((row) => row.id))) {
        const own = texts.map((row, at) => ({ ...row, status: statuses[at] })).filter((row) => row.id === id);
        const lastDone = own.findLastIndex(({ status }) => status === 'done');
        if (lastDone < 0) continue;
        // What comes behind it may have been done after all.
        const after = own.slice(lastDone).filter(({ status }, at) => at === 0 || status === 'unknown');
        expect(after.map(({ subject }) => subject)).toContain(service.subjectOf(id));
      }
    }),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? draws(12, 60)) },
  );
  // A model in which one of them hardly happens would prove nothing.
  for (const [ending, times] of Object.entries(endings)) expect(times, ending).toBeGreaterThan(0);
});

/** The request at which the process dies goes another way than those before it. */
function dyingAt(before: Exchange, there: Exchange, at: number): Exchange {
  let count = 0;
  return (request) => (count++ < at ? before : there)(request);
}

async function statusesIn(path: string): Promise<string[]> {
  const { readFile } = await import('node:fs/promises');
  const lines = (await readFile(path, 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { svc_status: string }).svc_status);
}
