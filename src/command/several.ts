import { hearersOf } from '../api/hearers.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, isInterruption } from '../errors.ts';
import { restIs } from '../http/exchange/writes.ts';
import { isShownOnly } from '../http/send/preview.ts';
import type { View } from '../output/view.ts';
import { capital } from '../text/capital.ts';
import type { AnyCommand, Given, Param } from './command.ts';
import { confirmed } from './confirm.ts';
import { flagName } from './param.ts';

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
  if (question) return confirmed(ctx, settings, question(count));
  if (count <= manyToChange || settings.yes || settings.noInput || !ctx.ask.canAsk) return;
  const verb = capital(command.name);
  return confirmed(ctx, settings, `${verb} ${count} records?`);
}

type Ended = { readonly id: number; readonly view?: View; readonly failure?: Failure; readonly draft?: number };

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
    if (left.length > 0) restIs(ctx, `To do the rest: svc ${words} ${left.join(' ')}`);
  };
  for (const [at, id] of ids.entries()) {
    restFrom(at);
    ctx.progress(`${at + 1} of ${ids.length}`, 'work');
    try {
      ended.push({ id, view: await act(id) });
    } catch (error) {
      if (isShownOnly(ctx, error)) continue;
      if (!(error instanceof Failure)) throw error;
      if (error.drafted) {
        // A draft waits for a person: that is all that was to be done for this record.
        const { id: draft, told: done, record } = error.drafted;
        ended.push({ id, view: { data: { shape: 'record', record }, done }, ...(draft !== null && { draft }) });
        continue;
      }
      if (endsAll(error)) {
        restFrom(error.mayBeDone ? at + 1 : at);
        return told(error);
      }
      ended.push({ id, failure: error });
    }
  }
  ctx.progress(undefined, 'work');
  return told(failureOf(ended, ids.length, ctx.preview !== undefined));
}

/** What would be the same for every other record. */
export const endsAll = (failure: Failure): boolean =>
  isInterruption(failure) || ['auth', 'network', 'rate-limited', 'failed', 'usage'].includes(failure.kind);

/** Where all ended alike, it is that; else some of it is done, or it is not known of some. */
function failureOf(ended: readonly Ended[], count: number, isDry: boolean): Failure | undefined {
  const failures = ended.flatMap(({ failure }) => failure ?? []);
  const [first] = failures;
  if (!first) return undefined;
  const isUnknown = failures.some(({ kind }) => kind === 'unknown');
  const isOfOneKind = failures.length === count && failures.every(({ kind }) => kind === first.kind);
  const mixed = isUnknown ? 'unknown' : 'partial';
  const would = `${failures.length} of ${count} would not be done.`;
  const doubt = isUnknown ? ', or it is not known' : '';
  const plain = `${failures.length} of ${count} ${failures.length === 1 ? 'was' : 'were'} not done${doubt}.`;
  return new Failure(isOfOneKind ? first.kind : mixed, isDry ? would : plain, {
    isWhole: true,
    hint: isUnknown ? first.hint : undefined,
  });
}

/** Of a dry run: the records for which nothing would be sent, each in a sentence. */
const needless = (ended: readonly Ended[]): string[] =>
  ended.map(({ id, view, failure }) =>
    // That nothing was sent is the last line of every dry run.
    failure ? failedInWords(id, failure) : (view?.done?.replace(/ Nothing was sent\.$/u, '') ?? `${id} needs nothing.`),
  );

/** Most messages name the record. */
export const failedInWords = (id: number, { message }: Failure): string =>
  new RegExp(`^[^:]*\\b${id}\\b`, 'u').test(message) ? message : `${id}: ${message}`;

/** Of the summary. */
const summaryFields: Record<keyof Summary, true> = {
  ...{ command: true, rows: true, done: true, rejected: true, unknown: true, unsent: true },
  ...{ drafted: true, errors: true, records: true },
};

export const severalFields: readonly string[] = Object.keys(summaryFields);

type Summary = {
  readonly command: string;
  readonly rows: number;
  readonly done: number;
  /** Of those that are done: drafts that wait for a person. */
  readonly drafted?: number;
  readonly rejected: number;
  readonly unknown: number;
  readonly unsent: number;
  readonly errors: readonly { readonly id: number; readonly error: string }[];
  readonly records: readonly unknown[];
};

/** The summary: rows = done + rejected + unknown + unsent, always. */
function viewOf(words: string, ids: readonly number[], ended: readonly Ended[]): View {
  const done = ended.flatMap(({ view }) => view ?? []);
  const failed = ended.flatMap(({ id, failure }) => (failure ? [{ id, failure }] : []));
  const unknown = failed.filter(({ failure }) => failure.kind === 'unknown').length;
  const held = failed.filter(({ failure }) => failure.isHeld).length;
  const drafted = ended.filter(({ draft }) => draft !== undefined).length;
  const record: Summary = {
    command: words,
    rows: ids.length,
    done: done.length,
    ...(drafted > 0 && { drafted }),
    rejected: failed.length - unknown - held,
    unknown,
    unsent: ids.length - ended.length + held,
    errors: failed.map(({ id, failure }) => ({ id, error: failure.message })),
    records: done.flatMap(({ data }) => (data.shape === 'record' ? [data.record] : [])),
  };
  return {
    data: { shape: 'record', record },
    human: async (terminal) => {
      const { doneLine } = await import('../output/done.ts');
      return done.map((view) => doneLine(view.done ?? 'Done.', terminal)).join('\n');
    },
    plain: () => ids.map((id, at) => `${id}\t${statusOf(ended[at])}\n`).join(''),
    notes: [
      ...failed.map(({ id, failure }) => failedInWords(id, failure)),
      `${record.rows} in all: ${doneInWords(record)}, ${record.rejected} rejected, ${unknown} unknown, ${record.unsent} not sent.`,
    ],
  };
}

/** A draft was not sent, so it is not called done. */
const doneInWords = ({ done, drafted = 0 }: Summary): string =>
  drafted > 0 ? `${drafted} drafted${done > drafted ? `, ${done - drafted} done` : ', nothing sent'}` : `${done} done`;

function statusOf(one: Ended | undefined): string {
  if (!one) return 'unsent';
  if (one.draft !== undefined) return `draft ${one.draft}`;
  if (!one.failure) return 'done';
  if (one.failure.isHeld) return 'unsent';
  return one.failure.kind === 'unknown' ? 'unknown' : 'rejected';
}
