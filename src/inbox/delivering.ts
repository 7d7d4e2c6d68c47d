import { addTicketNote } from '../api/tickets.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { approve, newToken } from '../sends/approve.ts';
import { claim } from '../sends/claim.ts';
import { type Delivered, deliver } from '../sends/deliver.ts';
import { type Draft, digestOfDraft } from '../sends/draft.ts';
import { isAsAgreed } from '../sends/meant.ts';
import { requireOwn } from '../sends/own.ts';
import type { DraftStore } from '../sends/store.ts';
import { whoIs } from '../sends/who.ts';
import type { Row } from './row.ts';

/** `digest`: of what was agreed to. */
type Agreed = { readonly id: number; readonly digest: string };

/** Sends a draft that somebody has read, as `svc drafts approve` does. */
export async function sendRead(service: Service, store: DraftStore, { id, digest }: Agreed): Promise<Delivered> {
  const person = { by: whoIs(), token: () => newToken(service.ctx), retryUnknown: false, agrees: async () => true };
  const delivered = await approve({ store, service: async () => service, ...person }, id, digest);
  if (delivered) return delivered;
  throw new Failure('failed', 'Declined. Nothing was sent.');
}

/** A note reaches nobody: no newer message holds it. All else is as of any draft: what was agreed to leaves, and nothing else. */
export async function sendNote(
  service: Service,
  store: DraftStore,
  { id, digest, row }: Agreed & { readonly row: Row },
): Promise<Delivered> {
  const by = whoIs();
  const draft = await store.get(id);
  if (!draft || digestOfDraft(draft) !== digest) throw isOther(id);
  await requireOwn(draft, service);
  const held = await claim(store, { id, by, token: newToken(service.ctx) }, (one) => {
    return isNoteOn(row, one) && isAsAgreed(one, draft);
  });
  if (!held) throw isOther(id);
  return deliver({ service, held, by });
}

const isOther = (id: number): Failure =>
  new Failure('failed', `Draft ${id} was changed or decided by somebody else just now. Nothing was sent.`);

/** Nobody reads the thread of a note again, so it must be one still, and on that ticket. */
const isNoteOn = (row: Row, draft: Draft): boolean =>
  draft.state === 'waiting' &&
  draft.steps.length === 1 &&
  draft.operation === addTicketNote.id &&
  draft.record.id === row.id &&
  (draft.number === null || draft.number === row.number);
