import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { type Kind, modelService, type Trouble } from '../http/model-service.ts';
import { createWorld, svc, virtualClock, type World } from '../svc.ts';

// The engine against a service of a few lines that fails and is late by chance, killed at any write and started again.

const commands: Readonly<Record<Kind, { readonly words: string; readonly row: (i: number) => object }>> = {
  ticket: { words: 'tickets create', row: (i) => ({ subject: ` Row  ${i}`, description: 'e\u0301' }) },
  contact: {
    words: 'contacts create',
    row: (i) => ({ name: 'Ada', last_name: 'B', email: `A${i}@Example.com`, phone: '+12025550123' }),
  },
  list: { words: 'lists create', row: (i) => ({ name: `List ${i}`, target_industry: 'Any', notes: 'n' }) },
  entry: { words: 'changelog create', row: (i) => ({ title: `Entry  ${i}`, content: 'Once' }) },
  reply: { words: 'tickets reply', row: (i) => ({ id: 1, body: `Reply ${i} ` }) },
  note: { words: 'tickets note', row: (i) => ({ id: 1, body: `Note ${i}` }) },
};

const trouble: fc.Arbitrary<Trouble> = fc.record({
  seen: fc.constantFrom<Trouble['seen']>(
    'answer',
    'answer',
    'answer',
    'answer',
    'time-out',
    'reset',
    '502',
    'page',
    'own 500',
    '429',
    'refused',
  ),
  acts: fc.boolean(),
  afterMs: fc.constantFrom(0, 100, 3000, 29_000, 60_000),
});

const story = fc.record({
  kind: fc.constantFrom<Kind>('ticket', 'contact', 'list', 'entry', 'reply', 'note'),
  /** Which rows are alike: rows of one number have the same content. */
  rows: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 8 }),
  troubles: fc.array(trouble, { maxLength: 12 }),
  failingReads: fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 5 }),
  tidies: fc.boolean(),
  aheadMs: fc.integer({ min: -4000, max: 4000 }),
  /** After how many requests each run is killed, before or after the service has heard of the last one. */
  kills: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 12 }),
      heard: fc.boolean(),
      /** A power cut: the machine starts again, and of the lines that no sync has covered only so many are left. */
      powerCut: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
  concurrency: fc.integer({ min: 1, max: 4 }),
});

type Kill = { readonly at: number; readonly heard: boolean; readonly powerCut: number | undefined };

/**
 * Runs svc until it ends, or until its process would be gone: undefined, and the world as the next one finds it. What is
 * left of the run ends in its old folder, where nobody looks.
 */
async function runOrKill(world: World, argv: readonly string[], kill: Kill | undefined) {
  let count = 0;
  let die = (): void => {};
  let release = (): void => {};
  const dead = new Promise<undefined>((resolve) => {
    die = () => resolve(undefined);
  });
  const released = new Promise<never>((_, reject) => {
    release = () => reject(new Error('The process is gone.'));
  });
  released.catch(() => {});
  const mortal: World = {
    ...world,
    async exchange(request) {
      if (kill && count > kill.at) return released;
      if (kill && count++ === kill.at) {
        if (kill.heard) await world.exchange(request);
        die();
        return released;
      }
      return world.exchange(request);
    },
  };
  const running = svc(mortal, argv);
  const ran = await Promise.race([running, dead]);
  const next = ran ? world : afterDeath(world, kill?.powerCut);
  release();
  await running;
  return { ran, next };
}

/** What stood on the disk when the process was gone. The lock of a dead process holds nobody up. */
function afterDeath(world: World, powerCut: number | undefined): World {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  cpSync(world.folder, folder, { recursive: true });
  const bulk = join(folder, 'state', 'bulk');
  for (const name of existsSync(bulk) ? readdirSync(bulk) : []) {
    if (name.endsWith('.lock')) rmSync(join(bulk, name), { recursive: true });
    else if (powerCut !== undefined) cutPower(join(bulk, name), powerCut);
  }
  return { ...world, folder };
}

/** Takes the lines that no sync has covered, but for the first few. The journal is then of another start of the machine. */
function cutPower(path: string, left: number): void {
  const lines = readFileSync(path, 'utf8').replaceAll('\0', '').split('\n').filter(Boolean);
  const isSynced = (line: string, at: number) => {
    const { sent, meant, finished, svc_bulk, svc_bulk_bytes } = JSON.parse(line);
    // Only the first leaving of a row that was meant to go is not waited for.
    const latest = lines.slice(0, at).findLast((other) => sent && other.includes(`"${sent.row}"`));
    return Boolean(meant || finished || svc_bulk || svc_bulk_bytes || (sent && !latest?.startsWith('{"meant"')));
  };
  const kept = lines.slice(0, lines.findLastIndex(isSynced) + 1 + left);
  const text = kept.map((line) => `${line.replace(/"boot":"\w*"/u, `"boot":"${'0'.repeat(32)}"`)}\n`).join('');
  writeFileSync(path, text);
}

test('however often it fails and is killed: rows = done + rejected + unknown + unsent, and nothing twice', async () => {
  const endings = { done: 0, unknown: 0, killed: 0, cut: 0 };
  await fc.assert(
    fc.asyncProperty(story, async ({ kind, rows, kills, failingReads, concurrency, ...given }) => {
      const clock = virtualClock();
      const service = modelService({ ...given, failingReads: new Set(failingReads), ticks: clock.ticks });
      let world = createWorld(service.exchange, { clock });
      const file = join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'rows.jsonl');
      const { words, row } = commands[kind];
      writeFileSync(file, rows.map((i) => `${JSON.stringify(row(i))}\n`).join(''));
      const argv = [...words.split(' '), '--from', file, '--yes', '--json', '--concurrency', String(concurrency)];
      // Deaths first, then runs until everything is settled.
      const runs = [...kills, ...new Array(3).fill(undefined)];
      let last: { done: number; unknown: number; unsent: number; rejected: number; rows: number } | undefined;
      for (const kill of runs) {
        const { ran, next } = await runOrKill(world, argv, kill);
        world = next;
        if (!ran) endings[kill?.powerCut === undefined ? 'killed' : 'cut']++;
        if (ran) expect(ran.stderr).not.toContain('damaged');
        // Nothing is said where nothing could be read before the first row.
        if (!ran || ran.stdout === '') continue;
        last = JSON.parse(ran.stdout) as NonNullable<typeof last>;
        expect(last.done + last.rejected + last.unknown + last.unsent).toBe(rows.length);
        expect(last.rejected).toBe(0);
        if (last.unknown > 0) expect(ran.exitCode).toBe(9);
        else if (last.unsent > 0) expect(ran.exitCode, ran.stderr).not.toBe(0);
        else expect(ran.exitCode, ran.stderr).toBe(0);
        if (last.unsent === 0 && last.unknown === 0) break;
      }
      if (!last) return;
      endings.done += last.done;
      endings.unknown += last.unknown;
      const held = service.held(kind);
      expect(held).toBeGreaterThanOrEqual(last.done);
      expect(held).toBeLessThanOrEqual(last.done + last.unknown);
    }),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? 60) },
  );
  // A model in which one of them hardly happens would prove nothing.
  for (const times of Object.values(endings)) expect(times).toBeGreaterThan(0);
}, 120_000);
