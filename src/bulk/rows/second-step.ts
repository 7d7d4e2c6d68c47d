import type { Operation } from '../../api/operation.ts';
import { unwrap } from '../../command/answered.ts';
import { type FollowStep, flagFor, following, restAfter, toDo } from '../../command/follow.ts';
import { type Body, idNameOf, type RowOf } from '../../command/row.ts';
import { type Drafted, Failure, isInterruption } from '../../errors.ts';
import { type CallOptions, call, type Service } from '../../http/call/call.ts';
import { fieldsIn } from '../../text/record.ts';
import type { RowInput } from './row-input.ts';

/** Parts the field that a second request sets from the body of the first. */
export function inTwoSteps({ after }: RowOf, body: Body): { readonly body: Body; readonly after?: Body } {
  if (!after || !(after.field in body)) return { body };
  const { [after.field]: value, ...first } = body;
  return value === undefined || value === after.unless
    ? { body: first }
    : { body: first, after: { [after.field]: value } };
}

export type Step = {
  readonly row: RowOf;
  readonly input: RowInput;
  readonly id: number | null;
  /** What the service said of the record that is there now. */
  readonly answer: unknown;
  readonly options: CallOptions;
  readonly ready: Ready;
};

/** Waits until no other request can overwrite what a step writes. Throws where svc is told to stop meanwhile. */
type Ready = () => Promise<void>;

/** What was not done, and why. `rest`: svc itself was stopped, so the next run does it. `doubt`: it may have been done. */
export type Left = { readonly error: string; readonly rest?: true; readonly doubt?: Failure };

/**
 * Does what follows once the record is there. Twice is once, so a row that was on its way when svc was killed may do it
 * again. Returns why it was not done: the record stays, and is never made a second time.
 */
export async function secondStep(
  service: Service,
  { row, input, id, answer, options, ready }: Step,
): Promise<Left | undefined> {
  const { after: values } = input;
  const { after } = row;
  if (!after || !values || id === null || hasAlready(row.operation, answer, values)) return undefined;
  const name = idNameOf({ operation: after.operation }) ?? 'id';
  try {
    await ready();
    await call(service, after.operation, { params: { [name]: id }, body: values }, options);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const isUnknown = error.isUnsure;
    const told = `it is there (${id}), but its ${after.field} ${isUnknown ? 'may not be set' : 'is not set'}`;
    if (isInterruption(error))
      return { error: `${told} yet: svc was stopped. The same command sets it when it is run again`, rest: true };
    const flags = Object.entries(values).map(([field, value]) => flagFor(field, value, error));
    const command = ['svc', ...after.operation.command, id, ...flags].join(' ');
    const whole = `${told}: ${error.message.replace(/\.$/u, '')}. To set it: ${command}`;
    return { error: whole, ...(isUnknown && { doubt: error }) };
  }
}

/** Nothing was sent: it is a draft of this id. Of what was so already there is none. */
export const draftMade = ({ id, record: { created_at: at } }: Drafted): { drafted?: number; draftedAt?: string } =>
  id === null ? {} : { drafted: id, ...(typeof at === 'string' && { draftedAt: at }) };

export type Later = {
  readonly steps: readonly FollowStep[];
  /** The first that is to be done. */
  readonly from: number;
  /** The first request was sent by an earlier run. */
  readonly isLeft: boolean;
  /** And so was the first of these, or it was about to be. */
  readonly mayBeDone: boolean;
  readonly options: CallOptions;
  /** Writes down that a step is about to leave, or is done: `may` is what is not known if svc ends now. */
  readonly mark: (next: number, may?: string) => Promise<void>;
  readonly ready: Ready;
};

/**
 * Does what follows a reply, in order. A step that cannot be repeated is written down before it leaves, so that no
 * later run does it a second time. Returns what was not done, or the draft that it became.
 */
export async function laterSteps(
  outer: Service,
  { steps, from, isLeft, mayBeDone, options, mark, ready }: Later,
): Promise<(Left & { readonly step?: number }) | ReturnType<typeof draftMade> | undefined> {
  const service = following(outer, isLeft);
  for (let at = from; at < steps.length; at++) {
    const step = steps[at];
    if (!step) continue;
    const { effect, safety } = step.operation;
    const what = `${effect?.of.toLowerCase() ?? 'what follows'}`;
    const doubt = `it is sent, but ${what} may or may not be ${effect?.done ?? 'done'}. ${restAfter(step, steps.slice(at + 1))}`;
    await mark(at, safety === 'once' ? doubt.replaceAll('\n', ' ') : undefined);
    try {
      await ready();
      await call(service, step.operation, step.input, options);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.drafted?.id === null) continue;
      if (error.drafted) return draftMade(error.drafted);
      if (error.isUnsure) return { error: doubt.replaceAll('\n', ' '), doubt: error };
      const told = `it is sent, but ${what} was not ${effect?.done ?? 'done'}`;
      const isOpen = mayBeDone && at === from && !error.isHeld;
      if (isInterruption(error))
        return {
          error: `${told}: svc was stopped. The same command goes on when it is run again`,
          rest: true,
          step: at,
        };
      // That it is refused now says nothing of then.
      if (isOpen) return { error: doubt.replaceAll('\n', ' '), doubt: error };
      return {
        error: `${told}: ${error.message.replace(/\.$/u, '')}. ${toDo(steps.slice(at), error)}`,
        // It never left: what a person or the policy has kept back now may go with a later run.
        ...(isLeft && error.isHeld && { rest: true, step: at }),
      };
    }
  }
  return undefined;
}

const hasAlready = (operation: Operation, answer: unknown, values: Body): boolean => {
  const record = fieldsIn(unwrap(operation, answer));
  return Object.entries(values).every(([field, value]) => record[field] === value);
};
