import { Failure } from '../errors.ts';
import type { Draft, Step } from './draft.ts';
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
  /** Ends the claim with what became of it. */
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
  const change = async (next: (draft: Draft) => Draft): Promise<Draft> => {
    const changed = await store.change(id, (draft, now) => {
      if (draft.claim?.token !== token || Date.parse(draft.claim.until) < now.getTime()) return undefined;
      const after = next(draft);
      return { ...after, claim: after.claim && { ...after.claim, until: until(now) } };
    });
    if (!changed) throw takenOver(id);
    present = changed;
    return changed;
  };
  const beat = setInterval(() => void change((draft) => draft).catch(() => {}), beatMs);
  beat.unref();
  return {
    draft: () => present as Draft,
    change,
    async end(next) {
      clearInterval(beat);
      return change((draft) => ({ ...next(draft), claim: null }));
    },
    stop: () => clearInterval(beat),
  };
}

const takenOver = (id: number): Failure =>
  new Failure('failed', `Draft ${id} was taken over by somebody else meanwhile. Nothing more was sent.`, {
    hint: `Look at it with: svc drafts show ${id}`,
  });

/** Whoever had it has not been heard of for so long. */
export const isLapsed = ({ state, claim: held }: Draft, now: Date): boolean =>
  state === 'sending' && (held === null || Date.parse(held.until) < now.getTime());

/** The draft with one of its steps changed. */
export const withStep = (draft: Draft, at: number, change: Partial<Step>): Draft => ({
  ...draft,
  steps: draft.steps.map((step, index) => (index === at ? { ...step, ...change } : step)),
});
