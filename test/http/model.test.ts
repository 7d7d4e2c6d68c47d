import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { createWorld, type Ran, svc, virtualClock } from '../svc.ts';
import { draws } from '../thorough.ts';
import { type AnyKind, modelService, type Other, type Trouble } from './model-service.ts';

/** Texts that a tidying service stores otherwise than they were sent. */
const text = ' Two   words e\u0301\r\n';
const due = '2026-05-01T00:00:00Z';

type Body = Readonly<Record<string, unknown>>;

type Written = {
  readonly argv: readonly string[];
  /** The same by somebody else, over the same API. */
  readonly equal: Body;
  /** What somebody else's may have in place of it: one of these makes it another record. */
  readonly differs: readonly Body[];
  /** The fields by which the two are told apart, as far as the service shows them. */
  readonly fields: readonly string[];
};

const person = { name: ' Ada', last_name: 'B  C', email: 'A@Example.com', phone: '+12025550123' };
const personFlags = ['--name', ' Ada', '--last-name', 'B  C', '--email', 'A@Example.com', '--phone', '+12025550123'];

const written: Readonly<Record<AnyKind, Written>> = {
  ticket: {
    argv: ['tickets', 'create', '--subject', text, '--description', text, '--due-at', due],
    equal: { subject: text, description: text, due_at: due },
    differs: [{ description: 'Another' }, { due_at: '2026-05-02T00:00:00Z' }, { priority: 3 }, { subject: 'Another' }],
    fields: ['subject', 'description', 'due_at', 'priority'],
  },
  contact: {
    argv: ['contacts', 'create', ...personFlags, '--company', 'Acme'],
    equal: { ...person, company: 'Acme' },
    differs: [{ company: 'Umbra' }, { phone: '+12025550124' }, { email: 'b@example.com' }, { name: 'Eve' }],
    fields: ['name', 'last_name', 'email', 'phone', 'company'],
  },
  list: {
    argv: ['lists', 'create', '--name', text, '--target-industry', 'Any', '--notes', 'n'],
    equal: { name: text, target_industry: 'Any', notes: 'n' },
    differs: [{ target_industry: 'Steel' }, { name: 'Another' }],
    fields: ['name', 'target_industry'],
  },
  entry: {
    argv: ['changelog', 'create', '--title', text, '--content', 'Once'],
    equal: { title: text, content: 'Once' },
    differs: [{ content: 'Other text' }, { status: 'published' }, { labels: ['fix'] }, { version: '1.0' }],
    fields: ['title', 'content', 'status', 'labels', 'version'],
  },
  reply: {
    argv: ['tickets', 'reply', '1', '--body', text],
    equal: { body: text },
    differs: [{ body: 'Another' }],
    fields: ['body'],
  },
  note: { argv: ['tickets', 'note', '1', '--body', text], equal: { body: text }, differs: [], fields: ['body'] },
  hook: {
    argv: ['webhooks', 'create', 'call.completed', 'https://a.example/b'],
    equal: { event_type: 'call.completed', target_url: 'https://a.example/b' },
    differs: [{ event_type: 'ticket.created' }, { target_url: 'https://a.example/c' }],
    fields: ['event_type', 'target_url'],
  },
};
const kinds = Object.keys(written) as AnyKind[];

const gateways = [
  '502',
  '504',
  '505',
  '520',
  '524',
  '529',
  '599',
  '408',
  '499',
  '429 page',
  'other 429',
  'other 401',
  '401 page',
  'other 500',
  'Spring 500',
] as const;
const foreign = ['page', 'upstream', 'up', 'queued', 'mixed up'] as const;

const trouble: fc.Arbitrary<Trouble> = fc.record({
  seen: fc.oneof(
    fc.constantFrom<Trouble['seen']>('answer', 'time-out', 'reset', 'tls', 'own 500', 'own 500', '429', 'refused'),
    fc.constantFrom<Trouble['seen']>(...gateways),
    fc.constantFrom<Trouble['seen']>(...foreign),
  ),
  acts: fc.boolean(),
  afterMs: fc.constantFrom(0, 100, 1000, 3000, 10_000, 29_000, 60_000),
});

const kindOfStory = fc.constantFrom<AnyKind>(...kinds);

const story = kindOfStory.chain((kind) => {
  const { equal, differs } = written[kind];
  const byOther = fc.constantFrom<Body>(equal, ...differs.map((one) => ({ ...equal, ...one })));
  return fc.record({
    kind: fc.constant(kind),
    troubles: fc.array(trouble, { minLength: 1, maxLength: 4 }),
    failingReads: fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { maxLength: 6 }),
    /** Often the look before: one read, or all of its repetitions. */
    refusedReads: fc.oneof(fc.constant([]), fc.constant([]), fc.constant([0]), fc.uniqueArray(fc.nat(8))),
    tidies: fc.boolean(),
    aheadMs: fc.integer({ min: -40_000, max: 40_000 }),
    others: fc.oneof(
      fc.constant<Other[]>([]),
      fc.array(fc.record({ atMs: fc.integer({ min: 0, max: 40_000 }), kind: fc.constant(kind), body: byOther }), {
        maxLength: 4,
      }),
    ),
    order: fc.constantFrom('newest' as const, 'oldest' as const, 'by name' as const),
    /** How many records stand there already, and at which place an equal one. */
    shelf: fc.oneof(fc.constant(0), fc.constant(3), fc.integer({ min: 95, max: 130 })),
    twinAt: fc.option(fc.nat(129), { nil: undefined }),
    /** The same command again, on purpose: what is wanted is one more. */
    runs: fc.integer({ min: 1, max: 3 }),
    maxWait: fc.constantFrom('0', '2', '120'),
  });
});

