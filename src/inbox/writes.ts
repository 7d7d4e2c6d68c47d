import { replyToConversation, resolveConversation } from '../api/conversations.ts';
import { hearersOf } from '../api/hearers.ts';
import type { Operation } from '../api/operation.ts';
import { addTicketNote, replyToTicket, updateTicket } from '../api/tickets.ts';
import { comingFrom } from '../audit/origin.ts';
import { presentTicket } from '../command/present-ticket.ts';
import { withContext } from '../context.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { wireOf } from '../http/exchange/request.ts';
import { loginOf } from '../http/send/reaching.ts';
import { plainTerminal } from '../sends/ask.ts';
import { type Draft, digestOfDraft } from '../sends/draft.ts';
import { newDraft } from '../sends/make.ts';
import { draftBlocks } from '../sends/page.ts';
import { seenOf } from '../sends/seen.ts';
import type { DraftStore } from '../sends/store.ts';
import { threadOf } from '../sends/thread.ts';
import { draftInWords, nameAlone } from '../sends/words.ts';
import { type Fields, recordsIn, textIn } from '../text/record.ts';
import { sendNote, sendRead } from './delivering.ts';
import type { Change, Effect, Kept, Means } from './effect.ts';
import type { Event } from './event.ts';
import { nameOf, type Row } from './row.ts';

/** What writes: the login, and the drafts that every text goes through. */
export type Writing = {
  readonly service: () => Promise<Service>;
  readonly drafts: () => Promise<DraftStore>;
  /** The id of the account; null where the login does not say. */
  readonly account: number | null;
  /** So long a send may be taken back. */
  readonly holdMs: () => Promise<number>;
};

type Ended = Extract<Event, { readonly is: 'ended-job' }>;
type Sending = Extract<Effect, { readonly do: 'send' }>;

/** The request of a reply, a note or the resolve of a conversation. The service judges the text, once it is kept. */
function requestOf(means: Means, { kind, id }: Row): { readonly operation: Operation; readonly path: string } {
  const operations: Readonly<Record<Means, Operation>> = {
    reply: kind === 'ticket' ? replyToTicket : replyToConversation,
    note: addTicketNote,
    resolve: resolveConversation,
  };
  const operation = operations[means];
  const { path } = wireOf(operation, { params: { id }, ...(operation.body && { body: { body: 'text' } }) });
  return { operation, path };
}

export type Keeping = {
  readonly means: Means;
  readonly row: Row;
  readonly text: string | undefined;
  /** The record as whoever wrote has read it. */
  readonly record: Fields | undefined;
};

/** Keeps what is to be sent as a draft: from here on it is not lost, whatever happens. */
export async function keep({ service, drafts, account }: Writing, keeping: Keeping): Promise<Kept> {
  const { means, row, text, record } = keeping;
  const opened = await service();
  const { ctx, session } = opened;
  const login = (await loginOf(opened)) ?? null;
  const { operation, path } = requestOf(means, row);
  const body = operation.body ? { body: text } : undefined;
  const request = {
    operation: operation.id,
    method: operation.method,
    path,
    body,
    record: { kind: row.kind === 'ticket' ? 'tickets' : 'conversations', id: row.id },
    baseUrl: session.baseUrl,
  };
  const seen = seenOf({ operation: operation.id, hearers: hearersOf(operation), body, record });
  const at = ctx.clock.now().toISOString();
  const draft = await (await drafts()).add(newDraft(request, { wish: { face: 'inbox' }, seen, account, login, at }));
  return keptOf(draft, row);
}

export const keptOf = (draft: Draft, row: Row): Kept => ({
  row,
  draft: draft.id,
  digest: digestOfDraft(draft),
  told: draftInWords({ ...draft, to: nameAlone(draft.to) }),
});

/** The service, whose writes are recorded as those of the inbox on that record. Nothing holds them but the policy. */
function writingAs(service: Service, row: Row): Service {
  const named = row.kind === 'ticket' && row.number !== null ? { named: row.number } : {};
  const ctx = comingFrom(service.ctx, { face: 'inbox', command: 'inbox', ...named });
  const sends = ctx.sends?.with({ face: 'inbox', holdMs: 0 });
  return { ...service, ctx: withContext(ctx, { sends }) };
}

