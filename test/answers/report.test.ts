// The report against figures that are computed again from the rows that the sandbox was made of.
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { figureNames } from '../../src/answers/figures.ts';
import type { Report } from '../../src/answers/report.ts';
import { outputs } from '../../src/config/outputs.ts';
import { pageForms } from '../../src/config/settings.ts';
import { readSeed } from '../../src/sandbox/store/seed-file.ts';
import { fc } from '../chance.ts';
import { json, ok, onBothEngines, sql } from '../mirror/engines.ts';
import { truth } from '../mirror/truth.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { draws } from '../thorough.ts';
import { whatIsReported, whoWrote } from './report-truth.ts';
import { whatWaits } from './waiting-truth.ts';

type Fields = Record<string, unknown>;
type Rows = Record<string, Fields[]>;

const dayMs = 86_400_000;

/** A zone, and a day near which its clocks change, or one that has a date of its own. */
const places = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2025-10-26'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2025-11-02'],
  // Half an hour.
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Asia/Kolkata', '2026-01-01'],
  ['Pacific/Kiritimati', '2026-02-28'],
  ['UTC', '2028-02-29'],
] as const;

/** A moment within 40 days of the middle; every other one is a whole hour, so that many lie on a border. */
const moment = (middle: number) =>
  fc
    .tuple(fc.integer({ min: -40 * 1440, max: 6 * 1440 }), fc.boolean(), fc.integer({ min: 0, max: 59_999 }))
    .map(([minutes, isRound, ms]) =>
      isRound ? middle + Math.round(minutes / 60) * 3_600_000 : middle + minutes * 60_000 + ms,
    );

const iso = (time: number): string => new Date(time).toISOString();

const thread = (middle: number, sides: readonly [string, string]) =>
  fc
    .array(fc.tuple(moment(middle), fc.boolean()), { maxLength: 5 })
    .map((all) =>
      all.sort(([a], [b]) => a - b).map(([time, isTheirs]) => ({ time, side: sides[isTheirs ? 0 : 1] ?? '' })),
    );

const later = (middle: number) =>
  fc.option(
    fc.integer({ min: 0, max: 400_000 }).map((seconds) => seconds * 1000 + (middle % 2)),
    { nil: undefined },
  );

const ticketOf = (middle: number) =>
  fc.record({
    created: moment(middle),
    answered: later(middle),
    resolved: later(middle),
    status: fc.constantFrom('open', 'pending', 'resolved', 'closed'),
    source: fc.constantFrom('email', 'form', 'api', 'chat'),
    priority: fc.integer({ min: 0, max: 4 }),
    contact: fc.integer({ min: 1, max: 5 }),
    messages: thread(middle, ['in', 'out']),
    isChat: fc.boolean(),
  });

const chatOf = (middle: number) =>
  fc.record({
    created: moment(middle),
    status: fc.constantFrom('open', 'resolved', 'closed'),
    channel: fc.constantFrom('web', 'email', 'whatsapp'),
    mode: fc.constantFrom('ai', 'human'),
    rating: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    contact: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    messages: thread(middle, ['visitor', 'operator']),
  });

const historyNear = ([zone, day]: (typeof places)[number]) => {
  const middle = Date.parse(`${day}T12:00:00Z`);
  return fc.record({
    place: fc.constant({ zone, middle }),
    tickets: fc.array(ticketOf(middle), { maxLength: 14 }),
    chats: fc.array(chatOf(middle), { maxLength: 8 }),
    contacts: fc.array(moment(middle), { minLength: 5, maxLength: 9 }),
    entries: fc.array(fc.tuple(moment(middle), fc.boolean()), { maxLength: 4 }),
    votes: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 }),
    asked: fc.constantFrom('', 'day', 'day --compare', 'week --compare', 'month', 'month --compare', 'dates'),
    wait: fc.integer({ min: 0, max: 20 * 24 }),
  });
};

type History = Parameters<Parameters<ReturnType<typeof historyNear>['map']>[0]>[0];

