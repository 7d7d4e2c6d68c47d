import { describe, expect, test } from 'vitest';
import { page } from '../../../src/commands/webhooks/delivery-page.ts';
import { printer } from '../../../src/commands/webhooks/event-lines.ts';
import { deliveryOf } from '../../../src/webhooks/store/delivery.ts';
import { pastLine } from '../../../src/webhooks/store/event-line.ts';
import { forwardOf } from '../../../src/webhooks/store/forwarding.ts';
import type { Arrival, Outcome } from '../../../src/webhooks/store/line.ts';

const at = '2026-01-02T03:04:05.000Z';
const app = 'http://127.0.0.1:3000/';
const other = 'http://127.0.0.1:4000/';
const envelope = { event: 'ticket.created', id: 'evt_1', created_at: '2026-01-02T03:04:05+00:00', data: { a: 'ü' } };

const arrivalOf = (body: Uint8Array | string, more: Partial<Arrival> = {}): Arrival => ({
  id: 'evt_1',
  event: 'ticket.created',
  at,
  headers: { 'x-svc-event': 'ticket.created' },
  body: Buffer.from(body as string),
  ...more,
});
const outcome = (more: Partial<Outcome> = {}): Outcome => ({ to: app, at, status: 200, ms: 12, tries: 1, ...more });

describe('a stored delivery', () => {
  test('is shown with its envelope, its text and what became of it', () => {
    const body = JSON.stringify(envelope);
    const outcomes = [outcome()];
    expect(deliveryOf({ arrival: arrivalOf(body), outcomes })).toEqual({
      id: 'evt_1',
      account: null,
      event: 'ticket.created',
      received_at: at,
      verdict: 'accepted',
      why: null,
      size: Buffer.byteLength(body),
      headers: { 'x-svc-event': 'ticket.created' },
      body,
      base64: null,
      envelope,
      forwards: outcomes,
    });
  });

  test('that is no UTF-8 is shown in base64, with why it is unreadable', () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0x7b);
    const arrival = arrivalOf(bytes, { id: 'unreadable_1', event: null, unreadable: 'not JSON' });
    expect(deliveryOf({ arrival, outcomes: [] })).toMatchObject({
      event: null,
      verdict: 'unreadable',
      why: 'not JSON',
      size: 3,
      body: null,
      base64: '//57',
      envelope: null,
      forwards: [],
    });
  });

  test('whose text has a byte order mark or nothing in it is still text', () => {
    expect(deliveryOf({ arrival: arrivalOf('\ufeff{}'), outcomes: [] })).toMatchObject({
      body: '\ufeff{}',
      base64: null,
    });
    expect(deliveryOf({ arrival: arrivalOf(''), outcomes: [] })).toMatchObject({ body: '', base64: null, size: 0 });
  });
});

describe('how it stands with the app', () => {
  test('nothing is owed where nothing is to be forwarded', () => {
    expect(forwardOf({}, [])).toBeNull();
  });

  test('it waits while nothing came of it', () => {
    const waiting = { to: app, state: 'waiting', status: null, error: null, ms: null, tries: 0 };
    expect(forwardOf({ to: app }, [])).toEqual(waiting);
  });

  test('it was answered, with whatever status', () => {
    const answered = { to: app, state: 'answered', status: 500, error: null, ms: 12, tries: 3 };
    expect(forwardOf({ to: app }, [outcome({ status: 500, tries: 3 })])).toEqual(answered);
  });

  test('it failed where no answer came', () => {
    const failed = { to: app, state: 'failed', status: null, error: 'refused', ms: 9, tries: 5 };
    expect(forwardOf({ to: app }, [outcome({ status: undefined, error: 'refused', ms: 9, tries: 5 })])).toEqual(failed);
  });

  test('the latest of several forwardings counts', () => {
    expect(forwardOf({ to: app }, [outcome({ status: 500 }), outcome({ status: 201 })])).toMatchObject({ status: 201 });
  });

  test('a replay does not hide what became of the forwarding, whichever was later', () => {
    const replay = outcome({ to: other, status: 201, replay: true });
    expect(forwardOf({ to: app }, [outcome({ status: 500 }), replay])).toMatchObject({ to: app, status: 500 });
    expect(forwardOf({ to: app }, [replay, outcome({ status: 500 })])).toMatchObject({ to: app, status: 500 });
  });

  test('where there was only a replay it is told of', () => {
    const replay = outcome({ to: other, status: 201, replay: true });
    const before = outcome({ to: other, status: 500, replay: true });
    expect(forwardOf({}, [before, before, replay])).toMatchObject({ to: other, status: 201 });
  });
});

describe('how it stands with the sinks of serve', () => {
  const of = (to: string, state: NonNullable<Outcome['state']>): Outcome => outcome({ to, state });
  test.each([
    [[of('app', 'failed'), of('file', 'delivered')], { to: 'app', state: 'waiting' }],
    [[of('app', 'dead'), of('crm', 'failed'), of('file', 'delivered')], { to: 'app', state: 'failed' }],
    [[of('app', 'failed'), of('app', 'delivered'), of('file', 'delivered')], { state: 'answered' }],
    [[of('app', 'delivered'), of('crm', 'skipped')], { to: 'app', state: 'answered' }],
    [[of('app', 'skipped'), of('crm', 'dropped')], { to: 'crm' }],
  ])('%#: the one that needs somebody most, in whatever order they are known', (outcomes, expected) => {
    expect(forwardOf({ sinks: [] }, outcomes)).toMatchObject(expected);
    const others = [...outcomes].sort((a, b) => b.to.localeCompare(a.to));
    expect(forwardOf({ sinks: [] }, others)).toMatchObject(expected);
  });
});

