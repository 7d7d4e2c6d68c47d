import type { Files } from '../batch/ending.ts';
import { duration, rowsInWords } from '../batch/pace.ts';
import { problemLines } from '../batch/problem-lines.ts';
import type { Terminal } from '../output/view.ts';
import { counted, number } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { cut, pad, wrap } from '../text/width.ts';
import { tagsQuestion } from './notes.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import { samplesOf } from './view.ts';

const styles: Readonly<Record<string, Parameters<Terminal['paint']>[0]>> = {
  rows: 'bold',
  rejected: 'red',
  skipped: 'orange',
  unknown: 'orange',
  unsent: 'orange',
};

export const reportView =
  (plan: Plan, report: Report, files: Files, overwrites: () => string) =>
  (terminal: Terminal): string => {
    const { paint, width } = terminal;
    const { rows, rejected, skipped = 0, unknown, unsent, chunks, requests, duration_ms, resumed_rows } = report;
    const outcomes =
      'synced' in report ? { synced: report.synced } : { created: report.created, updated: report.updated };
    const counts = { rows, ...outcomes, rejected, skipped, unknown, unsent: unsent - unknown };
    const room = number(rows).length;
    const lines = Object.entries(counts)
      .filter(([name, count]) => count > 0 || name in outcomes)
      .map(([name, count]) => {
        return `  ${number(count).padStart(room)}  ${paint(styles[name] ?? 'green', name)}`;
      });
    const details = [
      counted(chunks, 'chunk'),
      counted(requests, 'request'),
      ...(resumed_rows > 0 ? [`${counted(resumed_rows, 'row')} by earlier runs`] : []),
      duration_ms < 10_000 ? `${(duration_ms / 1000).toFixed(1)} s` : duration(duration_ms / 1000),
    ];
    return [
      paint('bold', sanitize(plan.table.source.name)),
      ...lines,
      paint('dim', `  in ${details.join(', ')}`),
      ...('updated' in report && report.updated > 0
        ? [
            ...wrap('What a contact had already was kept. To overwrite it:', width - 2).map((line) => `  ${line}`),
            ...overwrites()
              .split('\n')
              .map((line) => `    ${line}`),
          ]
        : []),
      ...problemLines(report.errors, files, terminal),
    ].join('\n');
  };

export const planView =
  (plan: Plan, report: Report, files: Files) =>
  (terminal: Terminal): string => {
    const { width, paint } = terminal;
    const { columns, fallbacks } = plan.mapping;
    const head = Math.min(24, Math.max(...[...columns, ...fallbacks].map(({ header }) => header.length)));
    const field = Math.max(...columns.map(({ to }) => to.length));
    const nameOf = ({ header, index }: { readonly header: string; readonly index: number }) =>
      pad(cut(sanitize(header) || `#${index + 1}`, head), head);
    const others = fallbacks.map(
      (column) => `  ${nameOf(column)}  → ${pad(column.to, field)}  ${paint('dim', 'where the first is blank')}`,
    );
    const mapping = columns.map((column) => {
      const samples = samplesOf(column, report.sample ?? plan.sample)
        .map((text) => sanitize(text))
        .filter((text) => text !== '');
      const text = `  ${nameOf(column)}  → ${pad(column.to, field)}  `;
      return `${text}${paint('dim', cut(samples.join(', '), Math.max(10, width - head - field - 8)))}`;
    });
    const chunks = counted(plan.chunks, 'call');
    return [
      `${paint('bold', sanitize(plan.table.source.name))}  ${paint('dim', describe(plan))}`,
      ...mapping,
      ...others,
      '',
      ...wrap(
        `${number(plan.sendable)} of ${rowsInWords(plan.rows)} would be sent, in ${chunks}${tagsQuestion(plan) ? ', once it is said what separates the tags' : ''}.`,
        width,
      ),
      ...(report.skipped ? [`${counted(report.skipped, 'row')} would be skipped.`] : []),
      ...(report.rejected > 0 ? [paint('red', `${counted(report.rejected, 'row')} would be rejected.`)] : []),
      ...problemLines(report.errors, files, terminal),
    ].join('\n');
  };

const delimiterNames: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };

function describe({ table }: Plan): string {
  const delimiter = delimiterNames[table.delimiter] ?? `"${table.delimiter}"`;
  return `${table.source.encoding.toUpperCase()}${table.source.hasBom ? ' with BOM' : ''}, ${delimiter}-separated`;
}
