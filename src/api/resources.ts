/** A kind of record of the service. */
export type Resource = {
  /** One of it, in the words of a person. */
  readonly noun: string;
  /** The field of a listed record that holds its id; undefined where records have none. */
  readonly idField: string | undefined;
  /** What people have in place of its id, and svc takes as well. */
  readonly otherName?: string;
  /** The field with the number that people know it by. */
  readonly numberField?: string;
  /** The words after `svc` that show the ids of those that are there; undefined where nothing does. */
  readonly list?: string;
  /** Who alone sees it: everybody of the account, or the OAuth connection that made it. */
  readonly ownedBy: 'account' | 'connection';
};

/** Every kind of record. The sandbox must keep each of them, or it does not compile. */
export const resources = {
  accounts: { noun: 'account', idField: 'account_id', ownedBy: 'account' },
  contacts: { noun: 'contact', idField: 'contact_id', list: 'contacts list', otherName: 'email', ownedBy: 'account' },
  lists: { noun: 'contact list', idField: 'contacts_list_id', list: 'lists list', ownedBy: 'account' },
  calls: { noun: 'phone call', idField: 'phone_call_id', list: 'calls list', ownedBy: 'account' },
  tickets: {
    noun: 'ticket',
    idField: 'id',
    list: 'tickets list',
    otherName: 'number',
    numberField: 'ticket_number',
    ownedBy: 'account',
  },
  conversations: { noun: 'conversation', idField: 'id', list: 'conversations list', ownedBy: 'account' },
  changelog: { noun: 'changelog entry', idField: 'id', list: 'changelog list', ownedBy: 'account' },
  feedback: { noun: 'feedback post', idField: 'id', list: 'feedback list', ownedBy: 'account' },
  roadmap_columns: { noun: 'roadmap column', idField: undefined, ownedBy: 'account' },
  events: { noun: 'event', idField: 'id', ownedBy: 'account' },
  subscriptions: { noun: 'subscription', idField: 'id', list: 'webhooks list', ownedBy: 'connection' },
  meetings: { noun: 'meeting type', idField: 'id', ownedBy: 'account' },
} as const satisfies Record<string, Resource>;

export type ResourceName = keyof typeof resources;

/** `id or number` of a ticket, `id` of a list. */
export function idWords(record: ResourceName): string {
  const { otherName }: Resource = resources[record];
  return otherName === undefined ? 'id' : `id or ${otherName}`;
}
