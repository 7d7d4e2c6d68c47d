import { type Progress, progressText as rowsProgress } from '../batch/pace.ts';
import { localTime, rowForPipe } from '../output/cells.ts';
import { number } from '../text/number.ts';
import type { Earlier } from './journal.ts';
import { type Column, type Contact, isOwnData } from './mapping.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';

export const progressText = (progress: Progress, waitMs?: number): string => `Synced ${rowsProgress(progress, waitMs)}`;

export function earlierNote(earlier: Earlier, name: string, done: number, total: number): string | undefined {
  if (earlier.kind === 'none') return undefined;
  const at = localTime(earlier.at);
  return {
    interrupted: `Resuming the run of ${at}: ${number(done)} of ${number(total)} rows are done.`,
    finished: `This file was last synced at ${at}; syncing it again.`,
    restarted: `Starting from scratch; the run of ${at} is set aside.`,
    changed: `${name} has changed since the run of ${at}: starting from scratch.`,
    remapped: `${name} was read with other settings in the run of ${at}: starting from scratch.`,
  }[earlier.kind];
}

/** A line for each count, then one for each error. */
export function reportText({ errors, mapping: _, sample: __, phones_left_out = [], ...counts }: Report): string {
  return [
    ...Object.entries(counts).map(([name, value]) => rowForPipe(name, value)),
    ...errors.map(({ line, email, error }) => rowForPipe('error', line, email, error)),
    ...phones_left_out.map(({ line, email, phone }) => rowForPipe('phone left out', line, email, phone)),
  ].join('\n');
}

/** A line for each column that is sent, with its first values, and then the report. */
export function planText(plan: Plan, report: Report): string {
  const columns = plan.mapping.columns.map((column) =>
    rowForPipe('column', column.header, column.to, ...samplesOf(column, report.sample ?? plan.sample)),
  );
  const fallbacks = plan.mapping.fallbacks.map(({ header, to }) => rowForPipe('where blank', header, to));
  return [...columns, ...fallbacks, reportText(report)].join('\n');
}

const shownSamples = 3;

export const samplesOf = ({ to }: Column, sample: readonly Contact[]): string[] =>
  sample.slice(0, shownSamples).map((contact) => textOf(isOwnData(to) ? contact.metadata?.[to.slice(9)] : contact[to]));

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(', ');
  return value ? JSON.stringify(value) : '';
}
