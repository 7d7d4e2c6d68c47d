import { hearersOf } from '../api/hearers.ts';
import type { Operation } from '../api/operation.ts';
import { operationNamed } from '../api/takes.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { readRecord } from '../http/exchange/record.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import type { Draft, Seen } from './draft.ts';
import { seenOf } from './seen.ts';

/** The thread of a draft as it is now. */
export type Thread = {
  readonly seen: Seen;
  readonly record: Fields | undefined;
  readonly known?: { readonly operation: Operation; readonly answer: unknown };
};

/** Reads what a draft is about. Where there is nothing to read, what is seen of its own request. */
export async function threadOf(service: Service, draft: Draft): Promise<Thread> {
  const { record, steps, operation } = draft;
  const own = operationNamed(operation);
  const hearers = own ? hearersOf(own) : 'customer';
  const body = steps[0]?.body;
  const read = await readRecord((reader, params) => call(service, reader, { params }), record.kind, record.id);
  if (!read) return { seen: seenOf({ operation, hearers, body, record: undefined }), record: undefined };
  const { record: shown, ...known } = read;
  if (!shown) throw new Failure('failed', 'The service does not show the thread. Nothing was sent.');
  return { seen: seenOf({ operation, hearers, body, record: shown }), record: shown, known };
}

/** What is other than it was when the draft was read, in sentences; none where nothing is. */
export function differences(draft: Draft, now: Seen, record: Thread['record']): string[] {
  const told: string[] = [];
  // The names too: a person goes by them.
  if (now.recipient !== draft.recipient || now.to !== draft.to)
    told.push(`It would go to ${now.to ?? 'nobody'} now, and not to ${draft.to ?? 'anybody known'}.`);
  if (now.number !== draft.number) told.push(`It is about ${now.number ?? 'a record without a number'} now.`);
  if (now.channel !== draft.channel) told.push(`It would go by ${now.channel ?? 'no channel'} now.`);
  if (now.status !== draft.status)
    told.push(`It is ${now.status ?? 'without a status'} now; it was ${draft.status ?? 'not known'}.`);
  if (now.content !== draft.content) told.push('What would be published is other than it was.');
  const writer = writerSince(draft, now, record);
  if (writer !== undefined) {
    told.push(writer === 'team' ? 'The team has answered since.' : customerHasWritten);
  } else if (draft.messages !== undefined && now.messages !== draft.messages)
    told.push('The thread holds other messages than it did.');
  return told;
}

export const customerHasWritten = 'The customer has written again.';

/** Who wrote the newest message, where that is another one than it was when the draft was read. */
export function writerSince(draft: Draft, now: Seen, record: Thread['record']): 'team' | 'customer' | undefined {
  const newest = now.answers?.message_id ?? null;
  if (newest === (draft.answers?.message_id ?? null)) return undefined;
  const messages = Array.isArray(record?.messages) ? record.messages : [];
  const last = fieldsIn(messages.find((one) => fieldsIn(one).id === newest));
  const isTeam = last.direction === 'out' || ['operator', 'agent', 'ai'].includes(String(last.sender_type));
  return isTeam ? 'team' : 'customer';
}
