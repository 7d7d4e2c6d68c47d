import { owned, put } from '../store/state.ts';
import { changelog } from './changelog.ts';
import { contacts } from './contacts.ts';
import { conversations } from './conversations.ts';
import { events } from './events.ts';
import { feedback } from './feedback.ts';
import type { Handlers } from './handler.ts';
import { lists } from './lists.ts';
import { pageNewestFirst } from './page.ts';
import { tickets } from './tickets.ts';
import { webhooks } from './webhooks.ts';

export const handlers: Handlers = {
  getAccount({ account: { account_id, name, billing_active, setup_url } }) {
    return { account_id, name, billing_active, setup_url };
  },
  updateBranding({ state, account, body }) {
    put(state, 'accounts', { ...account, branding: { ...account.branding, ...body } });
    return { ok: true, updated: Object.keys(body) };
  },
  listCalls({ state, account, query }) {
    const { rows, meta } = pageNewestFirst(owned(state, 'calls', account.account_id), query);
    return { calls: rows.map(({ account_id: _, ended_reason: __, ...call }) => call), meta };
  },
  listMeetings({ state, account: { account_id, name } }) {
    const meetings = owned(state, 'meetings', account_id).map(({ account_id: _, ...meeting }) => meeting);
    return { ok: true, account: { id: account_id, name }, meetings };
  },
  ...contacts,
  ...lists,
  ...tickets,
  ...conversations,
  ...changelog,
  ...feedback,
  ...events,
  ...webhooks,
};
