import { basename } from 'node:path';
import { Failure } from '../errors.ts';
import { localTime } from '../output/cells.ts';
import { stdinName } from '../tabular/decode.ts';
import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Ended } from './course.ts';
import type { History } from './journal-history.ts';
import type { Fate } from './journal-lines.ts';
import type { Found } from './journals-on-disk.ts';
import { rowsInWords } from './pace.ts';
import { noRequest, type Plan } from './plan.ts';
import { earlierNote } from './view.ts';
import type { Match } from './weigh.ts';

type Known = Pick<History, 'own' | 'matches'>;

const wasSent = ({ status }: Fate): boolean => status !== 'rejected';

/** So many are named. */
const mostNamed = 10;

/** Rows that were sent and are no longer in the file: it was edited, and they would be sent again in another form. */
export function refuseLost({ own, matches }: Known, { refs, row, rows }: Plan, yes: boolean): void {
  if (yes || !own || row.operation.safety === 'repeatable') return;
  const taken = new Set([...matches.values()].map(({ key }) => key));
  const isLost = ([key, fate]: readonly [string, Fate]) => wasSent(fate) && !refs.has(key) && !taken.has(key);
  const lost = [...own.past.fates].filter(isLost).map(([, fate]) => fate);
  if (lost.length === 0) return;
  const named = lost.slice(0, mostNamed).map((fate) => {
    const id = fate.status === 'done' && fate.id !== null ? ` (id ${fate.id})` : '';
    return `line ${fate.line}${id}`;
  });
  const more = lost.length > named.length ? `, and ${lost.length - named.length} more` : '';
  throw new Failure(
    'usage',
    `${counted(lost.length, 'row')} of ${rows.source.name} that ${lost.length === 1 ? 'was sent is' : 'were sent are'} no longer in it, or changed: ${named.join(', ')}${more}.`,
    { hint: 'Nothing was sent now. A changed row is sent as a new one. To go on, add --yes.' },
  );
}

/** How many rows this run would send. */
export function rowsToSend(known: Known, plan: Plan, retryUnknown: boolean): number {
  const isSettled = settledIn(known, plan, retryUnknown);
  return plan.sendable - [...known.matches.keys()].filter(isSettled).length;
}

/** Whether a row, by its `ref`, is one that this run leaves alone, since an earlier one has settled it. */
export function settledIn({ matches }: Known, { row, refs }: Plan, retryUnknown: boolean): (ref: string) => boolean {
  const again = retryUnknown || row.operation.safety === 'repeatable';
  return (ref) => {
    const fate = matches.get(ref)?.fate;
    const isLeft = fate !== undefined && (fate.status === 'done' || fate.status === 'rejected' || !again);
    return isLeft && refs.get(ref) !== noRequest;
  };
}

/** Rows that cannot be sent as they are now, and were sent before: by position in the file. */
export function endedBefore({ matches }: Known, { problems }: Plan): ReadonlyMap<number, Ended> {
  const ended = new Map<number, Ended>();
  for (const [index, { ref, line, error }] of problems) {
    const fate = matches.get(ref)?.fate;
    if (fate?.status === 'done') ended.set(index, { ...fate, line });
    if (fate?.status === 'sent' || fate?.status === 'unknown')
      ended.set(index, { status: 'unknown', line, error: `${openBefore}; now: ${error}`, before: null });
  }
  return ended;
}

const openBefore = 'It was sent before, and svc cannot tell whether it was done';

/** What is said of earlier runs before the first row goes out. */
export function earlierNotes({ own, matches }: Known, plan: Plan, left: number): string[] {
  const settled = plan.sendable - left;
  const elsewhere = [...matches.values()].filter(({ from }) => from !== own);
  const notes: string[] = [];
  if (own) {
    const { finished, header } = own.past;
    const isFinished = finished !== undefined && elsewhere.length === 0;
    const at = finished?.at ?? header.started_at;
    const known = [...matches.keys()].filter((ref) => plan.refs.get(ref) !== noRequest).length;
    const isRetried = isFinished && left > plan.sendable - known;
    notes.push(
      isRetried
        ? `This file was done at ${localTime(at)}, but for ${rowsInWords(left)}.`
        : earlierNote(at, isFinished, settled - elsewhere.length, left),
    );
  }
  if (elsewhere.length > 0) {
    const [are, them] = elsewhere.length === 1 ? ['was', 'it'] : ['were', 'them'];
    notes.push(
      `${rowsInWords(elsewhere.length)} ${are} sent before, ${origins(elsewhere)}, and ${are} not sent again. To send ${them} again, add --again.`,
    );
  }
  return notes;
}

/** So many runs are named. */
const mostOrigins = 3;

/** When rows were sent, and from which file. */
export function origins(matches: readonly Match[]): string {
  const runs = [...new Set(matches.map(({ from }) => from))];
  const named = runs.slice(0, mostOrigins).map(originOf);
  const more = runs.length > named.length ? ', and by earlier runs' : '';
  return named.join(', and ') + more;
}

function originOf({ past: { header, finished } }: Found): string {
  const file = header.file === null ? stdinName : sanitize(basename(header.file));
  return `at ${localTime(finished?.at ?? header.started_at)} from ${file}`;
}
