import * as v from 'valibot';
import { described, id, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

export const MeetingType = v.looseObject({
  id,
  name: v.string(),
  slug: v.string(),
  description: v.string(),
  duration_minutes: whole,
  location_type: described('For example video, phone, in person', v.string()),
  url: described('Public booking address', v.string()),
});

export const listMeetings = defineOperation({
  id: 'listMeetings',
  method: 'GET',
  path: '/{account}/meetings',
  summary: 'List the bookable meeting types of an account',
  command: ['meetings', 'list'],
  resource: 'meetings',
  ids: { account: 'accounts' },
  scope: null,
  credentials: ['m2m'], // account API keys and OAuth tokens are not accepted
  response: v.looseObject({
    ok: v.literal(true),
    account: v.looseObject({ id, name: v.string() }),
    meetings: v.array(MeetingType),
  }),
  answer: { shape: 'list', key: 'meetings', paged: false, sortedBy: 'not said' },
});
