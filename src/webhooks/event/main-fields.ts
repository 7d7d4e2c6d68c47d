import type { WebhookEvent } from '../../api/webhooks.ts';
import { type Fields, fieldsIn, ownOf } from '../../text/record.ts';

function text(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
const words = (...parts: readonly unknown[]): string => parts.map(text).filter(Boolean).join(' ');
const among = (...parts: readonly unknown[]): string => {
  const inside = parts.map(text).filter(Boolean).join(', ');
  return inside === '' ? '' : `(${inside})`;
};
const by = (contact: unknown): string => (contact === null || contact === undefined ? '' : `contact ${text(contact)}`);

const ofEvent = {
  'contact.created': (d) => words(`#${text(d.contact_id)}`, d.name, d.email ?? d.phone, among(d.lead_status)),
  'call.completed': (d) =>
    words(`#${text(d.phone_call_id)}`, d.from, '→', d.to, `${text(d.duration)} s`, among(d.ended_reason)),
  'ticket.created': (d) => words(d.ticket_number, d.subject, among(d.status, `priority ${text(d.priority)}`, d.source)),
  'conversation.message_received': (d) =>
    words(`#${text(d.conversation_id)}`, among(d.channel, by(d.contact_id)), d.body),
  'changelog.published': (d) => words(d.title, among(d.version, d.slug)),
  'feedback.created': (d) => words(`#${text(d.post_id)}`, d.title, among(d.status)),
} satisfies Record<WebhookEvent, (data: Fields) => string>;

/** What a person wants to know of an event at a glance. Exact text of customers: not yet fit for a terminal. */
export function mainFields(event: string | null, data: unknown): string {
  if (typeof data !== 'object' || data === null) return text(data);
  const summary = ownOf(ofEvent, event ?? '');
  return summary ? summary(fieldsIn(data)) : JSON.stringify(data);
}
