import { hearersOf } from '../api/hearers.ts';
import type { Operation } from '../api/operation.ts';
import { addTicketNote } from '../api/tickets.ts';
import { Failure } from '../errors.ts';
import { type Known, operationAt } from '../http/exchange/raw.ts';
import { type Draft, digestOfDraft, type Step } from './draft.ts';

// The place of drafts may be shared: what a person reads of one (what it does, to which record) must be what its requests
// do, whoever has written it there.

/** Throws the Failure of a draft that svc did not make so: it is not shown, changed or sent. */
export function requireMeant(draft: Draft): void {
  const why = whyNotMeant(draft);
  if (why === undefined) return;
  throw new Failure('failed', `Draft ${draft.id} is damaged, or somebody has changed it: ${why}. Nothing was sent.`, {
    hint: `To end it: svc drafts reject ${draft.id}`,
    isHeld: true,
    isWhole: true,
  });
}

export const isMeant = (draft: Draft): boolean => whyNotMeant(draft) === undefined;

/** Whether a draft is what somebody agreed to, and of the same account: another one may stand in its place since. */
export const isAsAgreed = (one: Draft, agreed: Draft): boolean =>
  one.state === agreed.state &&
  digestOfDraft(one) === digestOfDraft(agreed) &&
  (['number', 'base_url', 'account', 'login'] as const).every((name) => one[name] === agreed[name]) &&
  isMeant(one);

/** Undefined where each of its requests does what the draft says, to the record that it names. */
export function whyNotMeant({ operation, record, steps }: Draft): string | undefined {
  for (const [at, step] of steps.entries()) {
    const { method, path } = step;
    const known = operationAt(method, path);
    const request = `its request ${method} ${path}`;
    if (!known || !(at === 0 ? begins : follows)(known.operation)) return `${request} is none of a draft`;
    const { kind, id } = recordOf(known);
    if (kind !== record.kind || id !== record.id) return `${request} is about another record than the draft`;
    if (known.operation.id !== step.operation || (at === 0 && step.operation !== operation))
      return `${request} does something else than the draft says`;
  }
  return steps.length === 0 ? 'it has no request' : undefined;
}

/** Sends, and the notes of `svc inbox`. */
const begins = (operation: Operation): boolean =>
  hearersOf(operation) !== undefined || operation.id === addTicketNote.id;

const follows = ({ safety, deletes, destructive }: Operation): boolean =>
  safety !== 'read' && deletes !== true && destructive !== true;

/** The record that the path names; the kind alone of one that is made. */
function recordOf({ operation: { ids = {}, resource }, params }: Known): Draft['record'] {
  const [[name, kind] = []] = Object.entries(ids);
  return name === undefined || kind === undefined ? { kind: resource, id: null } : { kind, id: params[name] ?? null };
}

/** What of the step's body leaves: some requests have none. */
export const sentBody = ({ method, path, body }: Step): unknown => {
  const known = operationAt(method, path);
  return known && !known.operation.body ? undefined : body;
};
