// What --again sends, in stories of two files in several forms: a row once more where this file has not sent it with this request.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { svc } from '../svc.ts';
import { draws } from '../thorough.ts';
import { desk } from './drafting.ts';

const names = ['Ann', 'Bob', 'Cy', 'Di'];
const ids = [8, 9, 12, 11];

/** The same rows in other columns. `alt`: the same cells as `both`, and another text is sent. */
const forms = {
  plain: { header: 'id,body', cells: (i: number) => [ids[i], `Hello ${names[i]}`], flags: [] },
  map: { header: 'id,text', cells: (i: number) => [ids[i], `Hello ${names[i]}`], flags: ['--map', 'text=body'] },
  template: { header: 'id,name', cells: (i: number) => [ids[i], names[i]], flags: ['--template', 'hello.md'] },
  both: {
    header: 'id,body,more',
    cells: (i: number) => [ids[i], `Hello ${names[i]}`, `Bye ${names[i]}`],
    flags: ['--map', 'more=ignore'],
  },
  alt: {
    header: 'id,body,more',
    cells: (i: number) => [ids[i], `Hello ${names[i]}`, `Bye ${names[i]}`],
    flags: ['--map', 'body=ignore', '--map', 'more=body'],
  },
} as const;

const step = fc.record({
  file: fc.constantFrom('x', 'y'),
  form: fc.constantFrom<keyof typeof forms>('plain', 'plain', 'map', 'template', 'both', 'alt'),
  rows: fc.constantFrom([0, 1, 2], [0, 1, 2], [1, 2], [0, 1, 2, 3]),
  again: fc.boolean(),
  stop: fc.constantFrom(undefined, undefined, 1, 2),
});

test('a row goes once more with --again where its file has not sent it with its request, and else not', {
  tags: ['long'],
}, async () => {
  const met = { again: 0, not: 0, refused: 0, stopped: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 7 }), async (story) => {
      const { world } = desk();
      const put = (name: string, text: string) => writeFileSync(join(world.folder, name), text);
      put('hello.md', 'Hello {{name}}');
      const all: string[] = [];
      const exchange: typeof world.exchange = (request) => {
        if (request.method === 'POST')
          all.push(`${/\d+/u.exec(new URL(request.url).pathname)} ${JSON.parse(String(request.body)).body}`);
        return world.exchange(request);
      };
      const sentBy = new Map<string, Set<string>>();
      const told: string[] = [];
      for (const { file, form, rows: some, again, stop } of story) {
        // A file of the same content could be the same one under another name.
        const rows = file === 'x' ? some : [...some].reverse();
        const { header, cells, flags } = forms[form];
        put(`${file}.csv`, [header, ...rows.map((i) => cells(i).join(','))].map((line) => `${line}\n`).join(''));
        await world.clock.sleep(60_000);
        const before = all.length;
        const line = [
          'tickets',
          'reply',
          '--from',
          join(world.folder, `${file}.csv`),
          ...flags.map((one) => one.replace('hello.md', join(world.folder, 'hello.md'))),
          '--yes',
          '--json',
          '--concurrency',
          '1',
          ...(again ? ['--again'] : []),
          ...(stop ? ['--max-sends', String(stop)] : []),
        ];
        const ran = await svc({ ...world, exchange }, line);
        const sent = all.slice(before);
        const asked = rows.map((i) => `${ids[i]} ${form === 'alt' ? 'Bye' : 'Hello'} ${names[i]}`);
        const own = sentBy.get(file) ?? new Set();
        sentBy.set(file, own);
        const isKnown = (one: string) => (again ? own.has(one) : all.slice(0, before).includes(one));
        const due = asked.filter((one) => !isKnown(one)).slice(0, stop ?? 9);
        told.push(
          `${file} ${form} ${rows} ${again ? '--again' : ''} ${stop ?? ''} -> ${ran.exitCode}: ${sent} (due: ${due})\n${ran.stderr}`,
        );
        const context = told.join('\n');
        if (ran.exitCode === 2) {
          expect(sent, context).toEqual([]);
          if (again) expect(ran.stderr, context).toMatch(/not finished|is not done/u);
          met.refused++;
          continue;
        }
        expect(sent, context).toEqual(due);
        const isWhole = due.length === asked.filter((one) => !isKnown(one)).length;
        expect(ran.exitCode === 0, context).toBe(isWhole);
        if (!isWhole) met.stopped++;
        if (again && sent.some((one) => all.slice(0, before).includes(one))) met.again++;
        if (again && due.length === 0) met.not++;
        for (const one of sent) own.add(one);
      }
    }),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? draws(14, 100)) },
  );
  for (const times of Object.values(met)) expect(times).toBeGreaterThan(0);
});
