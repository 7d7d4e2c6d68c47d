import type { OperationId, Operations } from '../../src/api/index.ts';
import type { Safety } from '../../src/api/operation.ts';

export type State = Record<string, Record<string, unknown>[]>;

type Line = {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** How many records the command has made, for those that must never be doubled. */
  readonly made?: (state: State) => number;
};

const person = ['--name', 'Ada', '--last-name', 'Byron', '--email', 'ada@example.com', '--phone', '+12025550123'];
export const hook = { event_type: 'call.completed', target_url: 'https://hooks.example.com/svc' };
const count = (
  rows: readonly Record<string, unknown>[] = [],
  match: (row: Record<string, unknown>) => boolean,
): number => rows.filter(match).length;
const nested = (state: State, kind: string, key: string, body: string): number =>
  (state[kind] ?? []).flatMap((row) => row[key] as Record<string, unknown>[]).filter((m) => m?.body === body).length;

/** What may be done twice by mistake counts what it has made. */
type LineOf<S extends Safety> = S extends 'verify' | 'once' ? Line & Required<Pick<Line, 'made'>> : Line;

/** A command line for every operation. */
export const lines: { readonly [Id in OperationId]: LineOf<Operations[Id]['safety']> } = {
  getAccount: { argv: ['account', 'get'] },
  updateBranding: { argv: ['branding', 'update', '--from-name', 'Acme Care'] },
  listContacts: { argv: ['contacts', 'list'] },
  getContact: { argv: ['contacts', 'get', '7'] },
  updateContact: { argv: ['contacts', 'update', '7', '--company', 'Umbra'] },
  createContacts: {
    argv: ['contacts', 'create', ...person],
    made: ({ contacts }) => count(contacts, (row) => row.email === 'ada@example.com'),
  },
  syncContacts: {
    argv: ['api', '/platform/contacts/sync', '--input', '-'],
    stdin: '{"contacts":[{"email":"sync@example.com","name":"Sync"}]}',
    made: ({ contacts }) => count(contacts, (row) => row.email === 'sync@example.com'),
  },
  listContactLists: { argv: ['lists', 'list'] },
  createContactList: {
    argv: ['lists', 'create', '--name', 'Matrix', '--target-industry', 'Any', '--notes', 'n'],
    made: ({ lists }) => count(lists, (row) => row.name === 'Matrix'),
  },
  updateContactList: { argv: ['lists', 'update', '1', '--name', 'Renamed'] },
  deleteContactList: { argv: ['lists', 'delete', '1', '--yes'] },
  listContactListMembers: { argv: ['lists', 'members', '1'] },
  createAndSyncListContacts: {
    argv: ['api', '/contactslists/1/create_sync_contacts', '--input', '-'],
    stdin: '{"contacts":[{"email":"listed@example.com","name":"Listed"}]}',
    made: ({ contacts }) => count(contacts, (row) => row.email === 'listed@example.com'),
  },
  syncListContacts: { argv: ['lists', 'set', '1', '--contact', '7', '--yes'] },
  removeListContacts: { argv: ['lists', 'remove', '1', '--contact', '7'] },
  listCalls: { argv: ['calls', 'list'] },
  listTickets: { argv: ['tickets', 'list'] },
  getTicket: { argv: ['tickets', 'get', '7'] },
  createTicket: {
    argv: ['tickets', 'create', '--subject', 'Matrix', '--description', 'Once only'],
    made: ({ tickets }) => count(tickets, (row) => row.subject === 'Matrix'),
  },
  updateTicket: { argv: ['tickets', 'update', '7', '--priority', '4'] },
  addTicketNote: {
    argv: ['tickets', 'note', '7', '--body', 'Matrix note'],
    made: (state) => nested(state, 'tickets', 'notes', 'Matrix note'),
  },
  replyToTicket: {
    argv: ['tickets', 'reply', '8', '--body', 'Matrix reply'],
    made: (state) => nested(state, 'tickets', 'messages', 'Matrix reply'),
  },
  listConversations: { argv: ['conversations', 'list'] },
  getConversation: { argv: ['conversations', 'get', '3'] },
  replyToConversation: {
    argv: ['conversations', 'reply', '3', '--body', 'Matrix message'],
    made: (state) => nested(state, 'conversations', 'messages', 'Matrix message'),
  },
  resolveConversation: { argv: ['conversations', 'resolve', '3'] },
  listChangelog: { argv: ['api', '/changelog'] },
  getChangelogEntry: { argv: ['api', '/changelog/3'] },
  createChangelogEntry: {
    argv: ['api', '/changelog', '-f', 'title=Matrix', '-f', 'content=Once'],
    made: ({ changelog }) => count(changelog, (row) => row.title === 'Matrix'),
  },
  updateChangelogEntry: { argv: ['api', '/changelog/3', '-X', 'PATCH', '-f', 'title=Renamed'] },
  listFeedback: { argv: ['feedback', 'list'] },
  getRoadmap: { argv: ['roadmap', 'get'] },
  sendEvent: {
    argv: ['events', 'send', 'matrix', '--contact-name', 'Ada', '--email', 'a@example.com'],
    made: ({ events }) => count(events, (row) => row.trigger === 'matrix'),
  },
  listWebhooks: { argv: ['api', '/oauth-platform/webhooks'] },
  createWebhook: {
    argv: [
      'api',
      '/oauth-platform/webhooks',
      '-f',
      `event_type=${hook.event_type}`,
      '-f',
      `target_url=${hook.target_url}`,
    ],
    made: ({ subscriptions }) =>
      count(subscriptions, (row) => row.event_type === hook.event_type && row.is_active === true),
  },
  deleteWebhook: { argv: ['api', '/oauth-platform/webhooks/1', '-X', 'DELETE'] },
  listMeetings: { argv: ['meetings', 'list', '--account', '1'] },
};
