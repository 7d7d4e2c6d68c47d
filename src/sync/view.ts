import { cellForPipe, localTime } from '../output/cells.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Earlier } from './journal.ts';
import { type Column, isOwnData, type Shape } from './mapping.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import type { Contact } from './rows.ts';
import type { Progress } from './run.ts';

export const number = (value: number): string => value.toLocaleString('en');

export const rowsOf = (count: number): string => `${number(count)} row${count === 1 ? '' : 's'}`;

export function progressText({ done, total, resumed, ms }: Progress): string {
  const perSecond = (done - resumed) / Math.max(ms / 1000, 0.001);
  const left = (total - done) / Math.max(perSecond, 0.001);
  const rate =
    perSecond >= 10 ? `${number(Math.round(perSecond))} rows/s` : `${number(Math.round(perSecond * 60))} rows/min`;
  return `Synced ${number(done)} of ${number(total)} rows · ${rate} · ${duration(left)} left`;
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** What a first look at the file has to say, before anything is sent. */
export function planNotes(plan: Plan, shape: Shape): string[] {
  const notes: string[] = [];
  const { unused } = plan.mapping;
  if (unused.length > 0) {
    const names = unused.map((name) => sanitize(name));
    const shown = names.slice(0, 12).join(', ') + (names.length > 12 ? `, and ${names.length - 12} more` : '');
    notes.push(`Columns that are not sent: ${shown}.`);
    const tags = shape.fields.includes('tags') ? undefined : names.find((name) => /^(?:tags?|labels?)$/iu.test(name));
    if (tags) notes.push(`"${tags}" is ignored: a list import takes no tags; svc contacts sync does.`);
    const other = names.find((name) => name !== tags);
    if (other) notes.push(`To send a column as own data: --map "${other}=metadata.${keyOf(other)}"`);
  }
  const { count, examples } = plan.ignoredPhones;
  if (count > 0) {
    const shown = examples.map(({ line, phone }) => `line ${line}: ${sanitize(phone)}`).join('; ');
    notes.push(
      `Warning: the service will ignore ${number(count)} phone${count === 1 ? '' : 's'} (${shown}${count > examples.length ? '; …' : ''}).`,
    );
  }
  if (plan.leftOut > 0)
    notes.push(`Left out by --dedupe first: ${rowsOf(plan.leftOut)} with an email of an earlier one.`);
  return notes;
}

const keyOf = (header: string): string => header.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_') || 'key';

export function earlierNote(earlier: Earlier, name: string, done: number, total: number): string | undefined {
  if (earlier.kind === 'none') return undefined;
  const at = localTime(earlier.at);
  switch (earlier.kind) {
    case 'interrupted':
      return `Resuming the run of ${at}: ${number(done)} of ${number(total)} rows are done.`;
    case 'finished':
      return `This file was last synced at ${at}; syncing it again.`;
    case 'restarted':
      return `Starting from scratch; the run of ${at} is set aside.`;
    case 'changed':
      return `${name} has changed since the run of ${at}: starting from scratch.`;
    case 'remapped':
      return `${name} was read with other settings in the run of ${at}: starting from scratch.`;
  }
}

/** A line for each count, then one for each error. */
export function reportText({ errors, ...counts }: Report): string {
  return [
    ...Object.entries(counts).map(([name, value]) => `${name}\t${cellForPipe(value)}`),
    ...errors.map(({ line, email, error }) => ['error', line, email, error].map(cellForPipe).join('\t')),
  ].join('\n');
}

/** A line for each column that is sent, with its first values, and then the report. */
export function planText(plan: Plan, report: Report): string {
  const columns = plan.mapping.columns.map((column) =>
    ['column', column.header, column.to, ...samplesOf(column, plan.sample)].map(cellForPipe).join('\t'),
  );
  return [...columns, reportText(report)].join('\n');
}

export const samplesOf = ({ to }: Column, sample: readonly Contact[]): string[] =>
  sample.map((contact) => {
    if (isOwnData(to)) return textOf(contact.metadata?.[to.slice(9)]);
    return textOf(contact[to]);
  });

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(', ');
  return value ? JSON.stringify(value) : '';
}
