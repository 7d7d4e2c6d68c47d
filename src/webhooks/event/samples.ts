import type { WebhookEvent } from '../../api/webhooks.ts';
import { Failure } from '../../errors.ts';
import { jsonIn } from '../../text/json.ts';
import { nearestField } from '../../text/near.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';

/** What an event's `data` looks like, with people and numbers that are plainly samples. */
const data: Readonly<Record<WebhookEvent, (now: string) => Fields>> = {
  'contact.created': () => ({
    contact_id: 1042,
    name: 'Ada',
    email: 'ada@example.com',
    phone: '+12025550142',
    lead_status: 'new',
  }),
  'call.completed': () => ({
    phone_call_id: 311,
    contact_id: 1042,
    from: '+12025550100',
    to: '+12025550142',
    duration: 187,
    ended_reason: 'customer_hung_up',
  }),
  'ticket.created': (now) => ({
    ticket_id: 512,
    account_id: 1,
    ticket_number: 'T-1512',
    subject: 'The export misses the last row',
    status: 'open',
    priority: 2,
    source: 'email',
    contact_id: 1042,
    created_at: now,
  }),
  'conversation.message_received': (now) => ({
    conversation_id: 88,
    message_id: 4021,
    account_id: 1,
    contact_id: 1042,
    channel: 'web',
    sender_type: 'visitor',
    body: 'Hello, does the plan include phone support?',
    created_at: now,
  }),
  'changelog.published': (now) => ({
    entry_id: 27,
    account_id: 1,
    title: 'Release 1.4.0',
    version: '1.4.0',
    slug: 'release-1-4-0',
    published_at: now,
  }),
  'feedback.created': (now) => ({
    post_id: 73,
    account_id: 1,
    title: 'Dark mode for the portal',
    status: 'open',
    category_id: 3,
    created_at: now,
  }),
};

/** The envelope as the service sends it, of that account: its times carry an offset. */
export function sampleEnvelope(event: WebhookEvent, id: string, at: Date, account?: number): Fields {
  const now = at.toISOString().replace(/\.\d+Z$/u, '+00:00');
  const sample = data[event](now);
  const own = account !== undefined && 'account_id' in sample ? { account_id: account } : {};
  return { event, id, created_at: now, data: { ...sample, ...own } };
}

/** Those of the paths that the sample has not, each with the field that was probably meant. */
export function newFields(envelope: Fields, paths: readonly string[]) {
  const fields = [...Object.keys(envelope), ...Object.keys(fieldsIn(envelope.data)).map((name) => `data.${name}`)];
  return paths.filter((path) => !fields.includes(path)).map((path) => ({ path, near: nearestField(path, fields) }));
}

/** The envelope with `data.field=value` put in. Throws a usage Failure for a path that leads into a plain value. */
export function withValues(envelope: Fields, values: Readonly<Record<string, string>>): Fields {
  const changed: Record<string, unknown> = structuredClone(envelope);
  for (const [path, text] of Object.entries(values)) put(changed, path, text);
  return changed;
}

function put(envelope: Record<string, unknown>, path: string, text: string): void {
  const keys = path.split('.');
  let at: Record<string, unknown> = envelope;
  for (const key of keys.slice(0, -1)) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    if (next !== undefined && !holdsFields(next)) {
      throw new Failure('usage', `--set ${path}: ${key} is a plain value, so nothing can be set in it.`);
    }
    const holder = next ?? {};
    define(at, key, holder);
    at = holder;
  }
  const last = keys.at(-1) ?? '';
  define(at, last, typed(text, Object.hasOwn(at, last) ? at[last] : undefined));
}

/** An object, or a list with its items by number. */
const holdsFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** An own field even where the name is one that objects inherit. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A text in the sample stays a text. Anything else is read as JSON where it is JSON. `null` is always null. */
function typed(text: string, present: unknown): unknown {
  if (text === 'null') return null;
  if (typeof present === 'string' && !text.startsWith('"')) return text;
  return jsonIn(text, text);
}
