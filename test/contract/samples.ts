/** Records as the service's description has them, for the service to answer with. */

export const at = '2026-11-20T09:00:00Z';
export const meta = { current_page: 1, last_page: 1, total: 1 };
const ada = { contact_id: 7, name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' };
export const contact = {
  ...ada,
  company: '',
  website: null,
  country: '',
  tags: [],
  metadata: {},
  lead_status: 'new',
  created_at: at,
};
export const wholeContact = { ...contact, updated_at: at };
export const list = { contacts_list_id: 5, name: 'Leads', target_industry: 'Retail' };
export const call = {
  phone_call_id: 21,
  contact_id: 7,
  from: '+12025550100',
  to: '+12025550101',
  status: 'completed',
  duration: 95,
  interest_level: 'high',
  start_time: at,
  created_at: at,
};
export const ticket = {
  id: 8,
  ticket_number: 'T-8',
  subject: 'Printer on fire',
  status: 'open',
  priority: 3,
  source: 'api',
  contact: ada,
  due_at: null,
  first_response_at: null,
  resolved_at: null,
  created_at: at,
  updated_at: at,
};
export const wholeTicket = { ...ticket, description: '', reply_channel: 'email', conversation_id: null, messages: [] };
export const chat = {
  id: 31,
  status: 'open',
  handling_mode: 'ai',
  channel: 'web',
  subject: null,
  priority: 'normal',
  contact: null,
  ticket_id: null,
  last_message_at: at,
  resolved_at: null,
  csat_rating: null,
  created_at: at,
  updated_at: at,
};
export const entry = {
  id: 9,
  title: 'Dark mode',
  slug: 'dark-mode',
  version: null,
  category: null,
  labels: [],
  status: 'draft',
  is_live: false,
  published_at: null,
  created_at: at,
  updated_at: at,
};
export const wholeEntry = { ...entry, content_html: '<p>It is here.</p>' };
export const post = {
  id: 61,
  title: 'Dark mode',
  content: 'My eyes.',
  status: 'planned',
  category: { id: 3, name: 'Interface' },
  vote_count: 12,
  comments_count: 2,
  on_roadmap: true,
  created_at: at,
  updated_at: at,
};
export const hook = { id: 71, event_type: 'ticket.created', target_url: 'https://hooks.example.com/svc' };
export const note = { id: 51, body: 'Called back', created_at: at };
export const reply = { id: 902, channel: 'email', direction: 'out', body: 'We are on it', created_at: at };
export const message = { id: 412, sender_type: 'operator', body: 'Hello', created_at: at };
export const meeting = {
  id: 81,
  name: 'Demo',
  slug: 'demo',
  description: '',
  duration_minutes: 30,
  location_type: 'video',
  url: 'https://book.example.com/acme/demo',
};
export const account = { account_id: 1, name: 'Acme', billing_active: true, setup_url: null };
export const done = { success: 'Done.' };
