import * as v from 'valibot';
import { described, id, pageOf, pageQuery, when, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

export const Call = v.looseObject({
  phone_call_id: id,
  contact_id: id,
  from: described('Caller number', v.string()),
  to: described('Dialed number', v.string()),
  status: v.string(),
  duration: described('Seconds', whole),
  interest_level: described('How interested the AI graded the contact', v.string()),
  start_time: when,
  created_at: when,
});

export const listCalls = defineOperation({
  id: 'listCalls',
  method: 'GET',
  path: '/calls',
  summary: 'List phone calls, newest first',
  command: ['calls', 'list'],
  resource: 'calls',
  scope: 'calls:read',
  query: v.object(pageQuery),
  response: pageOf('calls', Call),
  answer: { shape: 'list', key: 'calls', paged: true, sortedBy: 'newest' },
});
