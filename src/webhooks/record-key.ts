import { type WebhookEvent, webhookEvents } from '../api/webhooks.ts';
import { fieldsIn } from '../text/record.ts';

/** The field of `data` that names the record of each event. */
const idFields: Readonly<Record<WebhookEvent, string>> = {
  'contact.created': 'contact_id',
  'call.completed': 'phone_call_id',
  'ticket.created': 'ticket_id',
  'conversation.message_received': 'message_id',
  'changelog.published': 'entry_id',
  'feedback.created': 'post_id',
};

export const recordKey = (event: WebhookEvent, id: number): string => `${event}:${id}`;

/** The record that a body tells of; undefined where it is none of the service's events. */
export function recordIn(body: Uint8Array): string | undefined {
  let envelope: Readonly<Record<string, unknown>>;
  try {
    envelope = fieldsIn(JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return undefined;
  }
  const event = webhookEvents.find((each) => each === envelope.event);
  const id = event && fieldsIn(envelope.data)[idFields[event]];
  return event && Number.isSafeInteger(id) ? recordKey(event, Number(id)) : undefined;
}
