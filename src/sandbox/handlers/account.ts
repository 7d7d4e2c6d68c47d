import { put } from '../store/state.ts';
import type { Handlers } from './handler.ts';

export const account: Handlers<'getAccount' | 'updateBranding'> = {
  getAccount({ account: { account_id, name, billing_active, setup_url } }) {
    return { account_id, name, billing_active, setup_url };
  },

  updateBranding({ state, account, body }) {
    put(state, 'accounts', { ...account, branding: { ...account.branding, ...body } });
    return { ok: true, updated: Object.keys(body) };
  },
};
