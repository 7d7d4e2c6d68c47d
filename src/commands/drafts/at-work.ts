import type { Listed, Values } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { connect, type Service } from '../../http/call/call.ts';
import { once } from '../../promise/once.ts';
import { newToken } from '../../sends/approve.ts';
import { type Draft, textOf } from '../../sends/draft.ts';
import { type OwnDrafts, ownDrafts } from '../../sends/own.ts';
import { settleLapsed } from '../../sends/settle.ts';
import { withDrafts } from '../../sends/store.ts';
import { whoIs } from '../../sends/who.ts';
import { draftInWords, nameAlone } from '../../sends/words.ts';
import { sanitize } from '../../text/sanitize.ts';

export type AtWork = {
  /** Of this login's account alone. */
  readonly store: OwnDrafts;
  /** Opened when it is first needed. */
  readonly service: () => Promise<Service>;
  readonly by: string;
};

/** Opens the drafts, settles what a dead machine left, and does the work. */
export const atWork = <T>(ctx: Context, settings: Settings, work: (at: AtWork) => Promise<T>): Promise<T> =>
  withDrafts(ctx, settings.drafts, async (whole) => {
    const service = once(() => connect(ctx, settings));
    const by = whoIs();
    const store = ownDrafts(whole, service);
    for (const note of await settleLapsed(store, { service, by, token: newToken(ctx) })) ctx.notice(note);
    return work({ store, service, by });
  });

/** Several may be for one ticket: the text tells them apart. */
function inOneLine(draft: Draft): string {
  const text = (textOf(draft) ?? '').slice(0, 100).replaceAll(/\s+/gu, ' ');
  const state = draft.state === 'waiting' ? '' : ` (${draft.state})`;
  return sanitize(`${draftInWords({ ...draft, to: nameAlone(draft.to) })}${state}${text && `: ${text}`}`);
}

/** Whoever types no id at a terminal chooses one that nobody has decided. */
export const undecided: Listed = {
  command: 'drafts list',
  choices: (ctx, settings) =>
    atWork(ctx, settings, async ({ store }) =>
      (await store.list())
        .filter(({ state }) => !['sent', 'rejected'].includes(state))
        .map((draft) => ({ value: String(draft.id), name: inOneLine(draft) })),
    ),
};

/** What stands for ids. */
export const waitingFlags = {
  batch: param.text('All that wait of one run of a file', { placeholder: 'BATCH' }),
  all: param.toggle('All that wait'),
};

export const idsOrAll = {
  ...param.ids('Ids of the drafts', undefined, 'drafts list'),
  ...{ asks: 'Id of the draft', from: undecided, unless: ['batch', 'all'], fallback: [] },
};

export async function chosen(
  { store }: AtWork,
  ids: readonly number[],
  { batch, all }: Values<typeof waitingFlags>,
): Promise<readonly number[]> {
  const ways = [ids.length > 0, batch !== undefined, all].filter(Boolean).length;
  if (ways !== 1)
    throw new Failure('usage', 'Give the ids of drafts, --batch BATCH or --all.', {
      hint: 'To see them: svc drafts list',
    });
  if (ids.length > 0) return [...new Set(ids)];
  const isMeant = (draft: Draft) => draft.state === 'waiting' && (all || draft.batch === batch);
  const waiting = (await store.list()).filter(isMeant);
  if (waiting.length > 0) return waiting.map(({ id }) => id);
  const leftOut = await store.leftOut(isMeant);
  if (leftOut.length > 0) await store.requireOwner();
  throw new Failure('not-found', 'No such draft waits.', {
    hint: [...leftOut, 'To see all: svc drafts list --all'].join('\n'),
  });
}
