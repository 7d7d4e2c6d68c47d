import { asRead } from '../as-read.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { settleRecord } from '../http/exchange/recorder.ts';
import { fieldsIn } from '../text/record.ts';
import { claimAlone, type Held, withStep } from './claim.ts';
import { type Delivered, deliver, rowOf, stillUnsure, type Unsure } from './deliver.ts';
import { type Draft, digestOfDraft, hasBegun, type Seen } from './draft.ts';
import { isAsAgreed, requireMeant } from './meant.ts';
import { requireOwn } from './own.ts';
import { foundAt } from './settle.ts';
import type { DraftStore } from './store.ts';
import { customerHasWritten, differences, type Thread, threadOf, writerSince } from './thread.ts';

export type Approving = {
  readonly store: DraftStore;
  readonly service: () => Promise<Service>;
  /** Who decides. */
  readonly by: string;
  readonly token: () => string;
  readonly retryUnknown: boolean;
  /** Shows the draft and asks. False: it is left as it is. `entry`: what would become public, where it is there already. */
  /** `isRead`: it is asked once more, for it may have been sent. */
  readonly agrees: (draft: Draft, entry: Thread['record'], about: { readonly isRead: boolean }) => Promise<boolean>;
};

/**
 * Sends a draft that a person has read. Undefined where they said no.
 *
 * @throws Failure where nothing of the draft was touched: it is not there, was decided already, or is another one than was read
 */
export async function approve(
  approving: Approving,
  id: number,
  digest: string | undefined,
): Promise<Delivered | undefined> {
  const { store, by, retryUnknown } = approving;
  const draft = await store.get(id);
  if (!draft) throw noDraft(id);
  refuseState(draft, retryUnknown);
  requireMeant(draft);
  const present = digestOfDraft(draft);
  if (digest !== undefined && digest !== present)
    throw new Failure('differs', `Draft ${id} is not what you read: its digest is another one. Nothing was sent.`, {
      hint: `Read it again: svc drafts show ${id}`,
    });
  const service = await approving.service();
  // A digest says what was read, and not that the customer may get it twice.
  const isRead = digest !== undefined;
  const asks = !isRead || draft.state === 'unknown';
  if (asks && !(await approving.agrees(draft, await entryOf(service, draft), { isRead }))) return undefined;
  await requireOwn(draft, service);
  const held = await claimAlone(service.ctx, store, { id, by, token: approving.token() }, (one) =>
    isAsAgreed(one, draft),
  );
  if (!held)
    throw new Failure('failed', `Draft ${id} was changed or decided by somebody else just now. Nothing was sent.`, {
      hint: `Look at it with: svc drafts show ${id}`,
    });
  const was = await lookedFor(service, held, draft);
  if (was) return was;
  const unsure = unsureIn(draft, held);
  const seen = await asRead(service, (reading) => threadUnlessChanged(reading, held, unsure));
  if ('failure' in seen.was) return seen.was;
  const beforeRepeat = () => requireUnchanged(service, held, unsure);
  const mayLeave = () => requireNoNews(service, held);
  const restsOn = { seen, beforeRepeat, mayLeave };
  return deliver({ service, held, by, known: seen.was.known, unsure, restsOn });
}

/** Of one that may have been sent and was not found: which step that is, until an attempt of its own is answered well. */
function unsureIn({ state, error }: Draft, held: Held): Unsure | undefined {
  const { steps } = held.draft();
  const at = steps.findIndex((step) => step.state !== 'done');
  const step = steps[at];
  // A step that was found is done, and those behind it never left.
  if (state !== 'unknown' || !step || (step.state === 'waiting' && hasBegun(held.draft()))) return undefined;
  return { at, step, error };
}

/** What would become public. What it is when it is sent, the digest holds against what it was when the draft was made. */
const entryOf = async (service: Service, draft: Draft): Promise<Thread['record']> =>
  draft.channel === 'changelog' ? (await threadOf(service, draft)).record : undefined;

/** An unknown one is looked for once more before it is sent again. */
async function lookedFor(service: Service, held: Held, draft: Draft): Promise<Delivered | undefined> {
  const { state, steps } = draft;
  if (state !== 'unknown') return undefined;
  const at = steps.findIndex((step) => step.state === 'left');
  const step = steps[at];
  if (!step) return undefined;
  try {
    const found = await foundAt(service, step);
    if (found) await settleRecord(service, { row: rowOf(held.draft(), at), operation: step.operation, id: found.id });
    // It stays as it left until it is sent again, whatever keeps it back.
    if (!found) return undefined;
    const judged = (one: Draft): Draft => withStep(one, at, { state: 'done', sent_id: found.id });
    if (at === steps.length - 1)
      return { draft: await held.end((one) => ({ ...judged(one), state: 'sent', error: null })) };
    await held.settle(judged);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { draft: await held.end((one) => ({ ...one, state: 'unknown' })), failure: stillUnsure(error, draft) };
  }
}

