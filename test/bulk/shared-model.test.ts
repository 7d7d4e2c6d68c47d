// Files that share rows, in stories of everything that can happen between them: no plain command sends a row twice, exit 0
// means that the service holds every row or a draft of it waits, and a row in doubt stays so until it is found or answered well.
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { fc } from '../chance.ts';
import { refusals } from '../refusing.ts';
import { few, sandboxWorld, wholeAccount } from '../sandbox-world.ts';
import { atDesk, type Shown } from '../sends/drafting.ts';
import type { World } from '../svc.ts';
import { draws } from '../thorough.ts';
import { runOrKill } from './killing.ts';

const names = ['Ann', 'Bob', 'Cy', 'Di'];
const ids = [8, 9, 12, 11];

type Form = { readonly header: string; readonly cells: (i: number) => string; readonly flags: readonly string[] };
const [hello, bye] = [(i: number) => `Hello ${names[i]}`, (i: number) => `Bye ${names[i]}`];

/** The same rows in other columns. `alt`: the same cells as `both`, and another text is sent; `status`: a like row. */
const forms: Readonly<Record<'plain' | 'status' | 'map' | 'template' | 'both' | 'alt', Form>> = {
  plain: { header: 'id,body', cells: hello, flags: [] },
  status: { header: 'id,body', cells: hello, flags: ['--status', 'pending'] },
  map: { header: 'id,text', cells: hello, flags: ['--map', 'text=body'] },
  template: { header: 'id,name', cells: (i) => String(names[i]), flags: ['--template', 'hello.md'] },
  both: { header: 'id,body,more', cells: (i) => `${hello(i)},${bye(i)}`, flags: ['--map', 'more=ignore'] },
  alt: {
    header: 'id,body,more',
    cells: (i) => `${hello(i)},${bye(i)}`,
    flags: ['--map', 'body=ignore', '--map', 'more=body'],
  },
};

const andStatus = ' + status';
const likeOf = (key: string) => (key.endsWith(andStatus) ? key.replace(andStatus, '') : key + andStatus);

type Fault = 'none' | 'lost' | 'cut' | 'vanished' | '422' | '429';

const run = fc.record({
  does: fc.constant('run' as const),
  file: fc.constantFrom('x', 'x', 'y', 'z'),
  form: fc.constantFrom<keyof typeof forms>('plain', 'plain', 'plain', 'status', 'map', 'template', 'both', 'alt'),
  rows: fc.constantFrom([0, 1], [0, 1], [0], [0, 1, 2], [1, 2], [0, 1, 2, 3]),
  flags: fc.constantFrom<readonly string[]>(
    ...new Array(6).fill([]),
    ['--again'],
    ['--again'],
    ['--restart'],
    ['--restart'],
    ['--retry-unknown'],
    ['--retry-unknown'],
    ['--again', '--retry-unknown'],
  ),
  draft: fc.constantFrom(false, false, true),
  more: fc.constantFrom<readonly string[]>([], [], [], ['--strict'], ['--max-sends', '1']),
  isBad: fc.constantFrom(false, false, false, false, false, true),
  faults: fc.array(fc.constantFrom<Fault>('none', 'none', 'lost', 'cut', 'vanished', '422', '429'), { maxLength: 3 }),
  kill: fc.option(fc.record({ at: fc.integer({ min: 0, max: 12 }), heard: fc.boolean() }), { freq: 3, nil: undefined }),
  account: fc.constantFrom(1, 1, 1, 1, 1, 2),
});
const decision = fc.record({
  does: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const),
  which: fc.nat({ max: 5 }),
  fault: fc.constantFrom<Fault>('none', 'none', '422', 'lost', 'vanished'),
  account: fc.constantFrom(1, 1, 1, 2),
});
const renaming = fc.record({ does: fc.constant('rename' as const), file: fc.constantFrom('x', 'y', 'z') });
const story = fc.record({
  words: fc.constantFrom('tickets reply', 'tickets note'),
  steps: fc.array(fc.oneof({ weight: 6, arbitrary: run }, { weight: 3, arbitrary: decision }, renaming), {
    minLength: 2,
    maxLength: 9,
  }),
});
type Step<T> = T extends fc.Arbitrary<infer S> ? S : never;
type Run = Step<typeof run>;

