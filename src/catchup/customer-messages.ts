import { getConversation, listConversations } from '../api/conversations.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { isOfOne } from '../http/call/of-one.ts';
import { list } from '../http/call/pages.ts';
import { counted } from '../text/number.ts';
import type { Fields } from '../text/record.ts';
import { inSeconds } from '../text/time.ts';

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

/**
 * What customers wrote in each conversation that earlier searches have read, and what the list said of it then. One of which
 * the list says the same is not read again.
 */
export type ReadBefore = Map<number, { readonly listed: string; readonly messages: readonly Fields[] }>;

type Listed = { readonly id: number; readonly record: Fields };

/** What customers wrote since then. A conversation that cannot be read keeps none of the others back, and is told at the end. */
export async function* customerMessages(service: Service, since: Date, before: ReadBefore): AsyncGenerator<Fields> {
  const query = { updated_since: inSeconds(since) };
  const left: Listed[] = [];
  for await (const record of list(service, listConversations, { query }, { all: true }).records) {
    const { id, last_message_at: last } = record;
    if (typeof id === 'number' && !isBefore(last, since)) left.push({ id, record });
  }
  const failed: Failure[] = [];
  let inARow = 0;
  const read = async (one: Listed): Promise<readonly Fields[] | undefined> => {
    try {
      const messages = await messagesIn(service, one, before);
      inARow = 0;
      return messages;
    } catch (error) {
      if (!isOfOne(error) && !isMissing(error)) throw error;
      failed.push(error);
      if (!isMissing(error)) inARow++;
      return undefined;
    }
  };
  while (left.length > 0) {
    const isTroubled = inARow >= mostInARow;
    for (const one of isTroubled ? someOf(left, service) : left.slice(0, 1)) {
      left.splice(left.indexOf(one), 1);
      const messages = await read(one);
      yield* messages ?? [];
      if (messages) break;
    }
    if (isTroubled && inARow >= mostInARow) break;
  }
  if (failed.length > 0) throw new SomeUnread(failed, left.length > 0);
}

/** So many in a row at which the service fails: it is in trouble, and each takes its time, unless it shows one of three others. */
const mostInARow = 5;

/** Each search takes others, so that none waits for ever behind those at which the service fails for good. */
function someOf(left: readonly Listed[], { ctx }: Service): Set<Listed> {
  const first = ctx.clock.now().getTime();
  const places = [0, 1, 2].map((at) => (first + Math.floor((at * left.length) / 3)) % left.length);
  return new Set(places.flatMap((at) => left[at] ?? []));
}

/** With more of them a search takes more requests, but no more memory. */
const rememberedAtMost = 2_000;
/** A change may become visible a little later than its time says, and times have whole seconds. */
const settledMs = 120_000;

/** @throws Failure also where the answer has no messages, not even none. */
async function messagesIn(service: Service, { id, record }: Listed, before: ReadBefore): Promise<readonly Fields[]> {
  const listed = JSON.stringify(record);
  const known = before.get(id);
  if (known?.listed === listed) return known.messages;
  before.delete(id);
  const settled = isSettled(service, record);
  const { conversation } = await call(service, getConversation, { params: { id } });
  const { messages: all, ...rest } = conversation;
  if (all === undefined) throw new Failure('partial', `The answer about conversation ${id} holds no messages.`);
  const messages = [...messagesOf(rest, all)];
  if (settled && before.size < rememberedAtMost) before.set(id, { listed, messages });
  return messages;
}

/** Whether another message would show in the list: by the service's clock the last one came a while ago. */
function isSettled({ ctx, learnt }: Service, { updated_at: updated, last_message_at: last }: Fields): boolean {
  const now = ctx.clock.now().getTime() + (learnt.clockAheadMs ?? Number.NaN);
  return now - Math.max(Date.parse(String(updated)), Date.parse(String(last))) >= settledMs;
}

/** Those that a customer wrote, each with the conversation that it stands in. */
export function* messagesOf(conversation: Fields, messages: readonly Fields[]): Generator<Fields> {
  for (const message of messages) if (message.sender_type === 'visitor') yield { ...message, conversation };
}

/** A time that is none is not before any. */
export const isBefore = (time: unknown, since: Date): boolean =>
  typeof time === 'string' && Date.parse(time) < since.getTime();
