import { listCalls } from '../api/calls.ts';
import { listChangelog } from '../api/changelog.ts';
import { listContacts } from '../api/contacts.ts';
import { getConversation, listConversations } from '../api/conversations.ts';
import { listFeedback } from '../api/feedback.ts';
import { listTickets } from '../api/tickets.ts';
import type { WebhookEvent } from '../api/webhooks.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { isOfOne } from '../http/call/of-one.ts';
import { list } from '../http/call/pages.ts';
import { counted } from '../text/number.ts';
import type { Fields } from '../text/record.ts';
import { inSeconds } from '../text/time.ts';

/** The records behind each event that were made since a moment; others may be among them. */
export type Records = (event: WebhookEvent, since: Date) => AsyncIterable<Fields>;

/** From the API, with as few requests as it allows. */
export const recordsOfService =
  (service: Service): Records =>
  (event, since) =>
    sources[event](service, since);

const isBefore = (time: unknown, since: Date): boolean =>
  typeof time === 'string' && Date.parse(time) < since.getTime();

/** Newest first: the first one that is older ends the reading. Several may be made at the very same time. */
async function* untilOlder(records: AsyncIterable<Fields>, since: Date): AsyncGenerator<Fields> {
  for await (const record of records) {
    if (isBefore(record.created_at, since)) return;
    yield record;
  }
}

const leftEarly = { all: true, isLeftEarly: true } as const;

const sources: Readonly<Record<WebhookEvent, (service: Service, since: Date) => AsyncIterable<Fields>>> = {
  'contact.created': (service, since) => untilOlder(list(service, listContacts, {}, leftEarly).records, since),
  'call.completed': (service, since) => untilOlder(list(service, listCalls, {}, leftEarly).records, since),
  'ticket.created': (service, since) =>
    list(service, listTickets, { query: { updated_since: inSeconds(since) } }, { all: true }).records,
  'conversation.message_received': customerMessages,
  'changelog.published': (service) =>
    list(service, listChangelog, { query: { status: 'published' } }, { all: true }).records,
  'feedback.created': (service) => list(service, listFeedback, {}, { all: true }).records,
};

/** Records of a kind that could not be read. `isCutShort`: those behind them were not asked for. */
export class SomeUnread extends Failure {
  /** Whether another look may find them. */
  readonly mayPass: boolean;

  constructor(failed: readonly Failure[], isCutShort: boolean) {
    const rest = isCutShort ? ' svc did not ask for the others.' : '';
    super('partial', `${counted(failed.length, 'record')} could not be read: ${failed[0]?.message}${rest}`);
    this.mayPass = !failed.every(isMissing);
  }
}

/** A module is off, a scope is missing, or the record is gone. */
export const isMissing = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'forbidden' || error.kind === 'not-found');

/** One that cannot be read keeps none of the others back, and is told at the end. */
async function* customerMessages(service: Service, since: Date): AsyncGenerator<Fields> {
  const query = { updated_since: inSeconds(since) };
  const failed: Failure[] = [];
  let inARow = 0;
  for await (const { id, last_message_at: last } of list(service, listConversations, { query }, { all: true })
    .records) {
    if (typeof id !== 'number' || isBefore(last, since)) continue;
    const read = await messagesIn(service, id).catch((error) => {
      if (!isOfOne(error) && !isMissing(error)) throw error;
      failed.push(error);
      if (!isMissing(error)) inARow++;
      return undefined;
    });
    if (read) {
      inARow = 0;
      yield* messagesOf(read.conversation, read.messages);
    }
    if (inARow >= mostInARow) break;
  }
  if (failed.length > 0) throw new SomeUnread(failed, inARow >= mostInARow);
}

/** The service is in trouble, and each takes its time. */
const mostInARow = 5;

/** @throws Failure also where the answer has no messages, not even none. */
async function messagesIn(service: Service, id: number) {
  const { conversation } = await call(service, getConversation, { params: { id } });
  const { messages } = conversation;
  if (messages === undefined) throw new Failure('partial', `The answer about conversation ${id} holds no messages.`);
  return { conversation, messages };
}

/** Those that a customer wrote, each with the conversation that it stands in. */
export function* messagesOf(conversation: Fields, messages: readonly Fields[]): Generator<Fields> {
  for (const message of messages) if (message.sender_type === 'visitor') yield { ...message, conversation };
}
