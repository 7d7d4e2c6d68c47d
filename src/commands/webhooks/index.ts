import { deleteWebhook, listWebhooks } from '../../api/webhooks.ts';
import type { Command, TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { several } from '../../command/several.ts';
import { Failure } from '../../errors.ts';
import { call, type Service } from '../../http/call/call.ts';
import { sanitize } from '../../text/sanitize.ts';
import { forgetSecret } from '../../webhooks/subscriptions/secrets.ts';
import { catchUpWebhooks } from './catch-up.ts';
import { createWebhookSubscription } from './create.ts';
import { dead } from './dead.ts';
import { inbox } from './inbox.ts';
import { listenToWebhooks } from './listen.ts';
import { serveWebhooks } from './serve.ts';
import { triggerWebhook } from './trigger.ts';
import { signWebhook, verifyWebhook } from './verify.ts';

async function subscriptionOf(service: Service, id: number) {
  const { webhooks: all } = await call(service, listWebhooks, {});
  const found = all.find((one) => one.id === id);
  if (found) return found;
  throw new Failure('not-found', `There is no webhook subscription ${id} of this login.`, {
    status: 404,
    hint: 'Run: svc webhooks list',
  });
}

const deletion = fromOperation('delete', deleteWebhook, {
  confirm: (id) => `Delete webhook subscription ${id}?`,
  // A login that may not do it is refused before anybody is asked.
  agreed: async (service, id) => {
    const { event_type, target_url } = await subscriptionOf(service, id);
    return sanitize(
      `Webhook subscription ${id}: ${event_type ?? 'an unknown event'} to ${target_url ?? 'an unknown URL'}`,
    );
  },
  rows: {
    question: (count) => `Delete ${count} webhook subscription${count === 1 ? '' : 's'}?`,
    settled: (ctx, settings, { id }) => forgetSecret(ctx.tokens, settings.profile, id),
  },
  noted: true,
  done: (_, id) => `Webhook subscription ${id} is deleted.`,
  examples: ['svc webhooks delete 1 --yes'],
});

/** With the subscription goes the secret that was kept for it. */
const deleteSubscription: Command = {
  ...deletion,
  async run(ctx, given) {
    const view = await deletion.run(ctx, given);
    await forgetSecret(ctx.tokens, given.settings.profile, given.args.id);
    return view;
  },
};

export const webhooks: TopGroup = {
  commands: [
    fromOperation('list', listWebhooks, {
      columns: [
        { path: 'id', header: 'ID', rank: 1 },
        { path: 'event_type', header: 'Event', as: 'whole', rank: 2 },
        { path: 'target_url', header: 'URL', rank: 3 },
        { path: 'is_active', header: 'Active', rank: 4 },
        { path: 'created_at', header: 'Created', rank: 5 },
      ],
      examples: ['svc webhooks list'],
    }),
    createWebhookSubscription,
    several('webhooks', deleteSubscription),
    listenToWebhooks,
    serveWebhooks,
    catchUpWebhooks,
    inbox,
    dead,
    triggerWebhook,
    verifyWebhook,
    signWebhook,
  ],
};
