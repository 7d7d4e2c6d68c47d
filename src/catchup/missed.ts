import { type WebhookEvent, webhookEvents } from '../api/webhooks.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Failure } from '../errors.ts';
import type { Missed } from '../webhooks/receive/missed.ts';
import type { Starts } from '../webhooks/store/starts.ts';
import type { ReadBefore } from './customer-messages.ts';
import type { Inbox } from './inbox.ts';
import { earliest, nothingReceived, rebuiltArrivals, startsOf } from './rebuilding.ts';

type Searching = {
  readonly open: () => Promise<Pick<Inbox, 'seeAll' | 'starts' | 'close'>>;
  readonly events: readonly WebhookEvent[] | undefined;
  /** Variables with signing secrets. */
  readonly env: () => readonly string[];
};

/** What never arrived at the inbox of `serve` or `listen`, for `--catch-up`. */
export function missedIn(ctx: Context, settings: Settings, { open, events = webhookEvents, env }: Searching): Missed {
  let known: Starts | undefined;
  const readBefore: ReadBefore = new Map();
  const begin = async (): Promise<Starts> => {
    const inbox = await open();
    known = await startsOf(inbox, events, { keeps: true }).finally(() => inbox.close());
    return known;
  };
  return {
    begin: async () => void (await begin()),
    async *search() {
      const starts = known ?? (await begin());
      if (starts.size === 0) return ctx.notice(nothingReceived);
      const inbox = await open();
      try {
        const { seeAll, starts: store } = inbox;
        const wanted = { seeAll, starts, env: env(), waits: true, over: store.forget, readBefore };
        let last: Failure | undefined;
        for await (const { arrivals, failed } of rebuiltArrivals(ctx, settings, wanted)) {
          yield arrivals;
          last = failed;
        }
        // Whoever receives for long searches again by itself.
        if (last) throw last;
        readBefore.clear();
      } finally {
        await inbox.close();
      }
    },
    since: () => earliest(known ?? new Map())?.toISOString(),
  };
}
