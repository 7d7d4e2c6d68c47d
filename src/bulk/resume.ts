import { Failure } from '../errors.ts';
import { localTime } from '../output/cells.ts';
import { counted } from '../text/number.ts';
import type { Found, Journals } from './journal.ts';
import type { Fate, Past } from './journal-lines.ts';
import type { Plan } from './plan.ts';

type Chosen = { readonly found?: Found; readonly replaces?: Found };

const isOpen = ({ past }: Found): boolean => past.finishedAt === undefined;

/**
 * Which earlier run this one goes on with. A command for which twice is once begins again after a finished run; any
 * other never sends a row again that an earlier run has sent.
 */
export function chosenJournal(
  { same, others }: Journals,
  plan: Plan,
  { restart }: { readonly restart: boolean },
): Chosen {
  const [latest] = same;
  if (restart) return { replaces: latest };
  const [other] = others;
  if (other && !latest) throw notTheSame(other, plan);
  if (plan.row.operation.safety === 'repeatable') {
    return latest && isOpen(latest) ? { found: latest } : { replaces: latest };
  }
  const isShared = ({ past }: Found) => [...past.fates.keys()].some((ref) => plan.refs.has(ref));
  const shared = same.filter(isShared);
  const found = shared.find(isOpen) ?? shared[0] ?? same.find((one) => isOpen(one) && one.past.fates.size > 0);
  return found ? { found } : {};
}

function notTheSame({ past: { header, fates } }: Found, plan: Plan): Failure {
  const begun = `A run of ${plan.rows.source.name} that began at ${localTime(header.started_at)} is not finished`;
  const rows = `${fates.size} of its rows were sent`;
  return new Failure(
    'usage',
    `${begun}, and belongs to another account, or had other flags or another template: ${rows}.`,
    {
      hint: 'To go on with it, run it with the same login and flags as then. To begin a new run with these, add --restart.',
    },
  );
}

const wasSent = ({ status }: Fate): boolean => status !== 'rejected';

/** So many are named. */
const mostNamed = 10;

/** Rows that were sent and are no longer in the file: it was edited, and they would be sent again in another form. */
export function refuseLost({ fates }: Past, { refs, row, rows }: Plan, yes: boolean): void {
  if (yes || row.operation.safety === 'repeatable') return;
  const lost = [...fates].flatMap(([ref, fate]) => (wasSent(fate) && !refs.has(ref) ? [fate] : []));
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
export function rowsToSend(past: Past | undefined, { refs, row, sendable }: Plan, retryUnknown: boolean): number {
  if (!past) return sendable;
  const again = retryUnknown || row.operation.safety === 'repeatable';
  let settled = 0;
  for (const [ref, { status }] of past.fates) {
    if (refs.has(ref) && (status === 'done' || status === 'rejected' || !again)) settled++;
  }
  return sendable - settled;
}
