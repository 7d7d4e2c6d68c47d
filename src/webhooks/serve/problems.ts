import type { Clock } from '../../context.ts';
import { Failure, messageOf } from '../../errors.ts';
import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { queueParts } from '../event/account.ts';
import { type Refusal, refusals } from '../receive/judge.ts';
import type { Settled } from '../store/inbox-store.ts';
import { lossInWords } from '../store/outcome-words.ts';
import { type Refusing, tellingRecovery } from '../store/recovery.ts';

/** Tells a person a line, and with `about` a program what it says. */
export type Log = (text: string, about?: LogFields) => void;

/** What became of an event at a sink, by the names of `webhooks dead list --json`. */
type LogFields = {
  readonly state: 'failed' | 'dead' | 'delivered';
  readonly id: string;
  readonly account?: string;
  readonly sink: string;
  readonly tries: number;
  /** What the sink answered; null where it has none, or none came. */
  readonly status: number | null;
  readonly error: string | null;
};

type Needs = {
  readonly clock: Pick<Clock, 'ticks' | 'sleep'>;
  readonly notice: Log;
  /** Rejects where the inbox cannot be written. */
  readonly probe: () => Promise<void>;
};

export type Problems = ReturnType<typeof createProblems>;

const quietMs = 10_000;
/** The same trouble is no news: a log is read in the morning. */
const sameMs = 60_000;

/** What to type, where it is known. */
const hintOf = (error: unknown): string =>
  error instanceof Failure && error.hint !== undefined ? ` ${error.hint.replaceAll('\n', ' ')}` : '';

/** What people should know of sinks and the inbox: the beginning and the end of a problem, and each dead letter. */
export function createProblems({ clock, notice, probe }: Needs) {
  const ending = new AbortController();
  const recovery = tellingRecovery({ clock, notice, probe, signal: ending.signal });
  const failing = new Set<string>();
  let toldAt = Number.NEGATIVE_INFINITY;
  let told = '';
  let refused: Refusing | undefined;
  const whileRefused: Refusing = {
    isOn: () => refused?.isOn() === true,
    // Whoever was told that it answers is told where it does not.
    over() {
      refused?.over();
      toldAt = Number.NEGATIVE_INFINITY;
    },
  };
  let filteredAt = Number.NEGATIVE_INFINITY;
  return {
    settled(sink: string, settled: Settled): void {
      const { state, error = 'no answer', tries } = settled.outcome;
      const shown = settled.id.slice(0, 80);
      const tell = (text: string) => notice(text, fieldsOf(sink, settled));
      if (state === 'delivered' && failing.delete(sink)) tell(`${sink} takes events again.`);
      if ((state === 'failed' || state === 'dead') && !failing.has(sink)) {
        failing.add(sink);
        if (state === 'failed') tell(`${sink} does not take ${shown}: ${lossInWords(error)}. It is tried again.`);
      }
      if (state === 'dead') tell(`${shown} is a dead letter of ${sink} after try ${tries}: ${lossInWords(error)}.`);
    },
    inbox(error: unknown, refusing?: Refusing): void {
      refused = refusing ?? refused;
      const text = `The inbox does not answer: ${messageOf(error)}${hintOf(error)}`;
      if (clock.ticks() - toldAt < (text === told ? sameMs : quietMs)) return;
      toldAt = clock.ticks();
      told = text;
      notice(text);
      recovery(whileRefused);
    },
    /** A delivery was not taken just now. */
    isRefusing: whileRefused.isOn,
    filter(text: string): void {
      if (clock.ticks() - filteredAt < quietMs) return;
      filteredAt = clock.ticks();
      notice(text);
    },
    /** Whether a queue could be had, or another instance has it. */
    turn: tellingTurns({ clock, notice, signal: ending.signal }),
    rejected: tellingRejected({ clock, notice, signal: ending.signal }),
    /** Nothing more is asked or told by itself. */
    end: (): void => ending.abort(),
  };
}

function fieldsOf(queue: string, { id, outcome }: Settled): LogFields | undefined {
  const { state, tries, status = null, error = null } = outcome;
  if (state !== 'failed' && state !== 'dead' && state !== 'delivered') return undefined;
  const { account, sink } = queueParts(queue);
  return { state, id, ...(account !== undefined && { account }), sink, tries, status, error };
}

const rejectedMs = 60_000;

type Telling = Omit<Needs, 'probe'> & { readonly signal: AbortSignal };

/**
 * Wrong signatures: the first at once, and those of each minute after it in one line: anybody may send as many as he likes.
 * What came with one is nobody's word, so none of it is told.
 */
function tellingRejected({ clock, notice, signal }: Telling) {
  let isQuiet = false;
  let count = 0;
  const whys = new Set<Refusal>();
  const accounts = new Set<string>();
  const countOn = async () => {
    for (;;) {
      await clock.sleep(rejectedMs, signal);
      if (count === 0 || signal.aborted) return;
      const why = [...whys].map((one) => refusals[one]).join('; ');
      const were = count === 1 ? 'was' : 'were';
      const where =
        accounts.size === 0 ? '' : ` at the ${accounts.size === 1 ? 'path' : 'paths'} of ${[...accounts].join(', ')}`;
      notice(`${counted(count, 'more delivery')}${where} ${were} refused with 401 within a minute: ${why}.`);
      count = 0;
      whys.clear();
      accounts.clear();
    }
  };
  return (why: Refusal, account?: string): void => {
    if (isQuiet) {
      count++;
      whys.add(why);
      if (account !== undefined) accounts.add(account);
      return;
    }
    isQuiet = true;
    const whose = why === 'no-match' ? ' If the service sent it, svc does not know its signing secret.' : '';
    const where = account === undefined ? '' : ` at the path of ${account}`;
    notice(`A delivery${where} was refused with 401: ${refusals[why]}.${whose}`);
    void countOn().finally(() => {
      isQuiet = false;
    });
  };
}

/** What comes within it is told in one line: an inbox of many accounts has many queues. */
const gatherMs = 1_000;

/**
 * Tells which queues another instance has, which is why nothing is delivered here, and which have come back. What this one
 * has from the beginning is no news. Told of each turn: whether the queue was ours.
 */
export function tellingTurns({ clock, notice, signal }: Telling) {
  const elsewhere = new Set<string>();
  const changed = new Set<string>();
  const tell = async () => {
    await clock.sleep(gatherMs, signal);
    if (signal.aborted) return;
    const [others, ours] = [true, false].map((isElsewhere) =>
      [...changed].filter((queue) => elsewhere.has(queue) === isElsewhere).sort(),
    );
    changed.clear();
    if (others?.length)
      notice(
        `Another instance delivers to ${named(others)}. This one goes on there once that one ends, or 15 s after it was killed.`,
      );
    if (ours?.length) notice(`This instance delivers to ${named(ours)} now.`);
  };
  return (queue: string, isOurs: boolean): void => {
    if (isOurs !== elsewhere.has(queue)) return;
    if (isOurs) elsewhere.delete(queue);
    else elsewhere.add(queue);
    // There and back within the second: there is nothing to tell.
    if (!changed.delete(queue)) changed.add(queue);
    if (changed.size === 1) void tell();
  };
}

const most = 5;

/** Some of them by name. */
const named = (queues: readonly string[]): string =>
  listed([...queues.slice(0, most), ...(queues.length > most ? [`${queues.length - most} more`] : [])], 'and');
