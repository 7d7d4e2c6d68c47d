import type { WebhookEvent } from '../api/webhooks.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { openCopyIfKnown } from '../mirror/store/open-copy.ts';
import { readAll } from '../mirror/store/read.ts';
import { isKindWhole, readState } from '../mirror/store/state.ts';
import type { KindName } from '../mirror/tables/kinds.ts';
import type { Account, Store } from '../mirror/tables/store.ts';
import type { Fields } from '../text/record.ts';
import { messagesOf } from './customer-messages.ts';
import type { Records } from './records.ts';

const kindOf: Partial<Record<WebhookEvent, KindName>> = {
  'contact.created': 'contacts',
  'call.completed': 'calls',
  'ticket.created': 'tickets',
  'conversation.message_received': 'conversations',
};

/** The service's clock and this machine's may differ, and a pull takes its time. */
const overlapMs = 15 * 60_000;

/**
 * Records from the copy of the account as far as it reaches, and only the rest from the service. Changelog and feedback
 * are always asked for: their lists have to be read whole.
 */
export async function recordsFromCopy(ctx: Context, settings: Settings, service: Records) {
  const copy = await openCopyIfKnown(ctx, settings).catch(() => undefined);
  if (!copy) return { records: service, close: async () => {} };
  return { records: both(copy.store, copy.account, service), close: () => copy.store.close() };
}

const both = (store: Store, account: Account, service: Records): Records =>
  async function* records(event, since) {
    const kind = kindOf[event];
    const until = kind && (await reachOf(store, account, kind));
    if (!kind || until === undefined || until <= since) return yield* service(event, since);
    yield* kind === 'conversations' ? copiedMessages(store, account, since) : readAll(store, account, kind);
    yield* service(event, until);
  };

/** Up to when the copy surely holds every record. */
async function reachOf(store: Store, account: Account, kind: KindName): Promise<Date | undefined> {
  const state = await store.read((sql) => readState(sql, account, kind));
  // A reading may take hours, and what comes meanwhile is not in it: of its end, which earlier versions kept, nothing follows.
  const until = state.wholeUntil ?? state.cursor;
  return isKindWhole(state) && until !== null ? new Date(Date.parse(until) - overlapMs) : undefined;
}

async function* copiedMessages(store: Store, account: Account, since: Date): AsyncGenerator<Fields> {
  const conversations = new Map<unknown, Fields>();
  for await (const conversation of readAll(store, account, 'conversations')) {
    const { id, last_message_at: last } = conversation;
    if (typeof last === 'string' && Date.parse(last) >= since.getTime()) conversations.set(id, conversation);
  }
  for await (const message of readAll(store, account, 'conversation_messages')) {
    const conversation = conversations.get(message.conversation_id);
    if (conversation) yield* messagesOf(conversation, [message]);
  }
}
