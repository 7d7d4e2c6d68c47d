import { asFailure } from '../../batch/ending.ts';
import { Failure } from '../../errors.ts';
import { thenSaid } from '../journal/apply-line.ts';
import { draftMade } from '../rows/second-step.ts';

/** `rest`: what was to follow is left to the next run. */
export type Done = {
  readonly status: 'done';
  readonly id: number | null;
  readonly answer?: unknown;
  readonly error?: string;
  readonly rest?: true;
  /** With `error`: whether what was to follow was done is not known. */
  readonly doubt?: Failure;
  /** With `rest`: the first of what follows that is not done. */
  readonly step?: number;
  /** Nothing was sent, or where it has an id nothing of what was to follow: that is a draft of this id, which a person approves. */
  readonly drafted?: number;
  readonly draftedAt?: string;
};

/** `now`: what became of this attempt, where an earlier run has left it open whether the row is done. */
type Unknown = {
  readonly status: 'unknown';
  readonly error: string;
  readonly failure?: Failure;
  readonly now?: 'rejected' | 'unsent';
};

/** What became of a row in this run. `done` with an error: in part, the record is there. `unsent`: nothing happened, and why. */
export type Outcome =
  | Done
  | { readonly status: 'rejected'; readonly error: string; readonly failure: Failure }
  | Unknown
  | { readonly status: 'unsent'; readonly failure: Failure };

/** What is known when a row fails. `broken`: the journal can no longer be written. */
type Known = { readonly hasLeft: boolean; readonly broken: Failure | undefined };

/** What became of a row that ended with an error. */
export function outcomeOf(error: unknown, { hasLeft, broken }: Known): Outcome {
  if (!broken && error instanceof Failure) return judgedOutcome(error);
  const failure = broken ?? asFailure(error, 'svc');
  return hasLeft ? { status: 'unknown', error: failure.message, failure } : { status: 'unsent', failure };
}

/** The same where an earlier run has sent it and cannot tell whether it is done: that the service refuses it now says nothing of then. */
export function stillOpen(outcome: Outcome, unsure: string | undefined): Outcome {
  if (unsure === undefined || (outcome.status !== 'rejected' && outcome.status !== 'unsent')) return outcome;
  const { status: now, failure } = outcome;
  return { status: 'unknown', error: thenSaid(unsure, inWords(failure)), failure, now };
}

function judgedOutcome(failure: Failure): Outcome {
  if (failure.drafted) return { status: 'done', id: null, ...draftMade(failure.drafted) };
  if (failure.isHeld) return { status: 'unsent', failure };
  const error = inWords(failure);
  if (failure.isUnsure) return { status: 'unknown', error, failure };
  return judged.includes(failure.kind) ? { status: 'rejected', error, failure } : { status: 'unsent', failure };
}

/** What the service says of this row, and would say again. */
const judged: readonly Failure['kind'][] = ['rejected', 'not-found', 'usage'];

function inWords({ message, fields }: Failure): string {
  const details = Object.entries(fields ?? {}).map(([field, messages]) => `${field} ${messages.join(' and ')}`);
  // What the service says by field is all that its message says.
  return details.length > 0 ? details.join('; ') : message.replace(/\.$/u, '');
}
