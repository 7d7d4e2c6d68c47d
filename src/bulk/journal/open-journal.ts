import type { Whereabouts } from '../../disk/log/growing-file.ts';
import { Failure } from '../../errors.ts';
import { someOf } from '../../text/each.ts';
import { applyLine } from './apply-line.ts';
import type { Copy } from './copies.ts';
import { isAnyUnsettled } from './ended-table.ts';
import { keyOf, type RowLine } from './lines.ts';
import type { Past } from './reader.ts';
import type { OpenRowStatuses } from './row-status-table.ts';
import { marked, withoutSecrets } from './text.ts';
import { append, close, type Held, keepLost } from './writing.ts';

/** What a run writes to. */
export type Journal = {
  readonly path: string;
  /** Names the work of this journal, over all its runs. */
  readonly batch: string;
  readonly rowStatuses: OpenRowStatuses;
  /** With --restart: whether a row goes once more though it may be done. */
  readonly mayGo: (row: string) => boolean;
  /** `isWhole`: what earlier runs wrote is all there. */
  readonly past: Pick<Past, 'requests' | 'ms' | 'isWhole' | 'there'>;
  /** What other runs have left on its way. */
  readonly copies: readonly Copy[];
  /** This machine's agrees with the service's. */
  readonly isClockSure: boolean;
  /** Whether a later run can tell a process that was killed from a disk that lost lines. */
  readonly tellsKills: boolean;
  /** Resolves when the line is in the file, and on disk where more than a look depends on it. After a failure none is. */
  write(line: RowLine): Promise<void>;
  /** Throws where another process has the journal now; to be asked right before each request. */
  check(): void;
  /** Takes the secrets out again, once they are where they belong. */
  forgetSecrets(): Promise<void>;
  /** Why nothing more can be written. */
  failure(): Failure | undefined;
  /** Where it is now that the run is over; `there` as long as this process has it. */
  keepLost(): Promise<Whereabouts>;
  close(): Promise<void>;
};

/** `past`: what earlier runs wrote. */
export function openJournal(held: Held, past: Past | undefined): Journal {
  const { opening, path, log, rowStatuses, copies, vanishes } = held;
  const there = new Map(past?.there);
  let [hasRows, isFinished] = [false, false];
  /** Rows of which a request may still arrive. */
  const late = new Set<string>();
  let hasDrafts = false;
  return {
    path,
    batch: held.batch,
    rowStatuses,
    mayGo: held.mayGo,
    copies,
    isClockSure: opening.identity.account.isClockSure,
    past: { requests: past?.requests ?? 0, ms: past?.ms ?? 0, isWhole: past?.isWhole ?? true, there },
    tellsKills: held.witness !== undefined,
    async write(line) {
      await append(held, line);
      applyLine(rowStatuses, line);
      if ('there' in line) there.set(keyOf(line.there), line.there);
      isFinished = 'finished' in line;
      hasRows ||= !isFinished;
      if ('done' in line && line.done.keys) late.add(line.done.row);
      else if ('done' in line) late.delete(line.done.row);
      hasDrafts ||= 'done' in line && line.done.drafted !== undefined;
    },
    check() {
      try {
        opening.lock.check();
      } catch (error) {
        if (error instanceof Failure) held.failed ??= error;
        throw error;
      }
    },
    async forgetSecrets() {
      if (!someOf(rowStatuses.standing('done'), ([, rowStatus]) => 'secret' in rowStatus)) return;
      const texts: string[] = [];
      await log.scan((text) => texts.push(withoutSecrets(`${text.toString('utf8')}\n`)));
      await log.rewrite(() => ({ pieces: [Buffer.from(marked(texts.join('')))] }));
    },
    failure: () => held.failed,
    keepLost: () => keepLost(held),
    close() {
      // What may still arrive, what may be done, and what waits for a person, is told to the runs that follow.
      const isTold = late.size > 0 || hasDrafts || isAnyUnsettled(rowStatuses);
      const isOver = isFinished && vanishes.whenFinished && !isTold;
      return close(held, { vanishes: isOver || (!hasRows && vanishes.whenEmpty) });
    },
  };
}
