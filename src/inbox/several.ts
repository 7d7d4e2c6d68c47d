import { counted } from '../text/number.ts';
import type { Done, Job } from './model.ts';
import { keyOf, nameOf, type Row } from './row.ts';

type How = {
  /** What became of this one. */
  readonly told: string;
  /** It was as it was wanted already. */
  readonly isUnsent: boolean;
  /** What was done, the newest last. */
  readonly done: readonly Done[];
};

/** What became of one of several that one answer changed, with the number of the others: `T-1008 and 2 others are closed.` */
export function severalWords(job: Job, { told, isUnsent, done }: How): string {
  const { row, batch } = job;
  const all = batch === undefined ? [] : done.filter((one) => one.batch === batch).map((one) => one.row);
  const others = all.filter((one) => row === undefined || keyOf(one) !== keyOf(row));
  if (!row || others.length === 0) return told;
  const count = counted(others.length, 'other');
  const back = backWords(job, all);
  if (!isUnsent) return `${nameOf(row)} and ${count} ${becameWords(job, all).many}.${back}`;
  const { one, many } = becameWords(job, others);
  return `${told} ${count} ${others.length === 1 ? one : many}.${back}`;
}

type Became = { readonly one: string; readonly many: string };

const be = (what: string): Became => ({ one: `is ${what}`, many: `are ${what}` });

/** What they are now. `all`: as they were before. */
function becameWords({ change }: Job, all: readonly Row[]): Became {
  switch (change?.act) {
    case 'close':
      return be('closed');
    case 'priority':
      return { one: `has priority ${change.priority}`, many: `have priority ${change.priority}` };
    case 'reopen': {
      if (change.to === undefined || all.every(({ status }) => status === change.to))
        return be(`${change.to ?? 'open'} again`);
      return { one: 'is as it was', many: 'are as they were' };
    }
    default:
      return be('resolved');
  }
}

/** Tickets alone are opened again by `u`. */
function backWords({ change }: Job, all: readonly Row[]): string {
  if (change?.act === 'reopen' || change?.act === 'priority') return '';
  const tickets = all.filter(({ kind }) => kind === 'ticket');
  const [ticket] = tickets;
  if (!ticket) return '';
  if (tickets.length === all.length) return ` u takes ${tickets.length === 1 ? 'it' : 'them'} back.`;
  return ` u takes back ${tickets.length === 1 ? nameOf(ticket) : `the ${tickets.length} tickets`}.`;
}
