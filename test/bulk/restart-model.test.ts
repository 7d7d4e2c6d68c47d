// What goes again behind a --restart that was stopped, in stories of files, lists and forms that share rows: each row once for each
// --restart of a file, whatever the others do, and none for another file.
import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { atOnce, type Meets, reply, runs } from './restarting.ts';

const people = { A: ['8', 'Ann'], B: ['9', 'Bob'], C: ['12', 'Cy'] } as const;
type Row = keyof typeof people;
type Form = 'plain' | 'map' | 'template';
const forms: Readonly<Record<Form, readonly [header: string, greeting: string]>> = {
  plain: ['id,body', 'Hello '],
  map: ['id,text', 'Hello '],
  template: ['id,name', ''],
};

type File = { readonly path: string; readonly form: Form; readonly rows: readonly Row[] };
const file = (path: string, form: Form, ...rows: readonly Row[]): File => ({ path, form, rows });
const own = file('t.csv', 'plain', 'A', 'B');
const files: readonly File[] = [
  ...[own, own, own],
  ...[file('t.csv', 'plain', 'A', 'B', 'C'), file('t.csv', 'map', 'A', 'B'), file('t.csv', 'template', 'A', 'B')],
  ...[file('u.csv', 'plain', 'A', 'B'), file('o.csv', 'plain', 'C', 'B', 'A'), file('m.csv', 'map', 'A', 'B')],
  ...[file('p.csv', 'template', 'B', 'A'), file('-', 'plain', 'A', 'B'), file('-', 'plain', 'B', 'C')],
];

/** `stop`: before how many rows the service is away. */
const step = fc.record({
  of: fc.constantFrom(...files),
  restart: fc.constantFrom(false, false, false, true),
  stop: fc.constantFrom(undefined, undefined, 0, 1),
});
const story = fc.tuple(
  fc.record({ of: fc.constantFrom(...files), restart: fc.constant(false), stop: fc.constant(undefined) }),
  fc.record({ of: fc.constantFrom(...files), restart: fc.constant(true), stop: fc.constantFrom(0, 1) }),
  fc.array(step, { minLength: 1, maxLength: 4 }),
);
type Step = { readonly of: File; readonly restart: boolean; readonly stop: number | undefined };

/** A --restart that was stopped. `names`: the files that go on with it; `left`: of its rows. */
type Stopped = {
  readonly settings: string;
  readonly names: Set<string>;
  readonly contents: Set<string>;
  readonly rows: Set<Row>;
  readonly left: Set<Row>;
};

async function play(steps: readonly Step[], met: { goesOn: number; stays: number; whole: number }): Promise<void> {
  const { run, put } = runs();
  const told: string[] = [];
  const known = new Set<Row>();
  /** Names of which a run has surely left a journal, or may have. */
  const ran = new Map<string, 'surely' | 'perhaps'>();
  /** Contents of files that were begun again once more: a copy may go on with what it was a copy of, or not. */
  const replaced = new Set<string>();
  let stopped: Stopped[] = [];
  for (const { of, restart, stop } of steps) {
    const { path, form, rows } = of;
    const content = `${form} ${rows}`;
    const name = path === '-' ? content : path;
    const settings = form === 'template' ? form : '';
    const ofSettings = stopped.filter((one) => one.settings === settings);
    const isCopy = ({ names, contents }: Stopped) => !names.has(name) && contents.has(content);
    // A run that had nothing to do leaves a journal only where it goes on in one.
    if (ran.get(name) === 'perhaps' && ofSettings.some(isCopy)) return;
    if (!ran.has(name) && replaced.has(settings + content)) return;
    const mine = ofSettings.filter((one) => one.names.has(name) || (isCopy(one) && !ran.has(name)));
    // Of two names one begins again: the other goes on with what it had.
    if (restart && mine.some(({ names }) => names.has(name) && names.size > 1)) return;
    const isLeft = (row: Row) => mine.some(({ left }) => left.has(row));
    const due = rows.filter((row) => restart || isLeft(row) || !known.has(row));
    const goesOn = !restart && due.some((row) => known.has(row));
    const [header, greeting] = forms[form];
    const text = [header, ...rows.map((row) => `${people[row][0]},${greeting}${people[row][1]}`), ''].join('\n');
    const template = () => ['--template', put('hello.md', 'Hello {{name}}')];
    const flags = { plain: [], map: ['--map', 'text=body'], template: form === 'template' ? template() : [] }[form];
    const meets: readonly Meets[] = stop === undefined ? [] : [...new Array(stop).fill('is done'), ...atOnce];
    const { exitCode, sent, stderr } = await run(
      reply,
      path,
      text,
      [...flags, ...(restart ? ['--restart'] : [])],
      meets,
    );
    const bodies = sent.slice(0, stop).map((body) => JSON.parse(body).body.replace('Hello ', ''));
    const went = rows.filter((row) => bodies.includes(people[row][1]));
    told.push(
      `${name} ${content} ${restart ? '--restart' : ''} ${stop ?? ''} -> ${exitCode}: ${went} (due: ${due})\n${stderr}`,
    );
    expect(exitCode === 2 ? [] : [went, bodies.length], told.join('\n')).toEqual(
      exitCode === 2 ? bodies : [due.slice(0, stop), went.length],
    );
    if (exitCode === 2) continue;
    const isWhole = went.length === due.length;
    expect(exitCode === 0, told.join('\n')).toBe(isWhole);
    if (goesOn) met.goesOn++;
    else if (!restart && due.length === 0 && stopped.length > 0) met.stays++;
    for (const row of went) {
      known.add(row);
      for (const { left } of stopped) left.delete(row);
    }
    const [last] = mine.filter((one) => rows.some((row) => one.rows.has(row))).slice(-1);
    if (restart) {
      // Of a copy it is another one.
      for (const one of mine.filter(({ names }) => names.has(name))) {
        for (const row of rows) for (const some of [one.rows, one.left]) some.delete(row);
        for (const then of one.contents) replaced.add(settings + then);
      }
      const left = new Set(rows.filter((row) => !went.includes(row)));
      if (!isWhole)
        stopped.push({ settings, names: new Set([name]), contents: new Set([content]), rows: new Set(rows), left });
    } else if (last && isWhole) {
      met.whole++;
      stopped = stopped.filter((one) => one !== last);
    } else {
      last?.names.add(name);
      last?.contents.add(content);
    }
    if (sent.length > 0) ran.set(name, 'surely');
    else if (!ran.has(name)) ran.set(name, 'perhaps');
  }
}

test('behind a --restart that was stopped each of its rows goes once, in its own file alone', {
  tags: ['long'],
  timeout: 3_600_000,
}, async () => {
  const met = { goesOn: 0, stays: 0, whole: 0 };
  await fc.assert(
    fc.asyncProperty(story, ([first, second, more]) => play([first, second, ...more], met)),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? draws(20, 120)) },
  );
  for (const times of Object.values(met)) expect(times).toBeGreaterThan(0);
});
