import { owned } from '../store/state.ts';
import type { Handlers } from './handler.ts';

export const meetings = {
  listMeetings({ state, account: { account_id, name } }) {
    return {
      ok: true,
      account: { id: account_id, name },
      meetings: owned(state, 'meetings', account_id).map(({ account_id: _, ...meeting }) => meeting),
    };
  },
} satisfies Partial<Handlers>;
