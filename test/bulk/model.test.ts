import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { type Kind, modelService, type Trouble } from '../http/model-service.ts';
import { createWorld, svc, virtualClock, type World } from '../svc.ts';
import { draws } from '../thorough.ts';
import { runOrKill } from './killing.ts';

const dayMs = 24 * 60 * 60 * 1000;

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
    '429 page',
    'refused',
  ),
  acts: fc.boolean(),
  afterMs: fc.constantFrom(0, 100, 3000, 29_000, 60_000),
});

/** How the rows come to a run, with which login, and by what clock. */
const guise = fc.record({
  file: fc.constantFrom(
    'as it was',
    'renamed',
    'linked',
    'piped',
    'first rows alone',
    'other order',
    'as JSON texts',
    'one more column',
  ),
  login: fc.constantFrom('key', 'rotated key', 'oauth', 'blind'),
  clockDays: fc.constantFrom(0, 0, 0, 100, -100),
});
type Guise = typeof guise extends fc.Arbitrary<infer T> ? T : never;

const logins: Readonly<Record<Guise['login'], Record<string, string | undefined>>> = {
  key: { SVC_API_KEY: 'key_acme' },
  'rotated key': { SVC_API_KEY: 'key_acme_2' },
  oauth: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: 'oauth' },
  blind: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: 'blind' },
};

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
      /** Of the lines that no sync has covered only so many are left: the disk goes away, alone or with the machine. */
      left: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
      loses: fc.constantFrom('power', 'disk'),
      /** What becomes of a journal before the next run, until somebody puts it right. */
      damage: fc.constantFrom('none', 'none', 'empty', 'cut'),
    }),
    { maxLength: 3 },
  ),
  guises: fc.array(guise, { minLength: 6, maxLength: 6 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
});

type Kill = {
  readonly at: number;
  readonly heard: boolean;
  readonly left: number | undefined;
  readonly loses: 'power' | 'disk';
  readonly damage: 'none' | 'empty' | 'cut';
};
type Options = Parameters<typeof svc>[2];

/** Takes the lines that no sync has covered, but for the first few. After a power cut it is another start of the machine. */
function loseLines(path: string, left: number, loses: Kill['loses']): void {
  const lines = readFileSync(path, 'utf8').replaceAll('\0', '').split('\n').filter(Boolean);
  const isSynced = (line: string, at: number) => {
    const { sent, meant, finished, run, again, renamed, svc_bulk, svc_bulk_bytes } = JSON.parse(line);
    // Only the first leaving of a row that was meant to go is not waited for.
    const latest = lines.slice(0, at).findLast((other) => sent && other.includes(`"${sent.row}"`));
    const isOnDisk = meant || finished || run || again || renamed || svc_bulk || svc_bulk_bytes;
    return Boolean(isOnDisk || (sent && !latest?.startsWith('{"meant"')));
  };
  // What the mark counts is on disk: a run that came to its end has synced all that it noted.
  const surely = Number(/\d{12}/u.exec(lines[0] ?? ''));
  const isMarked = (at: number) => Buffer.byteLength(lines.slice(0, at + 1).join('\n')) < surely;
  const kept = lines.slice(0, lines.findLastIndex((line, at) => isMarked(at) || isSynced(line, at)) + 1 + left);
  const ofBoot = (line: string) =>
    loses === 'disk' ? line : line.replace(/"boot":"\w*"/u, `"boot":"${'0'.repeat(32)}"`);
  writeFileSync(path, kept.map((line) => `${ofBoot(line)}\n`).join(''));
}

/** A journal that is empty or cut short stops the run, which sends nothing. Then somebody puts it right. */
async function withDamage(
  world: World,
  damage: Kill['damage'],
  run: (world: World) => Promise<string>,
): Promise<boolean> {
  const bulk = join(world.folder, 'state', 'bulk');
  const name = existsSync(bulk) ? readdirSync(bulk).find((one) => one.endsWith('.jsonl')) : undefined;
  if (damage === 'none' || name === undefined) return false;
  const path = join(bulk, name);
  const text = readFileSync(path);
  truncateSync(path, damage === 'empty' ? 0 : Number(/\d{12}/u.exec(text.toString())) - 1);
  const said = await run({ ...world, exchange: noWrites(world) });
  writeFileSync(path, text);
  expect(said).toMatch(/is empty|has lost its end/u);
  return true;
}

const noWrites =
  ({ exchange }: World): World['exchange'] =>
  (request) => {
    expect(request.method).toBe('GET');
    return exchange(request);
  };

type Given = {
  readonly world: World;
  readonly lines: readonly object[];
  readonly folder: string;
  file: string;
  names: number;
};

