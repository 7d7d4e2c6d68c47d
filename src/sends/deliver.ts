import type { Input, Operation } from '../api/operation.ts';
import { withContext } from '../context.ts';
import { Failure, isInterruption, messageOf } from '../errors.ts';
import { call, called, type Service } from '../http/call/call.ts';
import type { RestsOn } from '../http/exchange/asking.ts';
import { madeIds } from '../http/exchange/made.ts';
import { operationAt } from '../http/exchange/raw.ts';
import { wireOf } from '../http/exchange/request.ts';
import { readBefore } from '../http/look/before.ts';
import type { Read } from '../http/look/lookups.ts';
import { withoutClaim } from '../http/send/whole.ts';
import { type Held, withStep } from './claim.ts';
import { type Draft, type Step, textField } from './draft.ts';

/** What became of a draft that was to be sent. */
export type Delivered = { readonly draft: Draft; readonly failure?: Failure };

/** A step that may be done by an earlier attempt: as it left then, and what was said of it. */
export type Unsure = { readonly at: number; readonly step: Step; readonly error: string | null };

export type Delivering = {
  readonly service: Service;
  readonly held: Held;
  /** Who has decided, and when. */
  readonly by: string;
  /** The record as it was read a moment ago, where it was. */
  readonly known?: { readonly operation: Operation; readonly answer: unknown };
  /** What a person sends once more though it may be done. */
  readonly unsure?: Unsure | undefined;
  /** The thread, where it was read. */
  readonly restsOn?: RestsOn;
};

/**
 * Sends the steps of a claimed draft, each after the one before is surely done. What leaves is in the draft before it
 * does, so a crash never lets it be sent twice.
 */
export async function deliver(delivering: Delivering): Promise<Delivered> {
  const { held, service, by, unsure } = delivering;
  const decided = { decided_at: service.ctx.clock.now().toISOString(), decided_by: by };
  for (const [at, step] of held.draft().steps.entries()) {
    if (step.state === 'done') continue;
    let id: number | null;
    try {
      id = await sendStep(delivering, at, step);
    } catch (error) {
      const failure = error instanceof Failure ? error : new Failure('unknown', String(error), { cause: error });
      if (at !== unsure?.at || failure.isUnsure) return { draft: await ended(held, at, failure, decided), failure };
      return { draft: await backTo(held, unsure), failure: stillUnsure(failure, { ...held.draft(), ...unsure }) };
    }
    try {
      await held.settle((draft) => withStep(draft, at, { state: 'done', sent_id: id, before: null }));
    } catch (error) {
      return { draft: held.draft(), failure: unwritten(held, error) };
    }
  }
  try {
    return { draft: await held.end((draft) => ({ ...draft, ...decided, state: 'sent', error: null })) };
  } catch (error) {
    return { draft: held.draft(), failure: unwritten(held, error) };
  }
}

/** It is sent, and the draft does not say so: the next command of drafts finds it, and sends nothing again. */
function unwritten(held: Held, error: unknown): Failure {
  held.stop();
  const { id } = held.draft();
  // What keeps it from being written down says of itself that nothing was sent.
  const why = withoutClaim(messageOf(error));
  return new Failure('failed', `Draft ${id} was sent, and that could not be written down: ${why}`, {
    hint: `Do not send it again. Look with: svc drafts show ${id}`,
    isWhole: true,
  });
}

type Decided = Pick<Draft, 'decided_at' | 'decided_by'>;

/** What a failure leaves of the draft. */
function ended(held: Held, at: number, failure: Failure, decided: Decided): Promise<Draft> {
  const error = failure.message;
  if (failure.isUnsure) return endedAs(held, (draft) => ({ ...draft, ...decided, state: 'unknown', error }));
  const back = (draft: Draft) => withStep(draft, at, { state: 'waiting', before: null });
  // A login that may not, a network that is not there: another try may do it. The service's own no stays one.
  if (refusals.includes(failure.kind) && !failure.isHeld)
    return endedAs(held, (draft) => ({ ...back(draft), ...decided, state: 'refused', error }));
  return endedAs(held, (draft) => ({ ...back(draft), state: 'waiting', error: null }));
}

