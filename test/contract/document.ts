/**
 * The endpoints of the service, copied by hand. Nothing here comes from src/api: the table is judged by this list,
 * and a list derived from the table would always agree with it.
 */
export type Endpoint = {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** null: any valid token; `m2m`: the machine-to-machine token and nothing else. */
  readonly scope: string | null;
  readonly status: number;
  readonly module?: 'support' | 'changelog' | 'feedback_board' | 'roadmap';
  readonly paged: boolean;
};

// The order of the columns is the document's: method, path, scope, operation, and the status of success.
const rows = [
  ['GET', '/platform/account', 'identity', 'getAccount', 200],
  ['PUT', '/platform/branding', 'branding:write', 'updateBranding', 200],
  ['GET', '/contacts', 'contacts:read', 'listContacts', 200],
  ['GET', '/contacts/{id}', 'contacts:read', 'getContact', 200],
  ['PATCH', '/contacts/{id}', 'contacts:write', 'updateContact', 200],
  ['POST', '/contacts/create', 'contacts:write', 'createContacts', 200],
  ['POST', '/platform/contacts/sync', 'contacts:write', 'syncContacts', 200],
  ['GET', '/contactslists/list', null, 'listContactLists', 200],
  ['POST', '/contactslists/create', null, 'createContactList', 200],
  ['POST', '/contactslists/{contactList}/update', null, 'updateContactList', 200],
  ['POST', '/contactslists/{contactList}/delete', null, 'deleteContactList', 200],
  ['GET', '/contactslists/{contactList}/get_contacts', null, 'listContactListMembers', 200],
  ['POST', '/contactslists/{contactList}/create_sync_contacts', null, 'createAndSyncListContacts', 200],
  ['POST', '/contactslists/{contactList}/sync_contacts', null, 'syncListContacts', 200],
  ['POST', '/contactslists/{contactList}/remove_contacts', null, 'removeListContacts', 200],
  ['GET', '/calls', 'calls:read', 'listCalls', 200],
  ['GET', '/tickets', 'tickets:read', 'listTickets', 200],
  ['GET', '/tickets/{id}', 'tickets:read', 'getTicket', 200],
  ['POST', '/tickets', 'tickets:write', 'createTicket', 201],
  ['PATCH', '/tickets/{id}', 'tickets:write', 'updateTicket', 200],
  ['POST', '/tickets/{id}/notes', 'tickets:write', 'addTicketNote', 201],
  ['POST', '/tickets/{id}/replies', 'tickets:write', 'replyToTicket', 201],
  ['GET', '/conversations', 'conversations:read', 'listConversations', 200],
  ['GET', '/conversations/{id}', 'conversations:read', 'getConversation', 200],
  ['POST', '/conversations/{id}/messages', 'conversations:write', 'replyToConversation', 201],
  ['POST', '/conversations/{id}/resolve', 'conversations:write', 'resolveConversation', 200],
  ['GET', '/changelog', 'changelog:read', 'listChangelog', 200],
  ['GET', '/changelog/{id}', 'changelog:read', 'getChangelogEntry', 200],
  ['POST', '/changelog', 'changelog:write', 'createChangelogEntry', 201],
  ['PATCH', '/changelog/{id}', 'changelog:write', 'updateChangelogEntry', 200],
  ['GET', '/feedback', 'feedback:read', 'listFeedback', 200],
  ['GET', '/roadmap', 'feedback:read', 'getRoadmap', 200],
  ['POST', '/integrations/partner/events', 'sequences:trigger', 'sendEvent', 200],
  ['GET', '/oauth-platform/webhooks', 'webhooks:manage', 'listWebhooks', 200],
  ['POST', '/oauth-platform/webhooks', 'webhooks:manage', 'createWebhook', 201],
  ['DELETE', '/oauth-platform/webhooks/{webhook}', 'webhooks:manage', 'deleteWebhook', 200],
  ['GET', '/{account}/meetings', 'm2m', 'listMeetings', 200],
] as const;

/** General rule 7. */
const modules = {
  tickets: 'support',
  conversations: 'support',
  changelog: 'changelog',
  feedback: 'feedback_board',
  roadmap: 'roadmap',
} as const;

/** The lists that answer with `meta`. */
const paged = ['listContacts', 'listCalls', 'listTickets', 'listConversations', 'listChangelog', 'listFeedback'];

export const endpoints: readonly Endpoint[] = rows.map(([method, path, scope, id, status]) => {
  const resource = path.split('/')[1] as keyof typeof modules;
  return { id, method, path, scope, status, module: modules[resource], paged: paged.includes(id) };
});

/** For each operation that takes a body, one that the document accepts in any account. */
export const bodies: Readonly<Record<string, unknown>> = {
  updateBranding: { primary_color: '#102030' },
  updateContact: { company: 'Example' },
  createContacts: { name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '+12025550101' },
  syncContacts: { contacts: [{ email: 'ada@example.com' }] },
  createContactList: { name: 'Leads', target_industry: 'Retail', notes: 'From the fair' },
  updateContactList: { name: 'Leads' },
  createAndSyncListContacts: { contacts: [{ name: 'Ada', email: 'ada@example.com' }] },
  syncListContacts: { name: 'Leads', contacts_ids: [] },
  removeListContacts: { contacts_ids: [1] },
  createTicket: { subject: 'Printer on fire' },
  updateTicket: { priority: 3 },
  addTicketNote: { body: 'Called back' },
  replyToTicket: { body: 'We are on it' },
  replyToConversation: { body: 'Hello' },
  createChangelogEntry: { title: 'Dark mode', content: 'It is here.' },
  updateChangelogEntry: { version: '1.2.0' },
  sendEvent: { trigger: 'order_create', contact: { name: 'Ada', email: 'ada@example.com' } },
  createWebhook: { event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' },
};

/** The table of scopes (Authentication, Scopes). */
export const scopes = [
  'identity',
  'branding:write',
  'contacts:read',
  'contacts:write',
  'calls:read',
  'tickets:read',
  'tickets:write',
  'conversations:read',
  'conversations:write',
  'changelog:read',
  'changelog:write',
  'feedback:read',
  'sequences:trigger',
  'webhooks:manage',
] as const;

/** Supported event_type values (Events, Outbound webhooks), each with the fields of its `data`. */
export const events = {
  'contact.created': 'contact_id, name, email, phone, lead_status',
  'call.completed': 'phone_call_id, contact_id, from, to, duration, ended_reason',
  'ticket.created': 'ticket_id, account_id, ticket_number, subject, status, priority, source, contact_id, created_at',
  'conversation.message_received':
    'conversation_id, message_id, account_id, contact_id, channel, sender_type, body, created_at',
  'changelog.published': 'entry_id, account_id, title, version, slug, published_at',
  'feedback.created': 'post_id, account_id, title, status, category_id, created_at',
} as const;
