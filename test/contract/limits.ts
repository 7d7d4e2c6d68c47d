/**
 * The limits of the service's description and the field rules beside it, copied by hand: for each a request that just
 * passes and one that is just refused, and the field that the refusal names.
 */
type Value = Readonly<Record<string, unknown>>;

export type Rule = {
  readonly id: string;
  readonly field: string;
  readonly says: string;
  readonly accepted: readonly Value[];
  readonly refused: readonly Value[];
  readonly part: 'query' | 'body';
};

const rule = (
  id: string,
  field: string,
  says: string,
  accepted: readonly Value[],
  refused: readonly Value[],
  part: Rule['part'] = 'body',
): Rule => ({ id, field, says, accepted, refused, part });

/** One code point, two UTF-16 units, four bytes: a limit that counts anything but characters fails on it. */
const emoji = (count: number) => '😀'.repeat(count);

/** At the limit, then one more, in letters and in emoji. */
const atMost = (id: string, field: string, max: number, body: (text: string) => Value): Rule =>
  rule(
    id,
    field,
    `has at most ${max} characters`,
    [body('x'.repeat(max)), body(emoji(max))],
    [body('x'.repeat(max + 1)), body(emoji(max + 1))],
  );

const list = (count: number) => Array.from({ length: count }, (_, at) => `label ${at}`);
const rows = (count: number) => Array.from({ length: count }, (_, at) => ({ email: `row${at}@example.com` }));
const set = (field: string, values: readonly unknown[], rest: Value = {}) =>
  values.map((value) => ({ ...rest, [field]: value }));
/** The body without a field, and with an empty one. */
const missing = (field: string, { [field]: _left, ...rest }: Value, ...values: readonly unknown[]) => [
  rest,
  ...set(field, values, rest),
];