const isWrite = ({ method, url }: HttpRequest) => method === 'POST' && /\/tickets\/\d+\/(?:replies|notes)$/u.test(url);
const gateway: HttpResponse = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Gateway</html>' };
const cut: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

/** Two accounts of a service, each with what it holds by the rows' requests, and what nobody knows. */
function twoAccounts() {
  const first = sandboxWorld({ rateLimit: 'off', seed: few });
  const second = sandboxWorld({ rateLimit: 'off', seed: few, now: () => first.clock.now() });
  const ownKey = String(first.env.SVC_API_KEY);
  const held = new Map<string, number>();
  /** Of requests: how often one left whose answer ran nothing, since one was answered well. */
  const doubts = new Set<string>();
  const told: string[] = [];
  let faults: Fault[] = [];
  let last = '';
  let beside = '';
  const accountOf = ({ headers }: HttpRequest) => (JSON.stringify(headers).includes('key_2') ? 2 : 1);
  const exchange: World['exchange'] = async (request) => {
    const account = accountOf(request);
    if (account === 2 && request.url.endsWith('/platform/account'))
      return { status: 200, headers: { 'content-type': 'application/json' }, body: wholeAccount.replace(':1', ':2') };
    const there: World['exchange'] = (asked) => {
      const headers = JSON.parse(JSON.stringify(asked.headers).replace('key_2', ownKey));
      return account === 1 ? first.exchange(asked) : second.exchange({ ...asked, headers });
    };
    last = '';
    if (!isWrite(request)) return there(request);
    const key = `${account} ${/\d+/u.exec(new URL(request.url).pathname)} ${JSON.parse(String(request.body)).body}${beside}`;
    last = key;
    const fault = faults.shift() ?? 'none';
    told.push(`  ${key}: ${fault}`);
    if (fault === '422' || fault === '429') return refusals[`HTTP ${fault}`] ?? cut;
    if (fault === 'vanished') {
      doubts.add(key);
      return gateway;
    }
    const answer = await there({ ...request, signal: undefined });
    expect('lost' in answer || answer.status, told.join('\n')).toBeLessThan(300);
    held.set(key, (held.get(key) ?? 0) + 1);
    if (fault === 'none') doubts.delete(key);
    else doubts.add(key);
    if (fault === 'none') return answer;
    return fault === 'lost' ? gateway : cut;
  };
  return {
    world: { ...first, exchange },
    clock: first.clock,
    held,
    doubts,
    told,
    /** The request that was made last, where it was for a row. */
    last: () => last,
    /** `isBeside`: what is sent sets a status, too. */
    meets: (next: readonly Fault[], isBeside = false) => {
      faults = [...next];
      beside = isBeside ? andStatus : '';
    },
  };
}

type Met = Record<'plain' | 'done' | 'doubt' | 'killed' | 'refused' | 'drafted' | 'approved', number>;