type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

/** After each of them svc looks for what it sent, by a rule of its own. Chance meets some of them too seldom. */
const lookedFor: readonly Trouble['seen'][] = ['own 500', 'other 429', 'other 401', 'time-out'];

const acted = (seen: Trouble['seen']): [Story] => [
  {
    kind: 'ticket',
    troubles: [{ seen, acts: true, afterMs: 0 }],
    failingReads: [],
    refusedReads: [],
    tidies: false,
    aheadMs: 0,
    others: [],
    order: 'newest',
    shelf: 3,
    twinAt: undefined,
    runs: 1,
    maxWait: '120',
  },
];

/** Nothing was done, says svc: so whoever runs it may run it again. */
const nothingHappened = [1, 7, 10];

const plain = (value: unknown): unknown =>
  typeof value === 'string' ? value.normalize('NFC').trim().replaceAll(/\s+/gu, ' ').toLowerCase() : (value ?? null);

/** By nothing that svc is made of: whether what is held is what was sent. */
const isEqual = (row: Body, { equal, fields }: Written): boolean =>
  fields.every((field) => JSON.stringify(plain(row[field])) === JSON.stringify(plain(equal[field])));

function idIn({ stdout }: Ran): number {
  const { id, contact_id, contact_list_id } = JSON.parse(stdout) as Record<string, number | undefined>;
  return id ?? contact_id ?? contact_list_id ?? Number.NaN;
}

const runsOfModel = Number(process.env.SVC_MODEL_RUNS ?? draws(20, 300));

test('a client that does what the exit code says doubles nothing, and what was called done is there and ours', async () => {
  const endings = { done: 0, unknown: 0, nothing: 0, named: 0, beside: 0 };
  await fc.assert(
    fc.asyncProperty(story, async ({ kind, runs, failingReads, refusedReads, maxWait, shelf, twinAt, ...given }) => {
      const clock = virtualClock();
      const what = written[kind];
      const other = (at: number) => ({ ...what.equal, ...what.differs[0], ...nameOf(what, `Other ${at}`) });
      const bodies = Array.from({ length: shelf }, (_, at) => (at === twinAt ? what.equal : other(at)));
      const service = modelService({
        ...given,
        failingReads: new Set(failingReads),
        refusedReads: new Set(refusedReads),
        ticks: clock.ticks,
        before: kind === 'note' ? undefined : { kind, bodies },
      });
      const env = kind === 'hook' ? { SVC_API_KEY: '', SVC_ACCESS_TOKEN: 'token' } : undefined;
      const world = createWorld(service.exchange, { clock });
      const reported: number[] = [];
      let unknown = 0;
      for (let run = 0; run < runs; run++) {
        for (let again = 0; again < 4; again++) {
          const ran = await svc(world, [...what.argv, '--max-wait', maxWait, '--json'], { env });
          expect([0, 9, ...nothingHappened], ran.stderr).toContain(ran.exitCode);
          if (ran.exitCode === 0) reported.push(idIn(ran));
          if (ran.exitCode === 9) {
            unknown++;
            if (/"candidates":\[\d/u.test(ran.stderr)) endings.named++;
          }
          if (!nothingHappened.includes(ran.exitCode)) break;
          endings.nothing++;
        }
      }
      const held = service.held(kind);
      const rows = service.rowsOf(kind);
      // Nothing twice.
      expect(held).toBeLessThanOrEqual(reported.length + unknown);
      expect(new Set(reported).size).toBe(reported.length);
      for (const id of reported) {
        const row = rows.find((one) => one.id === id);
        // Nothing called done is missing, and it is what was sent: ours, or equal to it in everything that is shown.
        expect(row && isEqual(row, what), JSON.stringify({ id, row })).toBe(true);
        // What stood there before is nobody's new record.
        if (kind !== 'note') expect(id).toBeGreaterThan(shelf + 1);
      }
      const strangers = rows.filter(({ id, by }) => by === 'other' && reported.includes(id)).length;
      if (given.others.every(({ body }) => body !== what.equal)) expect(strangers).toBe(0);
      expect(held + strangers).toBeGreaterThanOrEqual(reported.length);
      endings.done += reported.length;
      endings.unknown += unknown;
      endings.beside += given.others.length;
    }),
    { numRuns: runsOfModel, examples: lookedFor.map(acted) },
  );
  // A model in which one of them hardly happens would prove nothing.
  for (const [name, times] of Object.entries(endings)) expect(times, name).toBeGreaterThan(runsOfModel / 12);
}, 1_200_000);

/** The first field that tells such a record, with another text. */
const nameOf = ({ fields: [first = ''] }: Written, name: string): Body =>
  first === 'event_type' ? { target_url: `https://a.example/${encodeURIComponent(name)}` } : { [first]: name };
