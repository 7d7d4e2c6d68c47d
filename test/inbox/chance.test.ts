/** Any keys and events: the model never throws, writes nothing that was not agreed to, and loses no text. */
import { expect, test } from 'vitest';
import type { Effect } from '../../src/inbox/effect.ts';
import type { Event } from '../../src/inbox/event.ts';
import { keys } from '../../src/inbox/keys.ts';
import { begin, type Model } from '../../src/inbox/model.ts';
import type { Row } from '../../src/inbox/row.ts';
import { update } from '../../src/inbox/update.ts';
import { frameOf } from '../../src/inbox/view/frame.ts';
import { cells } from '../../src/text/width.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { chatOf, keyEvent, now, rowOf, views } from './models.ts';

const hostile = 'a\u001b]0;x\u0007\u202Eb漢字👩‍👩‍👧\n\tz';
const rows: readonly Row[] = [
  rowOf(1),
  chatOf(2),
  rowOf(3, { subject: hostile, contact: { name: hostile }, status: 'resolved' }),
  rowOf(4, { kind: 'draft', number: null }),
  rowOf(5, { kind: 'feedback', contact: null, waiting_since: null, priority: null }),
];
const plain = { paint: (_: string, text: string) => text, selected: (text: string) => text };

const typed = fc.oneof(
  fc.constantFrom(...keys.flatMap((entry) => entry.keys), 'y', 'n', 'd', 'e', '1', ' ', 'backspace', 'tab', 'down'),
  fc.string({ minLength: 1, maxLength: 1 }),
);

/** What somebody does, or what happens: a number chooses what the world answers. */
const happening = fc.oneof(
  { weight: 6, arbitrary: typed.map((key) => ({ key })) },
  { weight: 4, arbitrary: fc.nat(9).map((answer) => ({ answer })) },
  { weight: 3, arbitrary: fc.nat(20_000).map((ms) => ({ ms })) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.integer({ min: 60, max: 200 }), fc.integer({ min: 16, max: 50 })).map((size) => ({ size })),
  },
);

type World = {
  model: Model;
  now: number;
  drafts: number;
  readonly open: Effect[];
  /** Drafts that hold a text; those that were asked about or told; those that were sent. */
  readonly texts: Set<number>;
  readonly told: Set<number>;
  readonly left: Set<number>;
  readonly log: { readonly agreed: boolean; readonly effect: Effect }[];
};

const modes = ['allow', 'ask', 'draft'] as const;

/** What the world answers to an effect; `luck` decides how it goes. */
function answerTo(world: World, effect: Effect, luck: number): Event | undefined {
  const keep = (row: Row) => {
    const draft = ++world.drafts;
    return { row, draft, digest: `d${draft}`, told: `Draft ${draft} waits.` };
  };
  switch (effect.do) {
    case 'list': {
      const total = luck > 7 ? 100_000 : rows.length;
      return luck === 0
        ? { is: 'no-rows', ask: effect.ask, told: 'The copy is locked.', isWrong: effect.ask % 2 === 0 }
        : { is: 'rows', ask: effect.ask, offset: 0, rows: rows.slice(0, luck), total };
    }
    case 'open':
      return {
        is: 'opened',
        row: effect.row,
        thread: {
          title: hostile,
          facts: [hostile],
          fields: [['To', hostile]],
          messages: [
            { who: hostile, side: 'customer', at: 'no time', body: hostile.repeat(luck * 9), files: [hostile] },
          ],
        },
      };
    case 'templates':
      return { is: 'templates', rows: effect.rows, templates: luck === 0 ? [] : [{ value: 'thanks', name: 'thanks' }] };
    case 'fill':
      return {
        is: 'filled',
        rows: effect.rows,
        texts: effect.rows.map(() => 'Hi'),
        shown: hostile,
      };
    case 'compose':
    case 'keep': {
      if (luck === 0) return { is: 'told', told: 'The text is empty. Nothing was sent.', state: 'refused' };
      const mode = modes[luck % 3] ?? 'allow';
      const items = effect.rows.map(keep);
      if (effect.means !== 'resolve') for (const { draft } of items) world.texts.add(draft);
      return {
        is: 'kept',
        means: effect.means,
        ends: effect.ends,
        items,
        mode,
        holdMs: luck % 2 === 0 ? 10_000 : 0,
        shown: hostile,
        isAgreed: effect.do === 'keep',
      };
    }
    case 'edit':
      return {
        is: 'kept',
        means: effect.means,
        ends: 'send',
        items: [{ row: effect.row, draft: effect.draft, digest: 'd', told: `Draft ${effect.draft} waits.` }],
        mode: 'allow',
        holdMs: 0,
        shown: 'Hi',
        isAgreed: false,
      };
    case 'send': {
      const { job, means, row, draft } = effect;
      if (luck < 3)
        return {
          is: 'changed',
          job,
          means,
          item: { row, draft, digest: 'd', told: `Draft ${draft} waits.` },
          shown: 'New.',
          holdMs: 0,
        };
      const state = luck > 7 ? 'unknown' : luck > 5 ? 'refused' : 'done';
      return { is: 'ended-job', job, state, told: `Draft ${draft}`, mark: 'replied' };
    }
    case 'change':
      return {
        is: 'ended-job',
        job: effect.job,
        state: luck > 5 ? 'unknown' : 'done',
        told: 'Closed.',
        mark: 'closed',
      };
    case 'snooze':
      return luck === 0
        ? { is: 'wrong-time', rows: effect.rows, typed: 'x', told: 'No time.' }
        : { is: 'snoozed', rows: effect.rows, told: 'Put away.' };
    case 'read-drafts':
      return { is: 'to-approve', items: effect.rows.map(keep), shown: hostile, holdMs: 0 };
    default:
      return undefined;
  }
}