/** The rows of a sandbox with that history. */
function rowsOf({ tickets, chats, contacts, entries, votes }: History): Rows {
  const account_id = 1;
  let messages = 0;
  const rows: Rows = {
    accounts: [{ account_id, name: 'Acme' }],
    contacts: contacts.map((time, at) => ({
      ...{ contact_id: at + 1, account_id, name: `N${at + 1}`, email: `n${at + 1}@example.com` },
      created_at: iso(time),
    })),
    tickets: tickets.map((one, at) => {
      const chat = one.isChat && at < chats.length ? at + 1 : null;
      const contact = chat === null ? one.contact : (chats[at]?.contact ?? null);
      return {
        ...{ id: at + 1, account_id, ticket_number: `T-${at + 1}`, subject: `S${at + 1}`, description: 'D' },
        ...{
          status: one.status,
          priority: one.priority,
          source: one.source,
          contact_id: contact,
          conversation_id: chat,
        },
        created_at: iso(one.created),
        first_response_at: one.answered === undefined ? null : iso(one.created + one.answered),
        resolved_at: one.resolved === undefined ? null : iso(one.created + one.resolved),
        updated_at: iso(one.created),
        messages:
          chat === null
            ? one.messages.map(({ time, side }) => ({
                id: ++messages,
                direction: side,
                body: 'B',
                created_at: iso(time),
              }))
            : [],
      };
    }),
    conversations: chats.map((one, at) => ({
      ...{ id: at + 1, account_id, status: one.status, channel: one.channel, handling_mode: one.mode },
      ...{ csat_rating: one.rating, contact_id: one.contact },
      ticket_id: tickets[at]?.isChat ? at + 1 : null,
      created_at: iso(one.created),
      updated_at: iso(one.created),
      messages: one.messages.map(({ time, side }) => ({
        id: ++messages,
        sender_type: side,
        body: 'B',
        created_at: iso(time),
      })),
    })),
    changelog: entries.map(([time, isPublished], at) => ({
      ...{ id: at + 1, account_id, title: `Entry ${at + 1}`, slug: `e${at + 1}` },
      ...(isPublished && { status: 'published', published_at: iso(time) }),
    })),
    feedback: votes.map((count, at) => ({ id: at + 1, account_id, title: `Wish ${at + 1}`, vote_count: count })),
  };
  return rows;
}

