import { hearersOf } from '../api/hearers.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { connect } from '../http/call/call.ts';
import { restIs } from '../http/exchange/writes.ts';
import { isShownOnly } from '../http/send/preview.ts';
import type { View } from '../output/view.ts';
import { capital } from '../text/capital.ts';
import type { AnyCommand, Given, Param } from './command.ts';
import { confirmed, unchangedBy } from './confirm.ts';
import { flagName } from './param.ts';
import { type Ended, endedBy, endsAll, failureOf, needless, viewOf } from './several-ended.ts';

/** From so many on, a change that is easily taken back is asked for once, on a terminal alone. */
export const manyToChange = 20;

/**
 * The command with several ids in place of one: each is done by itself, in order. With one id nothing changes. `group`:
 * the word before the command's name.
 */
export function several(group: string, command: AnyCommand): AnyCommand {
  const { id } = command.args as { readonly id: Param<number> };
  const ids: Param<readonly number[]> = {
    ...id,
    description: `${id.description}; several are done one after the other`,
    asks: id.description,
    many: true,
    fallback: undefined,
    // `7` and `T-1007` may be one ticket.
    parse: (texts, flag, now) => [...new Set(texts.map((text) => id.parse([text], flag, now)))],
  };
  return {
    ...command,
    args: { ...command.args, id: ids },
    async run(ctx, { args, names, ...given }: Given) {
      const all: readonly number[] = [args.id].flat();
      const [only, ...others] = all;
      const of = (one: number | undefined) => ({ ...given, args: { ...args, id: one } });
      if (others.length === 0) return command.run(ctx, { ...of(only), names });
      refuseOneRecordsFlags(command, given.flags);
      await confirmedOnce(ctx, given.settings, command, all.length);
      const settings = { ...given.settings, yes: true };
      const words = `${group} ${command.name}`;
      return oneAfterTheOther(ctx, words, all, (one) => command.run(ctx, { ...of(one), settings }));
    },
  };
}

/** A text is for one record. */
function refuseOneRecordsFlags({ flags, row }: AnyCommand, given: Given['flags']): void {
  const texts = [row?.text, 'bodyFile', 'contentFile', 'editor', 'template'];
  for (const key of texts) {
    const value: unknown = key === undefined ? undefined : given[key];
    if (key !== undefined && value !== undefined && value !== false) {
      throw new Failure('usage', `--${flagName(key, flags[key] ?? {})} is for one ID, not for several.`);
    }
  }
}

/** As for the rows of a file: what reaches people or deletes is always asked for, a long list on a terminal alone. */
async function confirmedOnce(ctx: Context, settings: Settings, command: AnyCommand, count: number): Promise<void> {
  const { question, operation } = command.row ?? {};
  // A person sees each of them, now or later.
  if (operation && hearersOf(operation) && ((await ctx.sends?.mode()) ?? 'allow') !== 'allow') return;
  if (question) {
    // A login that cannot do it is refused before anybody is asked.
    if (operation && !settings.yes) await (await connect(ctx, settings)).session.bearer(operation);
    return confirmed(ctx, settings, question(count), { unchanged: unchangedBy(operation) });
  }
  if (count <= manyToChange || settings.yes || settings.noInput || !ctx.ask.canAsk) return;
  const verb = capital(command.name);
  return confirmed(ctx, settings, `${verb} ${count} records?`);
}

/** `words`: behind `svc`, such as `tickets close`. */
async function oneAfterTheOther(
  ctx: Context,
  words: string,
  ids: readonly number[],
  act: (id: number) => Promise<View>,
): Promise<View> {
  const ended: Ended[] = [];
  const told = (failure: Failure | undefined): View => ({
    ...viewOf(words, ids, ended),
    ...(ctx.preview && { notes: needless(ended) }),
    failure,
  });
  const restFrom = (at: number) => {
    const left = ids.slice(at);
    return left.length > 0 ? `To do the rest: svc ${words} ${left.join(' ')}` : '';
  };
  for (const [at, id] of ids.entries()) {
    restIs(ctx, restFrom(at));
    ctx.progress(`${at + 1} of ${ids.length}`, 'work');
    const doneBefore = ctx.writes?.done.length ?? 0;
    try {
      ended.push({ id, status: 'done', view: await act(id) });
    } catch (error) {
      if (isShownOnly(ctx, error)) continue;
      if (!(error instanceof Failure)) throw error;
      const isDone = (ctx.writes?.done.length ?? 0) > doneBefore;
      const one = endedBy(id, error, isDone);
      const isOver = one.failure !== undefined && endsAll(error);
      const isLeft = isOver && one.status === 'unsent';
      if (!isLeft) ended.push(one);
      // What may be done, or waits as a draft, is not among the rest.
      if (isOver) return told(await stoppedBy(ctx, error, restFrom(isLeft && !isKept(error) ? at : at + 1)));
    }
  }
  ctx.progress(undefined, 'work');
  return told(failureOf(ended, ids.length, ctx.preview !== undefined));
}

/** The text of the one that was stopped in its hold waits as a draft, and that failure says so of its command. */
const isKept = ({ isHeld, isWhole }: Failure): boolean => isHeld === true && isWhole === true;

/** What ended all, with how to look for what is not known and how to do the `rest`. */
async function stoppedBy(ctx: Context, failure: Failure, rest: string): Promise<Failure> {
  const looks = failure.isUnsure ? [] : new Set(ctx.writes?.unknown.map(({ lookHint }) => lookHint));
  const advice = [...looks, rest].filter(Boolean).join('\n');
  restIs(ctx, advice);
  const { wholeFailure } = await import('../http/send/whole.ts');
  const { isWhole, ...told } = failure;
  const one = isKept(failure) ? new Failure(failure.kind, failure.message, told) : failure;
  const whole = wholeFailure(one, ctx.writes);
  if (whole !== one || (!failure.isUnsure && !isKept(failure))) return whole;
  // Nothing was written before it.
  const hint = [failure.hint, advice].filter(Boolean).join('\n');
  return new Failure(failure.kind, failure.message, { ...failure, hint, isWhole: true, cause: failure });
}
