import { owned } from '../store/state.ts';
import type { Handlers } from './handler.ts';
import { pageNewestFirst } from './page.ts';

export const calls = {
  listCalls({ state, account, query }) {
    const { rows, meta } = pageNewestFirst(owned(state, 'calls', account.account_id), query);
    return { calls: rows.map(({ account_id: _, ended_reason: __, ...call }) => call), meta };
  },
} satisfies Partial<Handlers>;
