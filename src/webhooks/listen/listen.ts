import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { restIs } from '../../http/exchange/writes.ts';
import { once } from '../../promise/once.ts';
import type { Line } from '../store/event-line.ts';
import type { Slot } from '../store/folder/slot.ts';
import { forgetSecret } from '../subscriptions/secrets.ts';
import { hasLeftovers, reap } from '../subscriptions/subscriptions.ts';
import { bringUp } from './bring-up.ts';
import type { ListenOptions, Running } from './context.ts';
import { createReporter } from './report.ts';

/** How long an app may take over what is queued when svc is told to end. */
const graceMs = 10_000;

/**
 * Brings up what a delivery goes through, and takes it all down again, tunnel first. Where another listener
 * took over the inbox the lines end with the Failure that says who.
 */
export async function listen(ctx: Context, options: ListenOptions) {
  const running: Running = {};
  const reporter = createReporter(ctx.clock);
  const end = once(() => takeDown(ctx, options, running).finally(() => reporter.end()));
  try {
    restIs(ctx, 'Run the same command again: svc webhooks listen removes what an earlier run left.');
    await bringUp(ctx, options, running, reporter);
  } catch (error) {
    await end();
    // Told to end while still coming up: that is its normal end too.
    if (!ctx.signal.aborted) throw error;
  }
  const lost = running.slot?.held.lost;
  const over = lost ? AbortSignal.any([ctx.signal, lost]) : ctx.signal;
  if (over.aborted) await end();
  else over.addEventListener('abort', () => void end(), { once: true });
  return {
    /** Ends once everything is cleaned up, after `ctx.signal` has fired. */
    lines: untilLeft(reporter.lines, end, lost),
    /** Whether another line is there already. */
    more: reporter.lines.more,
    summary: () => reporter.summary(running.forwarder?.depth() ?? 0),
  };
}

/** Also a reader who leaves (`| head -3`) ends everything. */
async function* untilLeft(
  lines: AsyncIterable<Line>,
  end: () => Promise<void>,
  lost: AbortSignal | undefined,
): AsyncGenerator<Line> {
  try {
    yield* lines;
    if (lost?.aborted) throw lost.reason;
  } finally {
    await end();
  }
}

/** Runs each step, also where another fails: a subscription or a lock that stays costs the user more than a note. */
async function takeDown(ctx: Context, options: ListenOptions, running: Running): Promise<void> {
  const { slot, tunnel, receiver, forwarder, inspector } = running;
  const steps: (() => Promise<void> | undefined)[] = [
    () => tunnel?.close(),
    () => (slot ? unsubscribe(ctx, options, slot) : undefined),
    () => receiver?.close(),
    () => running.requests?.end(),
    () => running.catchingUp?.end(),
    () => running.judging,
    () => forwarder?.stop(graceMs),
    () => inspector?.close(),
    () => slot?.leave(),
  ];
  for (const step of steps) {
    await step()?.catch((error: unknown) => ctx.notice(`While ending: ${messageOf(error)}`));
  }
}

async function unsubscribe(ctx: Context, options: ListenOptions, { folder, held }: Slot): Promise<void> {
  // They are of whoever has the slot now.
  if (held.lost.aborted) return;
  const { baseUrl, profile, reach } = options;
  if (!reach || baseUrl === undefined || !(await hasLeftovers([folder], baseUrl))) return;
  try {
    const removed = await reap([folder], [], baseUrl, await options.service());
    await Promise.all(removed.map((id) => forgetSecret(ctx.tokens, profile, id)));
    if (!(await hasLeftovers([folder], baseUrl))) return;
  } catch {
    // Reported below. The journal still knows what is left.
  }
  ctx.notice('Not every subscription could be removed. The next svc webhooks listen of this profile will do it.');
}
