import type { Context } from '../context.ts';
import { Failure, interruption } from '../errors.ts';
import { type Draft, requestsOf, type Step } from './draft.ts';
import { contactOf } from './seen.ts';
import type { DraftStore } from './store.ts';

/** So long a draft stays with whoever sends it, without a word from them. */
const claimMs = 90_000;
const beatMs = 20_000;

/** A draft that this process alone may send. */
export type Held = {
  /** As it was when it was last changed. */
  draft(): Draft;
  /** Changes it, as long as it is still ours: throws the Failure of a draft that somebody took over. */
  change(next: (draft: Draft) => Draft): Promise<Draft>;
  /** The same of what has happened already: also where it was not heard of for too long, if nobody has taken it over since. */
  settle(next: (draft: Draft) => Draft): Promise<Draft>;
  /** Ends the claim with what became of it, in the same way. */
  end(next: (draft: Draft) => Draft): Promise<Draft>;
  /** Gives up to tell that it is alive; the claim stays as it is. */
  stop(): void;
};

export type Claiming = { readonly id: number; readonly by: string; readonly token: string };

/** Takes the draft where `mayTake` agrees; undefined where it does not, or somebody was first. */
export async function claim(
  store: DraftStore,
  { id, by, token }: Claiming,
  mayTake: (draft: Draft, now: Date) => boolean,
): Promise<Held | undefined> {
  const until = (now: Date) => new Date(now.getTime() + claimMs).toISOString();
  let present = await store.change(id, (draft, now) =>
    mayTake(draft, now) ? { ...draft, state: 'sending', claim: { token, by, until: until(now) } } : undefined,
  );
  if (!present) return undefined;
  const requests = requestsOf(present);
  // What was agreed to is sent, and nothing that somebody has put in its place since.
  const isOurs = (draft: Draft) => draft.claim?.token === token && requestsOf(draft) === requests;
  const changing = (may: (draft: Draft, now: Date) => boolean) => async (next: (draft: Draft) => Draft) => {
    let found: Draft | undefined;
    const changed = await store.change(id, (draft, now) => {
      found = draft;
      if (!may(draft, now)) return undefined;
      const after = next(draft);
      return { ...after, claim: after.claim && { ...after.claim, until: until(now) } };
    });
    if (!changed) throw found && isOurs(found) ? stoodStill(id) : takenOver(id);
    present = changed;
    return changed;
  };
  const change = changing((draft, now) => isOurs(draft) && !isLapsed(draft, now));
  const settle = changing(isOurs);
  const beat = setInterval(() => void change((draft) => draft).catch(() => {}), beatMs);
  beat.unref();
  return {
    draft: () => present as Draft,
    change,
    settle,
    async end(next) {
      clearInterval(beat);
      return settle((draft) => ({ ...next(draft), claim: null }));
    },
    stop: () => clearInterval(beat),
  };
}

/** Tries in which another draft for the same record or person may go out first: some 20 seconds. */
const mostTries = 20;

/**
 * The same, and no other draft for its record or its person is on its way: of two answers to one thread that are sent at
 * one moment, the second then looks at a thread that has the first. Each claims and then looks for others, so at least one
 * of two sees the other; whoever sees one steps back and tries again after a time of chance.
 *
 * @throws Failure where others are at it all the time: the draft is as it was
 */
export async function claimAlone(
  { clock, signal, random }: Pick<Context, 'clock' | 'signal' | 'random'>,
  store: DraftStore,
  claiming: Claiming,
  mayTake: (draft: Draft, now: Date) => boolean,
): Promise<Held | undefined> {
  for (let tries = 1; ; tries++) {
    let before: Draft | undefined;
    const held = await claim(store, claiming, (draft, now) => {
      before = draft;
      return mayTake(draft, now);
    });
    if (!held || !before) return undefined;
    const { state } = before;
    const stepBack = () => held.end((draft) => ({ ...draft, state }));
    let other: Draft | undefined;
    try {
      other = await senderBeside(store, held.draft());
    } catch (error) {
      // Where that fails too, the claim lapses.
      await stepBack().catch(() => held.stop());
      throw error;
    }
    if (!other) return held;
    await stepBack();
    if (tries === mostTries) throw isBusy(other);
    await clock.sleep(500 + 4 * (random(1)[0] ?? 0), signal);
    if (signal.aborted) throw interruption(signal, 'Interrupted while waiting; nothing was sent.');
  }
}

/**
 * Another draft that somebody is sending, and that the thread may show: for this record, or for this person, since a
 * ticket shows the messages of its chat.
 */
async function senderBeside(store: DraftStore, draft: Draft): Promise<Draft | undefined> {
  if (draft.record.id === null) return undefined;
  const [drafts, now] = await Promise.all([store.list(), store.now()]);
  return drafts.find(
    (one) =>
      one.id !== draft.id &&
      one.state === 'sending' &&
      !isLapsed(one, now) &&
      one.base_url === draft.base_url &&
      one.account === draft.account &&
      (isOfOneRecord(one, draft) || isToOnePerson(one, draft)),
  );
}

const isOfOneRecord = ({ record: one }: Draft, { record: other }: Draft): boolean =>
  one.kind === other.kind && one.id === other.id;

function isToOnePerson(one: Draft, other: Draft): boolean {
  const contact = contactOf(one);
  return contact !== undefined && contact === contactOf(other);
}

const isBusy = ({ id, claim: held }: Draft): Failure =>
  new Failure(
    'failed',
    `Draft ${id}, to the same person, is being sent by ${held?.by ?? 'somebody'}. Nothing was sent.`,
    {
      hint: `Look at what became of it, and try again: svc drafts show ${id}`,
    },
  );

const takenOver = (id: number): Failure => notOurs(id, `Draft ${id} was taken over by somebody else meanwhile.`);

const stoodStill = (id: number): Failure =>
  notOurs(id, `This svc stood still while it sent draft ${id}, or the clock was set.`);

const notOurs = (id: number, fact: string): Failure =>
  new Failure('failed', `${fact} Nothing more was sent.`, { hint: `Look at it with: svc drafts show ${id}` });

/** Whoever had it has not been heard of for so long. */
export const isLapsed = ({ state, claim: held }: Draft, now: Date): boolean =>
  state === 'sending' && (held === null || Date.parse(held.until) < now.getTime());

/** The draft with one of its steps changed. */
export const withStep = (draft: Draft, at: number, change: Partial<Step>): Draft => ({
  ...draft,
  steps: draft.steps.map((step, index) => (index === at ? { ...step, ...change } : step)),
});
