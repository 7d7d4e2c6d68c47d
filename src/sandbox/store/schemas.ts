import * as v from 'valibot';
import type { ResourceName } from '../../api/resources.ts';
import { DeliveryRow } from '../deliveries/attempts.ts';
import { ClientRow, ConnectionRow } from '../oauth/state.ts';

/**
 * Every kind of record that the sandbox keeps. The schemas judge a `--seed` file and a `--state` file, fill in what a
 * hand-written seed leaves out, and give the types. `GET /_sandbox/state` shows rows in exactly this form.
 */

const id = v.pipe(v.number(), v.integer(), v.minValue(1));
const account_id = id;
const none = null;
const text = v.optional(v.string(), '');
const maybeText = v.optional(v.nullable(v.string()), none);
const maybeId = v.optional(v.nullable(id), none);
const yes = v.optional(v.boolean(), true);
const no = v.optional(v.boolean(), false);
const count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0);
const pairs = v.optional(v.record(v.string(), v.unknown()), {});
const when = v.pipe(
  v.string(),
  v.check((value) => !Number.isNaN(Date.parse(value)), 'must be an ISO 8601 time'),
  v.transform((value) => new Date(value).toISOString()),
);
const kpi = v.optional(v.nullable(v.object({ value_minor: v.number(), currency: v.string() })), none);
const epoch = '2026-01-01T00:00:00.000Z';
const time = v.optional(when, epoch);
const maybeTime = v.optional(v.nullable(when), none);

const Attachments = v.optional(
  v.array(v.object({ name: v.string(), mime: v.string(), size: v.pipe(v.number(), v.integer()) })),
  [],
);

const TicketMessage = v.object({
  id,
  direction: v.picklist(['in', 'out']),
  sender_type: v.optional(v.string(), 'customer'),
  sender_name: text,
  body: v.string(),
  attachments: Attachments,
  created_at: time,
});

const ConversationMessage = v.object({
  id,
  sender_type: v.picklist(['visitor', 'operator', 'ai']),
  sender_name: text,
  body: v.string(),
  attachments: Attachments,
  created_at: time,
});

const Note = v.object({ id, body: v.string(), created_at: time });
const HistoryItem = v.object({ at: time, event: v.string(), detail: pairs });

