import { put } from '../store/state.ts';
import type { Handlers } from './handler.ts';

export const account = {
  getAccount({ account: { account_id, name, billing_active, setup_url } }) {
    return { account_id, name, billing_active, setup_url };
  },

  updateBranding({ state, account, body }) {
    put(state, 'accounts', { ...account, branding: { ...account.branding, ...body } });
    return { ok: true, updated: Object.keys(body) };
  },
} satisfies Partial<Handlers>;
