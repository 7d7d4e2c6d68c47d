import { invalid } from '../answer.ts';
import { nextId, owned, put, remove } from '../store/state.ts';
import type { Handlers } from './handler.ts';

export const webhooks = {
  listWebhooks({ state, account, connection }) {
    const mine = owned(state, 'subscriptions', account.account_id).filter((each) => each.connection_id === connection);
    return {
      webhooks: mine.map(({ id, event_type, target_url, is_active, created_at }) => ({
        id,
        event_type,
        target_url,
        is_active,
        created_at,
      })),
    };
  },

  createWebhook({ state, account, connection, body, now, random, allowHttpTargets }) {
    if (!body.target_url.toLowerCase().startsWith('https:') && !allowHttpTargets) {
      return invalid({ target_url: ['must be an https:// URL'] });
    }
    const id = nextId(state, 'subscriptions');
    const signing_secret = `whsec_${Buffer.from(random(24)).toString('base64url')}`;
    put(state, 'subscriptions', {
      id,
      account_id: account.account_id,
      connection_id: connection ?? '',
      ...body,
      signing_secret,
      is_active: true,
      created_at: now,
    });
    return { id, ...body, signing_secret };
  },

  deleteWebhook({ state, params }) {
    remove(state, 'subscriptions', params.webhook);
    return { status: 'ok' };
  },
} satisfies Partial<Handlers>;