/** The same rows under another guise: what svc is called with. The last run always has all of them. */
function disguised(given: Given, { file: how, login }: Guise, isLast: boolean): [from: readonly string[], Options] {
  const { lines, folder, file } = given;
  const env = logins[login];
  const more = how === 'one more column' ? ['--map', 'grp=ignore'] : [];
  const first = how === 'first rows alone' && !isLast ? lines.slice(0, Math.ceil(lines.length / 2)) : lines;
  const text = first.map((line) => `${JSON.stringify(asWritten(line, how))}\n`).join('');
  const fresh = join(folder, `rows-${given.names++}.jsonl`);
  if (how === 'piped') return [['--from', '-'], { env, stdin: text }];
  if (how === 'renamed') {
    renameSync(file, fresh);
    given.file = fresh;
  } else if (how === 'linked') {
    symlinkSync(file, fresh);
    return [['--from', fresh], { env }];
  } else if (how !== 'as it was') {
    writeFileSync(fresh, text);
    return [['--from', fresh, ...more], { env }];
  }
  return [['--from', given.file], { env }];
}

function asWritten(line: object, how: Guise['file']): object {
  const fields = Object.entries(line);
  if (how === 'other order') return Object.fromEntries(fields.reverse());
  if (how === 'one more column') return { ...line, grp: `of ${fields.length}` };
  return how === 'as JSON texts' ? Object.fromEntries(fields.map(([key, value]) => [key, String(value)])) : line;
}

test('however often it fails, is killed and comes in another guise: rows = done + rejected + unknown + unsent, and nothing twice', async () => {
  const endings = { done: 0, unknown: 0, killed: 0, lost: 0, damaged: 0, reset: 0 };
  await fc.assert(
    fc.asyncProperty(story, async ({ kind, rows, kills, failingReads, concurrency, guises, ...given }) => {
      const clock = virtualClock();
      const service = modelService({ ...given, failingReads: new Set(failingReads), ticks: clock.ticks });
      let world = createWorld(service.exchange, { clock });
      const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
      const { words, row } = commands[kind];
      const start: Given = { world, lines: rows.map(row), folder, file: join(folder, 'rows.jsonl'), names: 0 };
      writeFileSync(start.file, start.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const more = ['--yes', '--json', '--concurrency', String(concurrency)];
      // Deaths first, then runs until everything is settled.
      const runs = [...kills, ...new Array(3).fill(undefined)];
      let last: { done: number; unknown: number; unsent: number; rejected: number; rows: number } | undefined;
      for (const [at, kill] of runs.entries()) {
        const as = guises[at] as Guise;
        const [from, options] = disguised(start, as, kill === undefined);
        clock.set(as.clockDays * dayMs);
        const loses = (journal: string) =>
          kill?.left === undefined ? undefined : loseLines(journal, kill.left, kill.loses);
        const { ran, next } = await runOrKill(
          world,
          [...words.split(' '), ...from, ...more],
          kill && { ...kill, loses },
          options,
        );
        clock.set(-as.clockDays * dayMs);
        world = next;
        if (!ran) endings[kill?.left === undefined ? 'killed' : 'lost']++;
        const isDamaged = await withDamage(world, kill?.damage ?? 'none', async (damaged) => {
          const { exitCode, stderr } = await svc(damaged, [...words.split(' '), ...from, ...more], options);
          expect(exitCode).toBe(1);
          return stderr;
        });
        if (isDamaged) endings.damaged++;
        if (ran) expect(ran.stderr).not.toMatch(/is damaged|is empty|has lost/u);
        // Nothing is said where nothing could be read before the first row.
        if (!ran || ran.stdout === '') continue;
        const told = JSON.parse(ran.stdout) as NonNullable<typeof last>;
        expect(told.done + told.rejected + told.unknown + told.unsent).toBe(told.rows);
        expect(told.rejected).toBe(0);
        if (told.unknown > 0) expect(ran.exitCode).toBe(9);
        else if (told.unsent > 0) expect(ran.exitCode, ran.stderr).not.toBe(0);
        else expect(ran.exitCode, ran.stderr).toBe(0);
        if (told.rows < rows.length) continue;
        last = told;
        if (told.unsent === 0 && told.unknown === 0) break;
      }
      if (!last) return;
      endings.done += last.done;
      endings.unknown += last.unknown;
      // A service that is reset at the end has none of the rows that the history calls done.
      if (last.done > 0 && ['ticket', 'contact', 'entry'].includes(kind)) {
        const reset = modelService({ ...given, troubles: [], failingReads: new Set(), ticks: clock.ticks });
        const [from, options] = disguised(start, guises.at(-1) as Guise, true);
        const flags = [...more, '--quiet'].filter((flag) => flag !== '--yes');
        const ran = await svc(
          { ...world, exchange: reset.exchange },
          [...words.split(' '), ...from, ...flags],
          options,
        );
        expect(ran, ran.stderr).toMatchObject({ exitCode: 2, stdout: '' });
        expect(reset.writes()).toBe(0);
        if (ran.stderr.includes('may have been reset')) endings.reset++;
      }
      const held = service.held(kind);
      expect(held).toBeGreaterThanOrEqual(last.done);
      expect(held).toBeLessThanOrEqual(last.done + last.unknown);
    }),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? draws(20, 60)) },
  );
  // A model in which one of them hardly happens would prove nothing.
  for (const times of Object.values(endings)) expect(times).toBeGreaterThan(0);
}, 3_600_000);