describe('what nothing is owed of, or was given up', () => {
  const of = (to: string, state: NonNullable<Outcome['state']>): Outcome => outcome({ to, state, status: undefined });
  test('counts as not forwarded where every sink left it out', () => {
    expect(forwardOf({ sinks: ['app', 'crm'] }, [of('app', 'skipped'), of('crm', 'skipped')])).toBeNull();
    expect(forwardOf({ to: app }, [outcome({ skipped: true })])).toBeNull();
  });

  test('a sink that is to have it again is told before one that had no turn', () => {
    const told = forwardOf({ sinks: ['app', 'crm'] }, [of('app', 'again')]);
    expect(told).toMatchObject({ to: 'app', state: 'waiting' });
  });

  test('of listeners without sinks the last word counts, also beside a sink', () => {
    expect(forwardOf({ to: app }, [outcome(), outcome({ to: other, status: 404 })])).toMatchObject({ to: other });
    expect(forwardOf({ to: app }, [outcome({ to: other }), of('crm', 'dropped')])).toMatchObject({ to: other });
  });

  const byNeed = ['dead', 'failed', 'again', 'delivered', 'dropped', 'skipped'] as const;
  test.each(byNeed.slice(1).map((less, at) => [byNeed[at] ?? 'dead', less] as const))(
    '%s is told before %s',
    (more, less) => {
      for (const outcomes of [
        [of('one', more), of('two', less)],
        [of('two', less), of('one', more)],
      ])
        expect(forwardOf({}, outcomes)).toMatchObject({ to: 'one' });
    },
  );

  test.each([
    ['dead', 'failed'],
    ['failed', 'waiting'],
    ['again', 'waiting'],
    ['delivered', 'answered'],
    ['dropped', 'failed'],
  ] as const)('%s is told as %s', (state, told) => {
    expect(forwardOf({}, [of('app', state)])).toMatchObject({ state: told });
  });
});

describe('a sink that had no turn yet', () => {
  const of = (to: string, state: NonNullable<Outcome['state']>, more = {}): Outcome => outcome({ to, state, ...more });
  const sinks = ['app', 'crm', 'file'];
  test.each([
    [[], { to: 'app, crm, file', state: 'waiting', tries: 0 }],
    [[of('file', 'delivered')], { to: 'app, crm', state: 'waiting', tries: 0 }],
    [[of('file', 'skipped')], { to: 'app, crm', state: 'waiting' }],
    [[outcome({ to: 'http://localhost/', status: 200, replay: true })], { to: 'app, crm, file', state: 'waiting' }],
    [[of('file', 'dead')], { to: 'file', state: 'failed' }],
    [[of('file', 'failed', { tries: 3 })], { to: 'file', state: 'waiting', tries: 3 }],
    [[of('file', 'delivered'), of('app', 'skipped'), of('crm', 'delivered')], { state: 'answered' }],
  ])('%#: is waited for, unless another one needs somebody more', (outcomes, expected) => {
    expect(forwardOf({ sinks }, outcomes)).toMatchObject(expected);
  });
});

describe('the line that was printed when a delivery came', () => {
  test('has what its envelope has', () => {
    const received = { arrival: arrivalOf(JSON.stringify(envelope), { to: app }), outcomes: [] };
    expect(pastLine(received)).toEqual({
      kind: 'event',
      time: at,
      event: 'ticket.created',
      id: 'evt_1',
      verdict: 'accepted',
      why: null,
      created_at: envelope.created_at,
      data: envelope.data,
      forward: { to: app, state: 'waiting', status: null, error: null, ms: null, tries: 0 },
    });
  });

  test('says why there is none', () => {
    const arrival = arrivalOf('hello', { id: 'unreadable_1', unreadable: 'not JSON' });
    expect(pastLine({ arrival, outcomes: [] })).toMatchObject({
      id: 'unreadable_1',
      verdict: 'unreadable',
      why: 'not JSON',
      created_at: null,
      data: null,
      forward: null,
    });
  });

  test('has null for fields that the envelope leaves out', () => {
    expect(pastLine({ arrival: arrivalOf('{"id":"evt_1"}'), outcomes: [] })).toMatchObject({
      created_at: null,
      data: null,
    });
  });
});

describe('what became of it, for people', () => {
  const seen = (more: Partial<Outcome>) => {
    const { status: _, ...unanswered } = outcome();
    const delivery = deliveryOf({ arrival: arrivalOf('{}'), outcomes: [{ ...unanswered, ...more }] });
    return page(delivery, (_, text) => text);
  };
  test.each<[Partial<Outcome>, string]>([
    [{ state: 'delivered', to: 'archive' }, 'to archive: delivered in 12 ms'],
    [{ state: 'dead', error: 'no room', tries: 2 }, 'no room in 12 ms, try 2'],
    [{ state: 'again', ms: 0 }, 'to be sent again'],
    [{ state: 'dropped', ms: 0 }, 'given up'],
    [{ state: 'skipped', ms: 0 }, 'not wanted by its filter'],
    [{ skipped: true, ms: 0 }, 'not wanted by its filter'],
    [{ status: 503 }, '503 in 12 ms'],
    [{ error: 'refused' }, 'connection refused in 12 ms'],
  ])('%#: every outcome has words', (more, expected) => {
    expect(seen(more)).toContain(expected);
    expect(seen(more)).not.toMatch(/undefined|null/u);
  });

  test('a sink that gives no status is told in the line of the event, too', () => {
    const forward = { ...outcome(), state: 'answered', status: null, error: null } as const;
    const line = { ...pastLine({ arrival: arrivalOf('{}'), outcomes: [] }), verdict: 'accepted', forward } as const;
    expect(printer()(line, { paint: (_, text) => text, width: 200, now: new Date(at) })).toContain(
      '✓ delivered in 12 ms',
    );
  });
});