/** Sends a draft that somebody has agreed to. */
export async function send(writing: Writing, sending: Sending): Promise<Ended | Extract<Event, { is: 'changed' }>> {
  const { job, row, draft: id, digest, means } = sending;
  const store = await writing.drafts();
  const service = async () => writingAs(await writing.service(), row);
  try {
    const { draft, failure } =
      means === 'note'
        ? await sendNote(await service(), store, { id, digest, row })
        : await sendRead(await service(), store, { id, digest });
    if (failure?.kind === 'differs') {
      const changed = { draft, failure, holdMs: await writing.holdMs() };
      return await changedEvent(await service(), sending, changed);
    }
    return { is: 'ended-job', job, ...endOf(draft, failure, means) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const isUnknown = error.isUnsure;
    const fate = isUnknown ? mayBe[means] : 'was not sent.';
    const told = means === 'resolve' ? error.message : `Draft ${id} ${fate} ${error.message}`;
    return { is: 'ended-job', job, state: isUnknown ? 'unknown' : 'refused', told };
  }
}

const mayBe: Readonly<Record<Means, string>> = {
  reply: 'may have been sent: look in the thread.',
  // The service shows none.
  note: 'may have been added: look at the ticket in the product.',
  resolve: 'may be done: look at the conversation.',
};

/** What became of a draft, in a line. */
function endOf(draft: Draft, failure: Failure | undefined, means: Means): Pick<Ended, 'state' | 'told' | 'mark'> {
  const { id, state } = draft;
  const marks: Readonly<Record<Means, string>> = { reply: 'replied', note: 'noted', resolve: 'resolved' };
  if (state === 'sent' && !failure) return { state: 'done', told: doneWords(draft, means), mark: marks[means] };
  const why = failure?.message ?? '';
  // It was sent, and the draft could not be told so: whoever reads "not sent" would send it again.
  if (state === 'sending' && failure?.isWhole)
    return { state: 'unknown', told: [why, failure.hint ?? ''].join(' ').trim(), mark: marks[means] };
  // The number first: a narrow screen cuts the rest.
  if (state === 'unknown' || failure?.isUnsure)
    return { state: 'unknown', told: `Draft ${id} ${mayBe[means]} ${why}`.trim() };
  return { state: 'refused', told: means === 'resolve' ? why : `Draft ${id} was not sent. ${why}`.trim() };
}

const doneWords = (draft: Draft, means: Means): string => {
  const words = draftInWords(draft).replace(/^Draft \d+: /u, '');
  if (means === 'note')
    return `The note is in the history of ${draft.number ?? draft.record.id}; the customer does not see it.`;
  return means === 'resolve' ? `Conversation ${draft.record.id} is resolved.` : `Sent: ${words}.`;
};

/** The thread is another one than the one that was read: what is new in it is shown before anything leaves. */
async function changedEvent(
  service: Service,
  { job, row, means, agreed }: Sending,
  { draft, failure, holdMs }: { readonly draft: Draft; readonly failure: Failure; readonly holdMs: number },
): Promise<Extract<Event, { is: 'changed' }>> {
  const { record } = (await threadOf(service, draft).catch(() => undefined)) ?? {};
  const newest = recordsIn(record?.messages).at(-1);
  const said = newest ? `${textIn(newest.sender_name) ?? 'Somebody'} wrote:\n${textIn(newest.body) ?? ''}` : '';
  const why = failure.message.replace(/ Its digest is \w+ now\./u, '');
  const sent = draftBlocks(draft, plainTerminal(service.ctx), draft.channel === 'changelog' ? record : undefined);
  const shown = [why, said, ...sent].filter(Boolean).join('\n\n');
  return { is: 'changed', job, means, item: keptOf(draft, row), shown, holdMs, ...(agreed && { agreed }) };
}

const statuses = { resolve: 'resolved', close: 'closed' } as const;

/** Changes a ticket, as `svc tickets resolve`, `close`, `reopen` and `update --priority` do. */
export async function change(
  writing: Writing,
  { job, row, change: wanted }: Extract<Effect, { do: 'change' }>,
): Promise<Ended> {
  try {
    const service = writingAs(await writing.service(), row);
    return { is: 'ended-job', job, ...(await changed(service, row, wanted)) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Of several that were marked it is one.
    const told = `${nameOf(row)}: ${error.message}`;
    return { is: 'ended-job', job, state: error.isUnsure ? 'unknown' : 'refused', told };
  }
}

async function changed(
  service: Service,
  row: Row,
  wanted: Change,
): Promise<Pick<Ended, 'state' | 'told' | 'mark' | 'isUnsent'>> {
  const isUnsent = true;
  const params = { id: row.id };
  if (wanted.act === 'priority') {
    await call(service, updateTicket, { params, body: { priority: wanted.priority } });
    return { state: 'done', told: `${nameOf(row)} has priority ${wanted.priority}.`, mark: `P${wanted.priority}` };
  }
  const status = wanted.act === 'reopen' ? (wanted.to ?? 'open') : statuses[wanted.act];
  const present = (await presentTicket(service, row.id))?.status;
  if (wanted.act === 'reopen' && present !== undefined && !isEnded(present))
    return { state: 'done', told: `${nameOf(row)} is ${present} already. Nothing was sent.`, mark: present, isUnsent };
  // A second time would move the moment at which it was resolved.
  if (present === status)
    return { state: 'done', told: `${nameOf(row)} is ${status} already. Nothing was sent.`, mark: status, isUnsent };
  await call(service, updateTicket, { params, body: { status } });
  const words = wanted.act === 'reopen' ? `${status} again` : `${status}. u takes it back`;
  return { state: 'done', told: `${nameOf(row)} is ${words}.`, mark: status };
}

const isEnded = (status: string): boolean => Object.values<string>(statuses).includes(status);
