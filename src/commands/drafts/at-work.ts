import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { connect, type Service } from '../../http/call.ts';
import { newToken } from '../../sends/approve.ts';
import { settleLapsed } from '../../sends/settle.ts';
import { type DraftStore, withDrafts } from '../../sends/store.ts';
import { whoIs } from '../../sends/who.ts';

export type AtWork = {
  readonly store: DraftStore;
  /** Opened when it is first needed. */
  readonly service: () => Promise<Service>;
  readonly by: string;
};

/** Opens the drafts, settles what a dead machine left, and does the work. */
export const atWork = <T>(ctx: Context, settings: Settings, work: (at: AtWork) => Promise<T>): Promise<T> =>
  withDrafts(ctx, settings.drafts, async (store) => {
    let connected: Promise<Service> | undefined;
    const service = () => {
      connected ??= connect(ctx, settings);
      return connected;
    };
    const by = whoIs();
    for (const note of await settleLapsed(store, { service, by, token: newToken(ctx) })) ctx.notice(note);
    return work({ store, service, by });
  });
