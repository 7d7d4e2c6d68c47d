import type { Effect } from '../../api/operation.ts';
import type { Context, HttpResponse, Write } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { type Body, jsonOf } from '../../retry/own-word.ts';
import type { Judged } from './answer.ts';
import type { RequestSpec, Service } from './asking.ts';
import { madeIds } from './made.ts';
import type { Wire } from './request.ts';

/** Of a request that is not in the table. */
export const anyEffect: Effect = {
  of: 'The request',
  done: 'carried out',
  lookHint: 'Look whether it was done before you send it again.',
};

/** Says how to do the rest, for the case that the command stops half-way. */
export function restIs({ writes }: Pick<Context, 'writes'>, rest: string): void {
  if (writes) writes.rest = rest;
}

/** How a request ended well. */
export type Sent =
  | { readonly how: 'answered'; readonly response: HttpResponse; readonly body: Body; readonly judged?: Judged }
  /** Found by looking. */
  | { readonly how: 'found'; readonly json: unknown }
  /** A repeated delete that found nothing more to delete. */
  | { readonly how: 'gone' };

export type Sending = { readonly asked: RequestSpec; readonly wire: Wire };

/** Waits for a request that writes, and notes for the whole command what became of it. */
export async function noted({ ctx }: Service, at: Sending, sending: Promise<Sent>): Promise<Sent> {
  try {
    const sent = await sending;
    ctx.writes?.done.push(writeOf(at, sent));
    return sent;
  } catch (failure) {
    const isUnknown = failure instanceof Failure && failure.isUnsure;
    if (isUnknown) ctx.writes?.unknown.push(writeOf(at));
    throw failure;
  }
}

/** A request that writes, as its user is told of it. */
function writeOf({ asked, wire: { path } }: Sending, sent?: Sent): Write {
  const { of, done, lookHint } = asked.effect ?? anyEffect;
  const ids = (): readonly number[] => {
    const made = madeIds(asked, answerIn(sent));
    if (made.length > 0) return made;
    const [id] = /(?<=\/)\d+(?=\/|$)/u.exec(path.replace(/\?.*$/u, '')) ?? [];
    return id === undefined ? [] : [Number(id)];
  };
  return { of, done, lookHint, isRepeatable: asked.safety === 'repeatable', ids };
}

export function answerIn(sent: Sent | undefined): unknown {
  if (sent?.how === 'found') return sent.json;
  return sent?.how === 'answered' ? jsonOf(sent.body) : undefined;
}