/** Right before it leaves the thread is read again. What is other than it was when it was read keeps the draft back. */
async function threadUnlessChanged(
  service: Service,
  held: Held,
  unsure: Unsure | undefined,
): Promise<Thread | (Delivered & { failure: Failure })> {
  const draft = held.draft();
  const state = unsure ? 'unknown' : 'waiting';
  try {
    const { thread, changes } = await threadNow(service, draft);
    if (changes.length === 0) return thread;
    const next = await held.end((one) => ({ ...one, ...thread.seen, state }));
    return { draft: next, failure: changedFailure(next, changes, unsure) };
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure('failed', String(error), { cause: error });
    return {
      draft: await held.end((one) => ({ ...one, state })),
      failure: unsure ? stillUnsure(failure, draft) : failure,
    };
  }
}

async function threadNow(service: Service, draft: Draft) {
  const thread = await threadOf(service, draft);
  return { thread, changes: differences(draft, withoutOwn(draft, thread.seen), thread.record) };
}

/** The same after a wait that the service asked for. What it throws ends the delivery, and the draft waits. */
async function requireUnchanged(service: Service, held: Held, unsure: Unsure | undefined): Promise<void> {
  const { thread, changes } = await threadNow(service, held.draft()).catch((error: unknown) => {
    // A thread that is not there is no refusal of what was to be sent.
    throw error instanceof Failure ? new Failure(error.kind, error.message, { ...error, isHeld: true }) : error;
  });
  if (changes.length > 0)
    throw changedFailure(await held.change((one) => ({ ...one, ...thread.seen })), changes, unsure);
}

/**
 * Of what may be done already: the public must read what was agreed to, and no customer have written since. All else may be
 * as this very request has made it, the text too where it brings one.
 */
async function requireNoNews(service: Service, held: Held): Promise<void> {
  const draft = held.draft();
  const body = draft.steps.find(({ state }) => state !== 'done')?.body;
  const isPublishingAlone = Object.keys(fieldsIn(body)).every((name) => name === 'status' || name === 'published_at');
  if (draft.channel === 'changelog' && !isPublishingAlone) return;
  const { seen, record } = await threadOf(service, draft);
  const refuse = (why: string) => {
    throw new Failure('differs', why, { isHeld: true });
  };
  if (draft.channel === 'changelog') {
    if (seen.content !== draft.content) refuse('What would be published is other than it was.');
  } else if (writerSince(draft, withoutOwn(draft, seen), record) === 'customer') refuse(customerHasWritten);
}

/** What its own first step did is no news: its message is the newest, and it may have opened the thread again. */
function withoutOwn(draft: Draft, now: Seen): Seen {
  if (!hasBegun(draft)) return now;
  const isOwn = draft.steps.some(({ sent_id: id }) => id !== null && id === now.answers?.message_id);
  const others = (now.messages ?? 0) - 1;
  const isOneMore = others === draft.messages;
  return {
    ...{ ...now, status: draft.status },
    ...(isOwn && { answers: draft.answers }),
    ...(isOneMore && { messages: others }),
  };
}

const changedFailure = (draft: Draft, changes: readonly string[], unsure: Unsure | undefined): Failure =>
  new Failure(
    'differs',
    `Draft ${draft.id} was not sent${unsure ? ' again' : ''}. ${changes.join(' ')} Its digest is ${digestOfDraft(draft)} now.`,
    {
      hint: `Read it again, and approve it once more${unsure ? ' with --retry-unknown' : ''}: svc drafts show ${draft.id}`,
      isWhole: true,
    },
  );

export const noDraft = (id: number): Failure =>
  new Failure('not-found', `There is no draft ${id}.`, { hint: 'To see all: svc drafts list --all' });

const over: Readonly<Record<'sent' | 'rejected' | 'refused', string>> = {
  sent: 'was sent already',
  rejected: 'was rejected',
  refused: 'was refused by the service',
};

function refuseState({ id, state, claim: held }: Draft, retryUnknown: boolean): void {
  if (state === 'waiting' || (state === 'unknown' && retryUnknown)) return;
  if (state === 'sending')
    throw new Failure('failed', `Draft ${id} is being sent by ${held?.by ?? 'somebody'}. Nothing more was sent.`);
  if (state === 'unknown')
    throw new Failure('unknown', `Draft ${id} may or may not have been sent. Nothing was sent now.`, {
      hint: `Look in the thread. To send it once more all the same: svc drafts approve ${id} --retry-unknown`,
    });
  throw new Failure('failed', `Draft ${id} ${over[state]}. Nothing was sent now.`, {
    hint: `Look at it with: svc drafts show ${id}`,
  });
}

export const newToken = ({ random }: Pick<Context, 'random'>): string => Buffer.from(random(12)).toString('hex');
