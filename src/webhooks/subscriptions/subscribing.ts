import { createWebhook, deleteWebhook, listWebhooks } from '../../api/webhooks.ts';
import type { Settings } from '../../config/settings.ts';
import { type Context, withContext } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { call, connect } from '../../http/call/call.ts';
import { once } from '../../promise/once.ts';
import type { Subscribing } from './subscriptions.ts';

/** Opened when first needed, and then once. Deleting goes on when svc is told to end: that is when it is needed. */
export function subscribing(ctx: Context, settings: Settings) {
  let storesSecrets = true;
  const open = async (): Promise<Subscribing> => {
    const service = await connect(ctx, settings);
    await service.session.bearer(createWebhook);
    storesSecrets = service.session.from === 'profile';
    const uninterruptible = withContext(ctx, { signal: new AbortController().signal });
    const late = await connect(uninterruptible, settings);
    const soon = { maxWaitMs: 10_000 };
    return {
      list: async () => (await call(late, listWebhooks, {})).webhooks,
      create: async (event, url) => {
        const made = await call(service, createWebhook, { body: { event_type: event, target_url: url } });
        if (made?.id && made.signing_secret) return made;
        throw new Failure(
          'unknown',
          `The subscription to ${event} was created, but the answer lacks its signing secret.`,
          {
            hint: 'Find it with: svc webhooks list, delete it, and try again.',
            looked: { seconds: 0, candidates: made?.id ? [made.id] : [] },
          },
        );
      },
      delete: async (id) => void (await call(late, deleteWebhook, { params: { webhook: id } }, soon)),
    };
  };
  return {
    service: once(open),
    get storesSecrets() {
      return storesSecrets;
    },
  };
}