/** That it is refused now says nothing of then. */
const backTo = (held: Held, { at, step, error }: Unsure): Promise<Draft> =>
  endedAs(held, (draft) => ({ ...withStep(draft, at, step), state: 'unknown', error }));

/** One that was taken over is no longer ours to say. */
const endedAs = (held: Held, next: (draft: Draft) => Draft): Promise<Draft> =>
  held.end(next).catch((error: unknown) => {
    held.stop();
    if (error instanceof Failure) return held.draft();
    throw error;
  });

/** What keeps a draft back that may have been sent before: of the whole of it nobody knows more than then. */
export function stillUnsure(failure: Failure, { id, error }: Pick<Draft, 'id' | 'error'>): Failure {
  const { kind, message } = failure;
  if (kind === 'differs' || failure.isUnsure) return failure;
  const before = error ?? `Draft ${id} may or may not have been sent.`;
  return new Failure(isInterruption(failure) ? kind : 'unknown', `${before} It was not sent again: ${message}`, {
    hint: `Look in the thread. To send it once more all the same: svc drafts approve ${id} --retry-unknown`,
    mayBeDone: true,
    isWhole: true,
    cause: failure,
  });
}

const refusals: readonly Failure['kind'][] = ['rejected', 'not-found', 'usage'];

/** The id of what it made, else null. Throws the Failure of the request. */
async function sendStep({ service, held, known, restsOn }: Delivering, at: number, step: Step): Promise<number | null> {
  const { operation, input } = requestOf(step);
  const read: Read = async (asked, wanted) =>
    // The answer of this very operation.
    known && asked.id === known.operation.id ? called(known.answer) : call(service, asked, wanted);
  const before = operation.safety === 'verify' ? await readBefore(read, operation, input) : undefined;
  const inner = journaled(service, { draft: held.draft(), at }, async () => {
    await held.change((draft) => withStep(draft, at, { state: 'left', before: step.before ?? before ?? null }));
  });
  let kept: unknown;
  const beforeRepeat = async () =>
    restsOn?.beforeRepeat?.().catch((error: unknown) => {
      kept = error;
      throw error;
    });
  const answer = await call(
    { ...inner, ...(restsOn && { restsOn: { ...restsOn, beforeRepeat } }) },
    operation,
    input,
    operation.safety === 'verify' ? { before: before ?? 'nothing' } : {},
  ).catch((error: unknown) => {
    // It says what kept the step back, not what the request would have been told.
    throw kept ?? error;
  });
  const [made] = madeIds(operation, answer);
  return made ?? null;
}

/** The operation of the table, and what it is called with. */
export function requestOf({ method, path, body }: Pick<Step, 'method' | 'path' | 'body'>) {
  const known = operationAt(method, path);
  if (!known) throw new Failure('usage', `svc knows no operation at ${method} ${path}. Nothing was sent.`);
  const { operation, params } = known;
  const input: Input<Operation> = { params, ...(operation.body && { body }) };
  return { operation, input };
}

/** The step with another text; one that has none stays. Throws the usage Failure of a text that the service would refuse. */
export function retold(step: Step, text: string): Step {
  const name = textField(step);
  if (name === undefined) return step;
  const changed: Step = { ...step, body: { ...Object(step.body), [name]: text } };
  const { operation, input } = requestOf(changed);
  wireOf(operation, input);
  return changed;
}

/** Before each copy of the request the draft must still be ours, and say that it leaves. */
type Journaled = { readonly draft: Draft; readonly at: number };

/** The row of the record that a step is, for whoever settles it later. */
export const rowOf = ({ id }: Draft, at: number): string => `draft ${id}/${at}`;

function journaled(service: Service, { draft, at }: Journaled, onTurn: () => Promise<void>): Service {
  const outer = service.ctx;
  const named = draft.number === null ? {} : { named: draft.number };
  const ctx = withContext(outer, {
    origin: { ...outer.origin, draft: draft.id, row: rowOf(draft, at), ...named },
    // It was approved, so no mode holds it; the policy does.
    sends: outer.sends?.with({ approved: true }),
  });
  return { ...service, ctx, onTurn };
}