function step(world: World, event: Event): void {
  const before = world.model;
  const { model, effects } = update(before, event);
  world.model = model;
  const agreed = before.over?.is === 'question' || before.over?.is === 'pick';
  for (const effect of effects) {
    world.log.push({ agreed, effect });
    if (effect.do === 'send') world.left.add(effect.draft);
  }
  // At once: what is shown later may come too late.
  for (const { draft, told } of model.jobs) {
    if (draft !== undefined) world.told.add(draft);
    for (const number of told.match(/\d+/gu) ?? []) world.told.add(Number(number));
  }
  for (const over of [model.over, ...model.next]) {
    const answers = over?.is === 'question' ? over.answers : [];
    for (const effect of answers.flatMap(({ effects: all }) => all))
      if ('draft' in effect) world.told.add(effect.draft);
  }
  world.open.push(...effects);
}

function play(happenings: readonly object[]): World {
  const first = begin({ size: { columns: 120, rows: 30 }, now, view: 'waiting', views });
  const world: World = {
    model: first.model,
    now,
    drafts: 0,
    open: [...first.effects],
    texts: new Set(),
    told: new Set(),
    left: new Set(),
    log: [],
  };
  for (const one of happenings) {
    if ('key' in one && typeof one.key === 'string') step(world, keyEvent(one.key));
    if ('ms' in one && typeof one.ms === 'number') {
      world.now += one.ms;
      step(world, { is: 'tick', now: world.now });
    }
    if ('size' in one && Array.isArray(one.size))
      step(world, { is: 'resize', columns: Number(one.size[0]), rows: Number(one.size[1]) });
    if ('answer' in one && typeof one.answer === 'number') {
      const [effect] = world.open.splice(0, 1);
      const event = effect && answerTo(world, effect, one.answer);
      if (event) step(world, event);
    }
  }
  return world;
}

const plays = fc.array(happening, { minLength: 1, maxLength: 60 });

test('whatever happens, every frame fits and holds nothing that a terminal obeys', { tags: ['long'] }, () => {
  fc.assert(
    fc.property(plays, (all) => {
      const { model } = play(all);
      const frame = frameOf(model, plain);
      expect(frame.length).toBe(model.size.rows);
      expect(Math.max(...frame.map(cells))).toBeLessThanOrEqual(model.size.columns);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
      expect(frame.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/u);
    }),
    { numRuns: draws(60, 200) },
  );
});

test('a conversation is resolved, and several are written to, only after somebody agreed', () => {
  fc.assert(
    fc.property(plays, (all) => {
      const { log } = play(all);
      for (const { agreed, effect } of log) {
        if (effect.do === 'keep') expect(agreed).toBe(true);
        if (effect.do === 'change' && effect.row.kind !== 'ticket') expect(effect).toBe('a ticket');
      }
      const changes = log.filter(({ effect }) => effect.do === 'change');
      // Of one key without a question there is one change at most.
      const jobs = changes.filter(({ agreed }) => !agreed).map(({ effect }) => ('job' in effect ? effect.job : 0));
      expect(new Set(jobs).size).toBe(jobs.length);
    }),
    { numRuns: draws(60, 200) },
  );
});

test('a text that is kept has left, is asked about, or was told with the number of its draft', () => {
  fc.assert(
    fc.property(plays, (all) => {
      const { texts, told, left } = play(all);
      expect([...texts].filter((draft) => !told.has(draft) && !left.has(draft))).toEqual([]);
    }),
    { numRuns: draws(60, 200) },
  );
});