async function play({ words, steps }: Step<typeof story>, met: Met): Promise<void> {
  const service = twoAccounts();
  const { held, doubts, told, clock } = service;
  let world: World = service.world;
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  writeFileSync(join(folder, 'hello.md'), 'Hello {{name}}');
  const paths = new Map(['x', 'y', 'z'].map((name) => [name, join(folder, `${name}.csv`)]));
  const written = new Set<string>();
  /** Files of which a run with --restart was stopped: they go on with it. */
  const restarting = new Set<string>();
  /** What they hold, with which a file goes on that was never run. */
  const begunAgain = new Set<string>();
  const wasRun = new Set<string>();
  /** Rows of runs that were killed: svc may not know whether they left. */
  const perhaps = new Set<string>();
  /** Rows in doubt beside which one like them has left: they hold up no more. */
  const passed = new Set<string>();
  /** Drafts of what was asked for once more. */
  const asked = new Set<number>();
  const envOf = (account: number) => (account === 1 ? {} : { env: { SVC_API_KEY: 'key_2' } });
  const drafts = async (account: number): Promise<readonly Shown[]> =>
    JSON.parse((await atDesk(world).run('drafts list --all --json', envOf(account))).stdout || '[]');
  const keyOf = (account: number, { body, ...draft }: Shown & { record?: { id: number } }) =>
    `${account} ${draft.record?.id} ${body}${draft.steps.length > 1 ? andStatus : ''}`;
  const count = (key: string) => held.get(key) ?? 0;
  const say = (text: string) => told.push(text);
  const context = () => `${words}\n${told.join('\n')}`;

  const runs = async (step: Run): Promise<void> => {
    const { file, rows: some, flags, more, isBad, faults, kill, account } = step;
    const form = words === 'tickets note' && step.form === 'status' ? 'plain' : step.form;
    const isDraft = step.draft && words === 'tickets reply';
    const rows = file === 'x' ? some : file === 'y' ? [...some].reverse() : [...some.slice(1), ...some.slice(0, 1)];
    const { header, cells, flags: ofForm } = forms[form];
    const path = paths.get(file) ?? '';
    const lines = [header, ...rows.map((i) => `${ids[i]},${cells(i)}`), ...(isBad ? ['abc,'] : [])];
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    written.add(file);
    await clock.sleep(1_200_000);
    const keys = rows.map(
      (i) => `${account} ${ids[i]} ${form === 'alt' ? bye(i) : hello(i)}${form === 'status' ? andStatus : ''}`,
    );
    const before = new Map(held);
    const [doubtful, draftsBefore] = [new Set(doubts), await drafts(account)];
    const template = ofForm.map((one) => one.replace('hello.md', join(folder, 'hello.md')));
    const fast = ['--yes', '--json', '--concurrency', '1', '--settle', '1', '--max-wait', '3'];
    const argv = [...words.split(' '), '--from', path, ...template, ...fast, ...flags, ...more];
    if (isDraft) argv.push('--draft');
    say(`${file} ${form} ${rows} ${isBad ? 'bad' : ''} ${[...flags, ...more]} ${isDraft ? 'draft' : ''} of ${account}`);
    service.meets(faults, form === 'status');
    const { ran, next } = await runOrKill(world, argv, kill, envOf(account));
    const isDead = ran === undefined;
    // Its answer did not come.
    if (isDead && kill?.heard && service.last()) doubts.add(service.last());
    world = { ...next, exchange: world.exchange };
    service.meets([]);
    say(
      `-> ${ran ? ran.exitCode : `killed at ${kill?.at} ${kill?.heard}`} ${ran?.stdout.replace(/\s+/gu, ' ')}\n${ran?.stderr}`,
    );
    const draftsNow = await drafts(account);
    const isCopy = begunAgain.has(`${account} ${lines}`) && !wasRun.has(`${account} ${path}`);
    const goesOn = isCopy || restarting.has(`${account} ${file}`);
    wasRun.add(`${account} ${path}`);
    const isAsked = flags.some((flag) => flag !== '--retry-unknown') || goesOn;
    for (const { id } of draftsNow.slice(draftsBefore.length)) if (isAsked || flags.length > 0) asked.add(id);
    // --restart sends beside a draft that waits, and says so first.
    if (isAsked) for (const draft of draftsBefore) if (keys.includes(keyOf(account, draft))) asked.add(draft.id);
    const now = [...held].filter(([key, times]) => times > (before.get(key) ?? 0));
    for (const [key, times] of now) {
      const then = before.get(key) ?? 0;
      if (isAsked) expect(times - then, context()).toBe(1);
      else if (flags.length > 0 && (doubtful.has(key) || perhaps.has(key))) expect(times - then, context()).toBe(1);
      else expect([then, times], context()).toEqual([0, 1]);
      expect(keys, context()).toContain(key);
    }
    const heldUp = (key: string) => doubtful.has(likeOf(key)) && count(likeOf(key)) === 0 && !passed.has(likeOf(key));
    if (!flags.some((flag) => flag !== '--again') && !goesOn)
      for (const [key] of now) expect([key, heldUp(key)], context()).toEqual([key, false]);
    else for (const [key] of now) passed.add(likeOf(key));
    if ((flags.includes('--restart') || isCopy) && ran?.exitCode !== 2) {
      restarting.add(`${account} ${file}`);
      begunAgain.add(`${account} ${lines}`);
    }
    if (isDead) {
      for (const key of keys) perhaps.add(key);
      met.killed++;
      return;
    }
    // Nothing is ran of rows where nothing could be read before the first one.
    if (ran?.stdout === '' && ran.exitCode !== 2) {
      expect(now, context()).toEqual([]);
      return;
    }
    if (flags.length === 0) met.plain++;
    if (draftsNow.length > draftsBefore.length) met.drafted++;
    if (ran?.exitCode === 2) {
      expect(now, context()).toEqual([]);
      met.refused++;
      return;
    }
    const waits = new Set(draftsNow.filter(({ state }) => state === 'waiting').map((draft) => keyOf(account, draft)));
    if (ran?.exitCode === 0) {
      restarting.delete(`${account} ${file}`);
      for (const key of keys) expect([key, count(key) > 0 || waits.has(key)], context()).toEqual([key, true]);
      met.done++;
    }
    const isOpen = (key: string) =>
      doubts.has(key) && !waits.has(key) && (words === 'tickets note' || count(key) === 0);
    if (keys.some(isOpen) && !more.includes('--strict')) {
      expect([keys.filter(isOpen), ran?.exitCode], context()).toEqual([keys.filter(isOpen), 9]);
      met.doubt++;
    }
  };

  for (const step of steps) {
    if (step.does === 'run') await runs(step);
    else if (step.does === 'rename') {
      if (!written.has(step.file)) continue;
      const path = join(folder, `${step.file}-${told.length}.csv`);
      renameSync(paths.get(step.file) ?? '', path);
      paths.set(step.file, path);
      say(`rename ${step.file}`);
    } else {
      const { does, which, fault, account } = step;
      const all = (await drafts(account)).filter(({ state }) => state === 'waiting' || state === 'refused');
      const draft = all[which % Math.max(1, all.length)];
      if (!draft) continue;
      const key = keyOf(account, draft);
      const then = count(key);
      service.meets([fault], key.endsWith(andStatus));
      await clock.sleep(60_000);
      const desk = atDesk(world);
      const fast = ['--settle', '1', '--max-wait', '3'];
      const shown = await desk.shown(draft.id, envOf(account));
      const line =
        does === 'approve'
          ? ['drafts', 'approve', String(draft.id), '--digest', shown.digest, ...fast]
          : ['drafts', 'reject', String(draft.id)];
      const ran = await desk.run(line, envOf(account));
      service.meets([]);
      say(`${does} ${draft.id} (${key}) ${fault} -> ${ran.exitCode}\n${ran.stderr}`);
      if (count(key) > then) met.approved++;
      if (count(key) > then && !asked.has(draft.id)) expect([then, count(key)], context()).toEqual([0, 1]);
    }
  }
}

test('files that share rows: nothing twice by a plain command, no false success, and no doubt forgotten', {
  tags: ['long'],
  timeout: 3_600_000,
}, async () => {
  const met: Met = { plain: 0, done: 0, doubt: 0, killed: 0, refused: 0, drafted: 0, approved: 0 };
  await fc.assert(
    fc.asyncProperty(story, (one) => play(one, met)),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? draws(14, 60)) },
  );
  // A model in which one of them hardly happens would prove nothing.
  for (const times of Object.values(met)) expect(times).toBeGreaterThan(0);
});
