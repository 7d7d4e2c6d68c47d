import { cellForPipe, localTime } from '../output/cells.ts';
import type { Terminal } from '../output/view.ts';
import { sanitize } from '../text/sanitize.ts';
import { cut, pad } from '../text/width.ts';
import type { Earlier } from './journal.ts';
import type { Column, Shape } from './mapping.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import type { Contact } from './rows.ts';
import type { Progress } from './run.ts';

const number = (value: number): string => value.toLocaleString('en');

const rowsOf = (count: number): string => `${number(count)} row${count === 1 ? '' : 's'}`;

/** On a terminal that many problems are enough to see what is wrong; the files have them all. */
const shownProblems = 10;

export function progressText({ done, total, resumed, ms }: Progress): string {
  const perSecond = (done - resumed) / Math.max(ms / 1000, 0.001);
  const left = (total - done) / Math.max(perSecond, 0.001);
  const rate =
    perSecond >= 10 ? `${number(Math.round(perSecond))} rows/s` : `${number(Math.round(perSecond * 60))} rows/min`;
  return `Synced ${number(done)} of ${number(total)} rows · ${rate} · ${duration(left)} left`;
}

function duration(seconds: number): string {
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

const samplesOf = ({ to }: Column, sample: readonly Contact[]): string[] =>
  sample.map((contact) => {
    const value = to.startsWith('metadata.') ? contact.metadata?.[to.slice(9)] : contact[to as keyof Contact];
    return typeof value === 'string'
      ? value
      : Array.isArray(value)
        ? value.join(', ')
        : value
          ? JSON.stringify(value)
          : '';
  });

export const reportView =
  (plan: Plan, report: Report) =>
  ({ width, paint }: Terminal): string => {
    const { rows, rejected, unsent, chunks, requests, duration_ms, resumed_rows } = report;
    const outcomes =
      'synced' in report ? { synced: report.synced } : { created: report.created, updated: report.updated };
    const counts = { rows, ...outcomes, rejected, unsent };
    const room = number(rows).length;
    const lines = Object.entries(counts)
      .filter(([name, count]) => count > 0 || name in outcomes)
      .map(([name, count]) => {
        const style = name === 'rejected' ? 'red' : name === 'unsent' ? 'yellow' : name === 'rows' ? 'bold' : 'green';
        return `  ${number(count).padStart(room)}  ${paint(style, name)}`;
      });
    const course = [
      `${number(chunks)} chunk${chunks === 1 ? '' : 's'}`,
      `${number(requests)} request${requests === 1 ? '' : 's'}`,
      ...(resumed_rows > 0 ? [`${number(resumed_rows)} rows by earlier runs`] : []),
      duration_ms < 10_000 ? `${(duration_ms / 1000).toFixed(1)} s` : duration(duration_ms / 1000),
    ];
    return [
      paint('bold', sanitize(plan.table.source.name)),
      ...lines,
      paint('dim', `  in ${course.join(', ')}`),
      ...problemLines(report, width, paint),
    ].join('\n');
  };

export const planView =
  (plan: Plan, report: Report) =>
  ({ width, paint }: Terminal): string => {
    const { columns } = plan.mapping;
    const head = Math.min(24, Math.max(...columns.map(({ header }) => header.length)));
    const field = Math.max(...columns.map(({ to }) => to.length));
    const mapping = columns.map((column) => {
      const samples = samplesOf(column, plan.sample)
        .map((text) => sanitize(text))
        .filter((text) => text !== '');
      const name = pad(cut(sanitize(column.header) || `#${column.index + 1}`, head), head);
      const text = `  ${name}  → ${pad(column.to, field)}  `;
      return `${text}${paint('dim', cut(samples.join(', '), Math.max(10, width - head - field - 8)))}`;
    });
    const chunks = `${number(plan.chunks)} call${plan.chunks === 1 ? '' : 's'}`;
    return [
      `${paint('bold', sanitize(plan.table.source.name))}  ${paint('dim', describe(plan))}`,
      ...mapping,
      '',
      `${number(plan.sendable)} of ${number(plan.rows)} rows would be sent, in ${chunks}.`,
      ...(report.rejected > 0 ? [paint('red', `${rowsOf(report.rejected)} would be rejected.`)] : []),
      ...problemLines(report, width, paint),
    ].join('\n');
  };

const delimiterNames: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };

function describe({ table }: Plan): string {
  const delimiter = delimiterNames[table.delimiter] ?? `"${table.delimiter}"`;
  return `${table.source.encoding.toUpperCase()}${table.source.hasBom ? ' with BOM' : ''}, ${delimiter}-separated`;
}

function problemLines({ errors }: Report, width: number, paint: Terminal['paint']): string[] {
  if (errors.length === 0) return [];
  const shown = errors.slice(0, shownProblems);
  const lineRoom = Math.max(4, ...shown.map(({ line }) => String(line).length));
  const emailRoom = Math.min(32, Math.max(5, ...shown.map(({ email }) => email.length)));
  const errorRoom = Math.max(20, width - lineRoom - emailRoom - 6);
  const rows = shown.map(({ line, email, error }) => {
    const cells = [String(line).padStart(lineRoom), pad(cut(sanitize(email), emailRoom), emailRoom)];
    return `  ${cells.join('  ')}  ${cut(sanitize(error), errorRoom)}`;
  });
  const more = errors.length - shown.length;
  return [
    '',
    paint('dim', `  ${'line'.padStart(lineRoom)}  ${pad('email', emailRoom)}  problem`),
    ...rows,
    ...(more > 0 ? [paint('dim', `  … and ${number(more)} more; --rejects FILE or --report FILE has them all`)] : []),
  ];
}