const localText = (time: string, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(new Date(time));

const shifted = (date: string, days: number): string =>
  iso(Date.parse(`${date}T00:00:00Z`) + days * dayMs).slice(0, 10);

/** The first days of the period, of the one before, and the day after; by the calendar alone. */
function daysOf(asked: string, today: string): readonly [first: string, end: string, before: string] {
  const [span] = asked.split(' ');
  if (span === 'day') return [shifted(today, -1), today, shifted(today, -2)];
  if (span === 'month') {
    const end = `${today.slice(0, 7)}-01`;
    const first = `${shifted(end, -1).slice(0, 7)}-01`;
    return [first, end, `${shifted(first, -1).slice(0, 7)}-01`];
  }
  if (span === 'dates') return [shifted(today, -9), shifted(today, -2), shifted(today, -16)];
  const monday = shifted(today, -((new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7));
  return [shifted(monday, -7), monday, shifted(monday, -14)];
}

async function reportOf(world: SandboxWorld, { asked, place }: History): Promise<Report> {
  const today = localText(iso(world.clock.now().getTime()), place.zone).slice(0, 10);
  const [first, end, before] = daysOf(asked, today);
  const words = asked === 'dates' ? `--since ${first} --until ${shifted(end, -1)} --compare` : asked;
  const line = ['report', ...words.split(' ').filter(Boolean), '--zone', place.zone];
  const report = (await json(world, line)) as Report;
  expect({ asked, since: localText(report.since, place.zone), until: localText(report.until, place.zone) }).toEqual({
    ...{ asked, since: `${first} 00:00`, until: `${end} 00:00` },
  });
  const isCompared = asked === '' || asked === 'dates' || asked.endsWith('--compare');
  expect(report.before && localText(report.before.since, place.zone)).toBe(isCompared ? `${before} 00:00` : null);
  return report;
}

const spanOf = ({ since, until }: { since: string; until: string }) => ({
  since: Date.parse(since),
  until: Date.parse(until),
});

const shown = (report: Report, name: keyof Report['figures']) =>
  Object.fromEntries(report.figures[name].values.map(({ key, value, before }) => [key, { value, before }]));

const near = (values: Record<string, { value: number | null; before: number | null }>) => {
  const round = (value: number | null) => value && Math.round(value * 1000) / 1000;
  return Object.fromEntries(
    Object.entries(values).map(([key, { value, before }]) => [key, { value: round(value), before: round(before) }]),
  );
};

onBothEngines('the report', ({ test, world, pulled, engine }) => {
  test('has the figures of any history, in any zone, over a change of summer time', { tags: ['long'] }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places).chain(historyNear), async (history) => {
        const rows = rowsOf(history);
        const seed = readSeed(rows);
        if (typeof seed === 'string') throw new Error(seed);
        const one = world({ seed });
        const now = history.place.middle + history.wait * 3_600_000;
        one.clock.advance(now - one.clock.now().getTime());
        await ok(one, 'mirror pull');
        const report = await reportOf(one, history);
        const { zone } = history.place;
        const wanted = { zone, now: spanOf(report), before: report.before ? spanOf(report.before) : undefined };
        for (const [name, values] of Object.entries(whatIsReported(rows, wanted))) {
          expect({ [name]: shown(report, name as never) }).toEqual({ [name]: near(values) });
        }
        const waits = whatWaits(await truth(one));
        expect(await json(one, 'tickets waiting')).toEqual(waits);
        const { waiting, active_customers: active, most_voted: voted, published, opened, resolved } = report.figures;
        const kinds = waits.map(({ kind }) => `${kind}s`);
        for (const { key, value } of waiting.values) expect(value).toBe(kinds.filter((kind) => kind === key).length);
        const wrote = Object.entries(whoWrote(rows, wanted)).sort(([a, m], [b, n]) => n - m || Number(a) - Number(b));
        expect(active.values.map(({ key, value }) => [key, value])).toEqual(wrote.slice(0, 10));
        const wishes = history.votes
          .map((count, at) => [String(at + 1), count] as const)
          .filter(([, count]) => count > 0);
        const most = wishes.sort((a, b) => b[1] - a[1] || Number(a[0]) - Number(b[0])).slice(0, 5);
        expect(voted.values.map(({ key, value }) => [key, value])).toEqual(most);
        const out = history.entries.filter(([time, is]) => is && time >= wanted.now.since && time < wanted.now.until);
        expect(published.values).toHaveLength(out.length);
        // What is drawn in time adds up to the number above it.
        for (const [line, key] of [
          [opened, 'opened'],
          [resolved, 'resolved'],
        ] as const) {
          const sum = line.values.reduce((total, { value }) => total + (value ?? 0), 0);
          expect(sum).toBe(report.figures.tickets.values.find((each) => each.key === key)?.value);
        }
      }),
      { numRuns: draws(5, 12) },
    );
  });

  test('shows with --explain the SQL that gives the same figure in mirror sql', { tags: ['long'] }, async () => {
    const one = await pulled();
    const words = ['report', '--since', '2026-01-05', '--until', '2026-02-15', '--compare', '--zone', 'Europe/Berlin'];
    const report = (await json(one, words)) as Report;
    const queries = (await json(one, [...words, '--explain'])) as Record<string, string>;
    expect(Object.keys(queries)).toEqual(figureNames);
    const empty: string[] = [];
    for (const name of figureNames) {
      const rows = (await sql(one, String(queries[name]))) as Fields[];
      if (rows.length === 0) empty.push(name);
      for (const { key, value, before } of report.figures[name].values) {
        const at = (period: string) => {
          const row = rows.find((each) => each.period === period && each.key === key);
          return row === undefined ? undefined : Math.round(Number(row.value) * 1000) / 1000;
        };
        // What is zero may have no row.
        expect({ name, key, value: at('now') ?? value }).toEqual({ name, key, value: value ?? undefined });
        if (at('before') !== undefined && before !== null)
          expect({ name, key, before: at('before') }).toEqual({ name, key, before });
      }
      for (const { period, key } of rows.filter((row) => row.period === 'now'))
        expect({ name, period, key, is: report.figures[name].values.some((each) => each.key === key) }).toMatchObject({
          is: true,
        });
    }
    expect(empty).toEqual([]);
    const text = (await ok(one, [...words, '--explain'])).stdout;
    expect(text).toContain(`-- tickets\n${queries.tickets};`);
  });

  test.runIf(engine === 'sqlite')(
    'fits 60, 80 and 200 columns, and has a form for each reader',
    { tags: ['long'] },
    async () => {
      const one = await pulled();
      for (const columns of [60, 80, 200]) {
        const { stdout } = await ok(one, 'report month --compare --zone UTC', { columns });
        const lines = stripVTControlCharacters(stdout).split('\n');
        const widest = Math.max(...lines.map((line) => [...line].length));
        expect(widest).toBeLessThanOrEqual(columns);
        expect(widest).toBeGreaterThan(columns * 0.85);
        expect(stdout).toMatch(/[█▏▎▍▌▋▊▉]/u);
        expect(stdout).toMatch(/most: \d+ \(\d{4}-\d\d-\d\d\)/u);
      }
      const csv = (await ok(one, 'report month --zone UTC -o csv')).stdout.split(/\r?\n/u);
      expect(csv[0]).toBe('figure,key,label,value,before,unit');
      expect(csv).toContain('tickets,opened,,13,,count');
      expect(csv.find((line) => line.startsWith('first_response,median'))).toMatch(/,seconds$/u);
      expect(csv.find((line) => line.startsWith('first_response,without'))).toMatch(/,count$/u);
      expect((await ok(one, 'report month --zone UTC')).stdout).toContain('tickets\topened\t\t13\t\tcount\n');
      const markdown = (await ok(one, 'report month --zone UTC -o md')).stdout;
      expect(markdown).toContain('| Opened | 13 |');
      const ever = (await ok(one, 'report --since 2020-01-01 --zone UTC -o md')).stdout;
      expect(ever).toMatch(/## Published entries\n\n- \S/u);
      expect((await ok(one, 'report month --zone UTC -o yaml')).stdout).toContain('title: Tickets');
      expect((await ok(one, 'report month --zone UTC -o html')).stdout).toMatch(/^<!doctype html>/u);
    },
  );

  test('says in each form that is handed on of when its copy is, and what is missing in it', {
    tags: ['long'],
  }, async () => {
    const one = await pulled();
    const forms = ['md', 'html', 'json'];
    const run = async (words: string) => {
      const ran = await Promise.all(forms.map((form) => ok(one, `report ${words} --zone UTC -o ${form}`)));
      return { pages: ran.map(({ stdout }) => stdout.replaceAll('\\', '')), notes: ran.map(({ stderr }) => stderr) };
    };
    const whole = await run('week');
    for (const text of [...whole.pages, ...whole.notes]) expect(text).not.toMatch(/missing/u);
    const asOf = new Date(String((JSON.parse(whole.pages[2] ?? '') as Report).copy.as_of)).toISOString();
    const shownAsOf = asOf.slice(0, 16).replace('T', ' ');
    for (const page of whole.pages.slice(0, 2)) expect(page).toContain(`From a copy of ${shownAsOf}.`);

    one.clock.advance(8 * dayMs);
    const late = await run('week');
    for (const page of late.pages.slice(0, 2)) {
      expect(page).toContain(`From a copy of ${shownAsOf}. What happened after that is missing.`);
    }
    for (const note of late.notes) expect(note).toContain(`what happened after ${shownAsOf} is missing`);
    for (const note of (await run('--since 30d')).notes) expect(note).not.toContain('what happened after');

    const half = world();
    expect((await svc(half, 'mirror pull --max-requests 12'.split(' '))).exitCode).toBe(8);
    const report = (await json(half, 'report week --zone UTC')) as Report;
    expect(report.copy.not_whole).toContain('tickets');
    for (const form of ['md', 'html']) {
      const page = (await ok(half, `report week --zone UTC -o ${form}`)).stdout.replaceAll('\\', '');
      expect(page).toContain(`The copy is not whole, so records may be missing: ${report.copy.not_whole.join(', ')}.`);
    }
  });

  test.runIf(engine === 'sqlite')(
    'says what to give where the name of a file says another form than it has',
    async () => {
      const one = await pulled();
      for (const form of [...outputs, ...pageForms]) {
        const { stderr } = await ok(one, `report week --out ${join(one.folder, `r.${form.toUpperCase()}`)}`);
        expect(stderr).toContain(`For what its name says: --output ${form}\n`);
      }
    },
  );

  test.runIf(engine === 'sqlite')('says what is wrong with what was asked', { tags: ['long'] }, async () => {
    const one = await pulled();
    const wrong: Record<string, string> = {
      'report year': 'a day, week or month',
      'report week --since 2026-01-01': 'Give "week", or --since and --until.',
      'report --until 2026-01-01': '--until needs --since',
      'report --since 2026-02-01 --until 2026-01-01': '--since must be before --until',
      'report --zone Mars/Phobos': 'there is no time zone "Mars/Phobos"',
      'report --since nonsense': '--since must be a time',
      'report -o html --json': '--output html is a page',
      'tickets list -o html': 'has no --output html',
      'watch -o md': 'It has table, json and jsonl; svc report has md and html too.',
      'report -o pdf': '--output must be one of',
    };
    for (const [line, said] of Object.entries(wrong)) {
      const ran = await svc(one, line.split(' '));
      expect({ line, code: ran.exitCode, stdout: ran.stdout }).toEqual({ line, code: 2, stdout: '' });
      expect(ran.stderr).toContain(said);
    }
    expect((await svc(world(), ['report'])).exitCode).toBe(1);
  });
});
