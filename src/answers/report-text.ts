import type { Terminal } from '../output/view.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, cut, pad, sideBySide, wrap } from '../text/width.ts';
import type { FigureName } from './figures.ts';
import type { Report, Shown } from './report.ts';
import { changeText, hasNumbers, nameOf, periodText, shownFigures, titleOf, valueText } from './report-words.ts';

const gap = 4;
/** A block is never narrower than that while there is room, and the screen is filled with as many as fit. */
const blockWidth = 56;

type Named = readonly [FigureName, Shown];

/** The report as a terminal of that width shows it: no line is longer. */
export function reportText(report: Report, terminal: Terminal): string {
  const { width, paint } = terminal;
  const { zone, before } = report;
  const beside = before ? `, beside ${periodText(before, zone)}` : '';
  const head = wrap(`${periodText(report, zone)}${beside} (${zone})`, width).map((line) => paint('bold', line));
  const columns = Math.max(1, Math.floor((width + gap) / (blockWidth + gap)));
  const room = Math.floor((width - gap * (columns - 1)) / columns);
  const blocks = shownFigures(report).map((named) => block(named, report, { ...terminal, width: room }));
  return `${[...head, '', ...sideBySide(stacked(blocks, columns), room, gap)].join('\n').trimEnd()}\n`;
}

/** Each block goes on below the column that is shortest: the order stays readable, and no room is lost. */
function stacked(blocks: readonly (readonly string[])[], columns: number): string[][] {
  const stacks: string[][] = Array.from({ length: columns }, () => []);
  for (const lines of blocks) {
    const shortest = stacks.reduce((found, stack) => (stack.length < found.length ? stack : found));
    shortest.push(...lines, '');
  }
  return stacks;
}

function block(named: Named, report: Report, terminal: Terminal): string[] {
  const [, { title, drawn }] = named;
  const heading = terminal.paint('bold', cut(title, terminal.width));
  if (drawn === 'line') return line(named, report, terminal);
  return [heading, ...(drawn === 'bars' ? barLines(named, terminal) : valueLines(named, terminal))];
}

/** The rows of a figure in words, and how wide each of their columns is. */
function measured([name, figure]: Named) {
  const rows = figure.values.map((value) => ({
    name: sanitize(nameOf(name, value)),
    value: hasNumbers(figure) ? valueText(figure, value.key, value.value) : '',
    size: value.value ?? 0,
    change: changeText(figure, value),
  }));
  const widest = (of: 'name' | 'value' | 'change') => Math.max(...rows.map((row) => cells(row[of])));
  return { rows, widest: widest('name'), values: widest('value'), changes: widest('change') };
}

/** Name, value, and what it was before. */
function valueLines(named: Named, { width, paint }: Terminal): string[] {
  const { rows, widest, values, changes } = measured(named);
  const names = Math.min(widest, width - values - changes - 6);
  return rows.map(({ name: each, value, change }) =>
    `  ${pad(cut(each, names), names)}  ${right(value, values)}${change && `  ${paint('dim', right(change, changes))}`}`.trimEnd(),
  );
}

const right = (value: string, width: number): string => ' '.repeat(Math.max(0, width - cells(value))) + value;

function barLines(named: Named, { width, paint }: Terminal): string[] {
  const { rows, widest, values, changes } = measured(named);
  const names = Math.min(16, widest);
  const room = Math.max(1, width - names - values - (changes > 0 ? changes + 2 : 0) - 6);
  const most = Math.max(1, ...rows.map(({ size }) => size));
  return rows.map(({ name: each, value, size, change }) =>
    [
      `  ${pad(cut(each, names), names)}  ${paint('blue', pad(bar((size / most) * room), room))}`,
      right(value, values),
      ...(changes > 0 ? [` ${paint('dim', right(change, changes))}`] : []),
    ]
      .join(' ')
      .trimEnd(),
  );
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** So many cells, to an eighth. What is more than nothing is seen. */
export function bar(size: number): string {
  const parts = size > 0 ? Math.max(1, Math.round(size * 8)) : 0;
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

const steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A column for each value, of at most `width` in all: neighbours are added up where there are more. */
export function sparkline(values: readonly number[], width: number): string {
  const each = Math.ceil(values.length / Math.max(1, width));
  const sums = Array.from({ length: Math.ceil(values.length / each) }, (_, at) =>
    values.slice(at * each, (at + 1) * each).reduce((sum, value) => sum + value, 0),
  );
  const most = Math.max(...sums);
  return sums.map((value) => (value === 0 ? ' ' : steps[Math.ceil((value / most) * 8) - 1])).join('');
}

function line([name, figure]: Named, report: Report, { width, paint }: Terminal): string[] {
  const values = figure.values.map(({ value }) => value ?? 0);
  const [first = '', last = ''] = [figure.values[0], figure.values.at(-1)].map((one) => one && nameOf(name, one));
  const drawn = sparkline(values, width - 4);
  const most = figure.values.reduce((found, one) => ((one.value ?? 0) > (found.value ?? 0) ? one : found));
  const about = (most.value ?? 0) > 0 ? `most: ${most.value} (${nameOf(name, most)})` : 'none';
  const span = `${first} to ${last}`;
  return [
    paint('bold', cut(titleOf([name, figure], report), width)),
    `  ${paint('dim', '▕')}${paint('blue', drawn)}${paint('dim', '▏')}`,
    // Hours of a span of days are long: where one line has no room for both, each has one of its own.
    ...(cells(`  ${span}, ${about}`) <= width ? [`${span}, ${about}`] : [span, about]).map((one) =>
      paint('dim', cut(`  ${one}`, width)),
    ),
  ];
}