export const recordSchemas = {
  accounts: v.object({
    account_id,
    name: v.string(),
    billing_active: yes,
    setup_url: maybeText,
    modules: v.optional(v.object({ support: yes, changelog: yes, feedback_board: yes, roadmap: yes }), {}),
    branding: pairs,
    /** The account opted in to exporting real contacts: those made by events are then no shadow contacts. */
    exports_real_contacts: no,
    /** Sending replies fails, as the control call `act sends_fail` asks. */
    sends_fail: no,
  }),
  contacts: v.object({
    contact_id: id,
    account_id,
    name: v.string(),
    last_name: text,
    email: text,
    phone: text,
    company: text,
    website: maybeText,
    country: text,
    tags: v.optional(v.array(v.string()), []),
    metadata: pairs,
    lead_status: v.optional(v.string(), 'new'),
    created_at: time,
    updated_at: time,
    /** Made by an event and quarantined: no endpoint shows it. */
    shadow: no,
  }),
  lists: v.object({
    contacts_list_id: id,
    account_id,
    name: v.string(),
    target_industry: text,
    notes: text,
    metadata: pairs,
    created_at: time,
  }),
  list_members: v.object({ contacts_list_id: id, contact_id: id }),
  calls: v.object({
    phone_call_id: id,
    account_id,
    contact_id: id,
    from: text,
    to: text,
    status: v.optional(v.string(), 'completed'),
    duration: count,
    interest_level: v.optional(v.string(), 'unknown'),
    ended_reason: v.optional(v.string(), 'completed'),
    start_time: time,
    created_at: time,
  }),
  tickets: v.object({
    id,
    account_id,
    ticket_number: text,
    subject: v.string(),
    description: text,
    status: v.optional(v.string(), 'open'),
    priority: count,
    source: v.optional(v.string(), 'email'),
    contact_id: maybeId,
    conversation_id: maybeId,
    due_at: maybeTime,
    first_response_at: maybeTime,
    resolved_at: maybeTime,
    created_at: time,
    updated_at: time,
    /** Empty for a ticket with a conversation: its thread is the conversation's. */
    messages: v.optional(v.array(TicketMessage), []),
    notes: v.optional(v.array(Note), []),
    history: v.optional(v.array(HistoryItem), []),
    reopens: count,
  }),
  conversations: v.object({
    id,
    account_id,
    status: v.optional(v.string(), 'open'),
    handling_mode: v.optional(v.picklist(['ai', 'human']), 'ai'),
    channel: v.optional(v.string(), 'web'),
    subject: maybeText,
    priority: v.optional(v.string(), 'normal'),
    contact_id: maybeId,
    ticket_id: maybeId,
    last_message_at: time,
    resolved_at: maybeTime,
    csat_rating: v.optional(v.nullable(v.number()), none),
    created_at: time,
    updated_at: time,
    messages: v.optional(v.array(ConversationMessage), []),
    notes: v.optional(v.array(Note), []),
  }),
  changelog: v.object({
    id,
    account_id,
    title: v.string(),
    slug: v.string(),
    version: maybeText,
    category_id: maybeId,
    labels: v.optional(v.array(v.string()), []),
    status: v.optional(v.picklist(['draft', 'published']), 'draft'),
    published_at: maybeTime,
    created_at: time,
    updated_at: time,
    content: text,
    content_html: text,
  }),
  changelog_categories: v.object({ id, account_id, name: v.string() }),
  feedback: v.object({
    id,
    account_id,
    title: v.string(),
    content: text,
    status: v.optional(v.string(), 'open'),
    category_id: maybeId,
    vote_count: count,
    comments_count: count,
    on_roadmap: no,
    created_at: time,
    updated_at: time,
  }),
  feedback_categories: v.object({ id, account_id, name: v.string() }),
  feedback_statuses: v.object({ id, account_id, slug: v.string(), name: v.string() }),
  roadmap_columns: v.object({
    id,
    account_id,
    slug: v.string(),
    name: v.string(),
    color: v.optional(v.string(), '#64748b'),
  }),
  meetings: v.object({
    id,
    account_id,
    name: v.string(),
    slug: v.string(),
    description: text,
    duration_minutes: v.optional(v.number(), 30),
    location_type: v.optional(v.string(), 'video'),
    url: text,
  }),
  /** What reacts to events: each active sequence with the event's trigger enrols its contact. */
  sequences: v.object({ id, account_id, name: v.string(), trigger: v.string(), is_active: yes }),
  events: v.object({
    id,
    account_id,
    trigger: v.string(),
    external_ref: maybeText,
    contact_id: id,
    metadata: pairs,
    attribution: pairs,
    kpi,
    created_at: time,
  }),
  enrolments: v.object({ id, account_id, sequence_id: id, contact_id: id, event_id: id, created_at: time }),
  conversions: v.object({
    id,
    account_id,
    event_id: id,
    contact_id: id,
    trigger: v.string(),
    attribution: pairs,
    kpi,
    created_at: time,
  }),
  clients: ClientRow,
  connections: ConnectionRow,
  subscriptions: v.object({
    id,
    account_id,
    /** The connection that made it. Only that one lists it. */
    connection_id: v.string(),
    event_type: v.string(),
    target_url: v.string(),
    signing_secret: v.string(),
    is_active: yes,
    created_at: time,
  }),
  deliveries: DeliveryRow,
} as const satisfies Record<string, v.GenericSchema> & Record<ResourceName, Owned>;

/** Whatever the service has a resource of is kept here, and belongs to an account. */
type Owned = v.GenericSchema<unknown, { account_id: number }>;
