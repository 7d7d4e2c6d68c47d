import type { Input, Operation } from '../api/operation.ts';
import { type Context, type SendWish, withContext } from '../context.ts';
import { Failure, withHint } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { wireOf } from '../http/exchange/request.ts';
import { restIs } from '../http/exchange/writes.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { shellWord } from '../text/shell-word.ts';

/** What follows a reply in the same command, once the one before is surely done. */
export type Follow = {
  readonly operation: Operation;
  /** The fields of the command that it takes: with none of them given it does not follow. */
  readonly fields: readonly string[];
  /** Its request's body, of those fields. Undefined for one that has none. */
  readonly body?: (values: Fields) => Fields;
  /** `The note is added.` */
  readonly done: string;
  /** `add a note to`, before the record; without it, it sets its fields. */
  readonly verb?: string;
};

/** A request that follows. */
export type FollowStep = {
  readonly operation: Operation;
  readonly input: Input<Operation>;
  readonly done: string;
  readonly verb?: string | undefined;
};

/** Parts the fields of what follows from the body of the first request. `params`: the record of all of them. */
export function parted(follows: readonly Follow[] = [], body: Fields, params: unknown) {
  const taken = new Set(follows.flatMap(({ fields }) => fields));
  const steps = follows.flatMap(({ operation, fields, body: bodyOf, done, verb }): FollowStep[] => {
    const values = Object.fromEntries(fields.flatMap((name) => (isGiven(body[name]) ? [[name, body[name]]] : [])));
    if (Object.keys(values).length === 0) return [];
    const input: Input<Operation> = {
      params: fieldsIn(params) as Record<string, number>,
      ...(bodyOf && { body: bodyOf(values) }),
    };
    return [{ operation, input, done, verb }];
  });
  return { body: Object.fromEntries(Object.entries(body).filter(([name]) => !taken.has(name))), steps };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** The requests as a draft keeps them. Throws the usage Failure of one that the service would refuse. */
export const followsOf = (steps: readonly FollowStep[]): NonNullable<SendWish['follows']> =>
  steps.map(({ operation, input }) => {
    const { method, path } = wireOf(operation, input);
    return { operation: operation.id, method, path, body: input.body };
  });

/** The commands that do them by hand. `why`: the failure of the first. */
const commandsFor = (steps: readonly FollowStep[], why?: unknown): string =>
  steps.map((step, at) => commandOf(step, at === 0 ? why : undefined)).join(' && ');

/** What the service refused stands there by its name: typed again, it would be refused again. */
export const flagFor = (name: string, value: unknown, why: unknown): string =>
  why instanceof Failure && why.kind === 'rejected' && Object.hasOwn(why.fields ?? {}, name)
    ? `--${name} ${name.toUpperCase()}`
    : `--${name} ${shellWord(String(value))}`;

function commandOf({ operation, input }: FollowStep, why: unknown): string {
  const [id = ''] = Object.values(fieldsIn(input.params));
  const flags = Object.entries(fieldsIn(input.body)).map(([name, value]) => flagFor(name, value, why));
  return ['svc', ...operation.command, String(id), ...flags, ...(operation.grant === 'send' ? ['--yes'] : [])].join(
    ' ',
  );
}

/** The context of a first request that others follow: its draft has them all. */
export function withFollowing(ctx: Context, steps: readonly FollowStep[]): Context {
  if (steps.length === 0) return ctx;
  const sends = ctx.sends?.with({ follows: followsOf(steps) });
  return withContext(ctx, { sends });
}

/**
 * What follows was agreed to with the first request; the policy holds for it all the same. What an earlier run has left
 * (`isLeft`) was agreed to under the mode of then: it is judged by the one of now.
 */
export const following = (service: Service, isLeft = false): Service => ({
  ...service,
  ctx: withContext(service.ctx, {
    sends: service.ctx.sends?.with({ follows: [], ...(!isLeft && { approved: true, holdMs: 0 }) }),
  }),
});

/** The failure of the first request where it may have been done: what was to follow was not. What is only shown goes on. */
export function firstFailed({ preview }: Context, error: unknown, steps: readonly FollowStep[]): unknown {
  if (preview && preview.end === error)
    preview.requests.push(...followsOf(steps).map(({ method, path, body = null }) => ({ method, path, body })));
  if (steps.length === 0 || !(error instanceof Failure) || error.drafted || !error.isUnsure) return error;
  const rest = `What was to follow was not done. To do it once it is there: ${commandsFor(steps)}`;
  return withHint(error, [error.hint, rest].filter(Boolean).join('\n'));
}

/** Does them in order. Where one is not surely done, the failure says what was, what was not, and how to do the rest. */
export async function followedBy(outer: Service, steps: readonly FollowStep[]): Promise<string> {
  const service = following(outer);
  const done: string[] = [];
  for (const [at, step] of steps.entries()) {
    restIs(service.ctx, toDo(steps.slice(at)));
    try {
      await call(service, step.operation, step.input);
    } catch (error) {
      const isUnknown = error instanceof Failure && error.isUnsure;
      restIs(service.ctx, isUnknown ? restAfter(step, steps.slice(at + 1)) : toDo(steps.slice(at), error));
      throw error;
    }
    done.push(await toldOf(step));
  }
  return done.join(' ');
}

/** What sets its fields says to what: `The ticket is changed: status is pending.` */
async function toldOf({ verb, done, input: { body } }: FollowStep): Promise<string> {
  if (verb !== undefined || body === undefined) return done;
  return `${done.replace(/\.$/u, '')}: ${(await import('./changes.ts')).changes(fieldsIn(body))}.`;
}

export const toDo = (steps: readonly FollowStep[], why?: unknown): string =>
  `To do the rest: ${commandsFor(steps, why)}`;

/** One that may be done is looked for first. */
export function restAfter({ operation, input }: FollowStep, left: readonly FollowStep[]): string {
  const look = (operation.effect?.lookHint ?? '').replace(
    /\bID$/u,
    String(Object.values(fieldsIn(input.params))[0] ?? 'ID'),
  );
  return [look, left.length > 0 ? toDo(left) : ''].filter(Boolean).join('\n');
}
