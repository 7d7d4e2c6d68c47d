import { Failure } from '../../errors.ts';
import { someOf } from '../../text/each.ts';
import { applyLine } from './apply-line.ts';
import { isAnyUnsettled } from './ended-table.ts';
import { keyOf, type RowLine } from './lines.ts';
import type { Past } from './reader.ts';
import { marked, withoutSecrets } from './text.ts';
import { append, close, type Held, keepLost } from './writing.ts';

/** What a run writes to. */
export type Journal = ReturnType<typeof openJournal>;

/** `past`: what earlier runs wrote. */
export function openJournal(held: Held, past: Past | undefined) {
  const { opening, log, rowStatuses, copies, vanishes } = held;
  const there = new Map(past?.there);
  let [hasRows, isFinished] = [false, false];
  /** Rows of which a request may still arrive. */
  const late = new Set<string>();
  let hasDrafts = false;
  return {
    /** Names the work of this journal, over all its runs. */
    batch: held.batch,
    rowStatuses,
    /** With --restart: whether a row goes once more though it may be done. */
    mayGo: held.mayGo,
    /** What other runs have left on its way. */
    copies,
    /** This machine's agrees with the service's. */
    isClockSure: opening.identity.account.isClockSure,
    /** `isWhole`: what earlier runs wrote is all there. */
    past: { requests: past?.requests ?? 0, ms: past?.ms ?? 0, isWhole: past?.isWhole ?? true, there },
    /** Whether a later run can tell a process that was killed from a disk that lost lines. */
    tellsKills: held.witness !== undefined,
    /** Resolves when the line is in the file, and on disk where more than a look depends on it. After a failure none is. */
    async write(line: RowLine) {
      await append(held, line);
      applyLine(rowStatuses, line);
      if ('there' in line) there.set(keyOf(line.there), line.there);
      isFinished = 'finished' in line;
      hasRows ||= !isFinished;
      if ('done' in line && line.done.keys) late.add(line.done.row);
      else if ('done' in line) late.delete(line.done.row);
      hasDrafts ||= 'done' in line && line.done.drafted !== undefined;
    },
    /** Throws where another process has the journal now; to be asked right before each request. */
    check() {
      try {
        opening.lock.check();
      } catch (error) {
        if (error instanceof Failure) held.failed ??= error;
        throw error;
      }
    },
    /** Takes the secrets out again, once they are where they belong. */
    async forgetSecrets() {
      if (!someOf(rowStatuses.standing('done'), ([, rowStatus]) => 'secret' in rowStatus)) return;
      const texts: string[] = [];
      await log.scan((text) => texts.push(withoutSecrets(`${text.toString('utf8')}\n`)));
      await log.rewrite(() => ({ pieces: [Buffer.from(marked(texts.join('')))] }));
    },
    /** Why nothing more can be written. */
    failure: () => held.failed,
    /** Where it is now that the run is over; `there` as long as this process has it. */
    keepLost: () => keepLost(held),
    close() {
      // What may still arrive, what may be done, and what waits for a person, is told to the runs that follow.
      const isTold = late.size > 0 || hasDrafts || isAnyUnsettled(rowStatuses);
      const isOver = isFinished && vanishes.whenFinished && !isTold;
      return close(held, { vanishes: isOver || (!hasRows && vanishes.whenEmpty) });
    },
  };
}