const ada = { name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', phone: '+12025550101' };
const leads = { name: 'Leads', target_industry: 'Retail', notes: 'From the fair' };
const entry = { title: 'Dark mode', content: 'It is here.' };
const member = { name: 'Ada', email: 'ada@example.com' };
const event = { trigger: 'order_create', contact: member };
const hook = { event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' };

const pagination = ['listContacts', 'listCalls', 'listTickets', 'listConversations', 'listChangelog', 'listFeedback'];
const colors = ['primary_color', 'secondary_color', 'accent_color', 'button_color', 'button_text_color'];
const urls = ['logo_url', 'email_logo_url', 'square_logo_url', 'favicon_url', 'website_url'];
const sixEvents = [
  'contact.created',
  'call.completed',
  'ticket.created',
  'conversation.message_received',
  'changelog.published',
  'feedback.created',
];
const wrongPhones = ['2025550101', '+1202555010', '+120255501011', '+442071234567', '+1 202 555 0101', ''];

export const rules: readonly Rule[] = [
  ...pagination.flatMap((id) => [
    rule(id, 'per_page', 'is 1 to 100', set('per_page', [1, 100]), set('per_page', [0, 101, -1, 1.5]), 'query'),
    rule(id, 'page', 'is at least 1', set('page', [1, 1_000_000]), set('page', [0, -1, 1.5]), 'query'),
  ]),

  ...colors.map((field) =>
    rule(
      'updateBranding',
      field,
      'is a hex color',
      set(field, ['#102030', '#ABCDEF']),
      set(field, ['red', '#12345g', 5]),
    ),
  ),
  ...urls.map((field) =>
    rule('updateBranding', field, 'is an HTTPS URL', set(field, ['https://cdn.example.com/a.png']), [
      ...set(field, ['http://cdn.example.com/a.png', 'a.png']),
    ]),
  ),
  rule(
    'updateBranding',
    'socials.mastodon',
    'is an HTTPS URL',
    [{ socials: {} }, { socials: { mastodon: 'https://social.example.com/@acme' } }],
    [{ socials: { mastodon: 'http://social.example.com/@acme' } }],
  ),
  atMost('updateBranding', 'from_name', 120, (from_name) => ({ from_name })),
  atMost('updateBranding', 'brand_voice', 2000, (brand_voice) => ({ brand_voice })),

  rule('updateContact', 'name', 'cannot be blank', [{ name: 'Ada' }, {}], set('name', ['', '   ', null])),
  ...Object.keys(ada).map((field) =>
    rule('createContacts', field, 'is required of a single contact', [ada], missing(field, ada, '')),
  ),
  rule('createContacts', 'phone', 'is +1 and ten digits', [ada], set('phone', wrongPhones, ada)),
  rule(
    'syncContacts',
    'contacts',
    'holds 1 to 200 contacts',
    [{ contacts: rows(1) }, { contacts: rows(200) }],
    [{ contacts: rows(0) }, { contacts: rows(201) }, {}],
  ),

  ...Object.keys(leads).map((field) =>
    rule(
      'createContactList',
      field,
      'is required',
      [leads, { ...leads, metadata: { a: 1 } }],
      missing(field, leads, ''),
    ),
  ),
  rule('updateContactList', 'name', 'is required', [{ name: 'Leads' }], [{ target_industry: 'Retail' }]),
  rule('syncListContacts', 'name', 'is required', [{ name: 'Leads', contacts_ids: [] }], [{ contacts_ids: [] }]),
  rule(
    'removeListContacts',
    'contacts_ids',
    'is a required list',
    [{ contacts_ids: [1, 2] }],
    [{}, { contacts_ids: 5 }],
  ),
  rule(
    'createAndSyncListContacts',
    'contacts',
    'is a required list',
    [{ contacts: [member] }],
    [{}, { contacts: 'x' }],
  ),
  ...Object.keys(member).map((field) =>
    rule(
      'createAndSyncListContacts',
      `contacts.0.${field}`,
      'is required',
      [{ contacts: [member] }],
      [...missing(field, member).map((contact) => ({ contacts: [contact] }))],
    ),
  ),

  rule('createTicket', 'subject', 'is required', [{ subject: 'x' }], [{}, { subject: '' }]),
  atMost('createTicket', 'subject', 255, (subject) => ({ subject })),
  atMost('updateTicket', 'subject', 255, (subject) => ({ subject })),
  atMost('createTicket', 'description', 20_000, (description) => ({ subject: 'x', description })),
  atMost('updateTicket', 'description', 20_000, (description) => ({ description })),
  rule(
    'createTicket',
    'priority',
    'is 0 to 4',
    set('priority', [0, 1, 2, 3, 4], { subject: 'x' }),
    set('priority', [-1, 5, 1.5, 'high'], { subject: 'x' }),
  ),
  rule('updateTicket', 'priority', 'is 0 to 4', set('priority', [0, 4]), set('priority', [-1, 5])),
  rule(
    'updateTicket',
    'status',
    'is a status and not the filter alias',
    set('status', ['open', 'pending', 'resolved', 'closed']),
    [{ status: 'unresolved' }],
  ),
  rule('addTicketNote', 'body', 'is required', [{ body: 'x' }], [{}, { body: '' }]),
  atMost('addTicketNote', 'body', 10_000, (body) => ({ body })),
  ...['replyToTicket', 'replyToConversation'].flatMap((id) => [
    rule(id, 'body', 'is required', [{ body: 'x' }], [{}, { body: '' }]),
    atMost(id, 'body', 16_000, (body) => ({ body })),
  ]),

  rule(
    'createChangelogEntry',
    'title',
    'is required and has at least 3 characters',
    [entry, { ...entry, title: 'abc' }, { ...entry, title: emoji(3) }],
    missing('title', entry, 'ab', emoji(2)),
  ),
  atMost('createChangelogEntry', 'title', 255, (title) => ({ ...entry, title })),
  rule('updateChangelogEntry', 'title', 'has at least 3 characters', [{ title: 'abc' }], [{ title: 'ab' }]),
  atMost('updateChangelogEntry', 'title', 255, (title) => ({ title })),
  rule('createChangelogEntry', 'content', 'is required', [entry], missing('content', entry, '')),
  atMost('createChangelogEntry', 'content', 60_000, (content) => ({ ...entry, content })),
  atMost('updateChangelogEntry', 'content', 60_000, (content) => ({ content })),
  atMost('createChangelogEntry', 'version', 50, (version) => ({ ...entry, version })),
  atMost('updateChangelogEntry', 'version', 50, (version) => ({ version })),
  rule(
    'createChangelogEntry',
    'labels',
    'holds at most 10',
    set('labels', [[], list(10)], entry),
    set('labels', [list(11)], entry),
  ),
  rule('updateChangelogEntry', 'labels', 'holds at most 10', set('labels', [[], list(10)]), set('labels', [list(11)])),
  atMost('createChangelogEntry', 'labels.1', 40, (label) => ({ ...entry, labels: ['fine', label] })),
  rule(
    'createChangelogEntry',
    'status',
    'is draft or published',
    set('status', ['draft', 'published'], entry),
    set('status', ['live', ''], entry),
  ),
  rule(
    'updateChangelogEntry',
    'status',
    'is draft or published',
    set('status', ['draft', 'published']),
    set('status', ['live', '']),
  ),
  rule(
    'listChangelog',
    'status',
    'is draft or published',
    set('status', ['draft', 'published']),
    [{ status: 'live' }],
    'query',
  ),

  rule('sendEvent', 'trigger', 'is required', [event], missing('trigger', event, '')),
  rule('sendEvent', 'contact', 'is required', [event], missing('contact', event)),
  rule('sendEvent', 'contact.name', 'is required', [event], set('contact', [{ email: 'ada@example.com' }], event)),
  rule(
    'sendEvent',
    'contact',
    'needs an email or a phone',
    set('contact', [member, { name: 'Ada', phone: '+12025550101' }], event),
    set('contact', [{ name: 'Ada' }], event),
  ),
  rule(
    'sendEvent',
    'kpi.value_minor',
    'is a whole number of minor units',
    set('kpi', [{ value_minor: 1999, currency: 'EUR' }], event),
    set('kpi', [{ value_minor: 19.99, currency: 'EUR' }], event),
  ),

  rule('createWebhook', 'event_type', 'is one of the six events', set('event_type', sixEvents, hook), [
    ...missing('event_type', hook, 'ticket.closed'),
  ]),
  rule(
    'createWebhook',
    'target_url',
    'is HTTPS',
    [hook],
    [...missing('target_url', hook, 'http://hooks.example.com/svc', 'hooks.example.com', '')],
  ),
];
