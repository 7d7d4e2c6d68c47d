import { sanitize } from '../text/sanitize.ts';
import type { FigureName } from './figures.ts';
import type { Report, Shown } from './report.ts';
import {
  changeText,
  copyTexts,
  hasNumbers,
  nameOf,
  periodText,
  shownFigures,
  titleOf,
  valueText,
} from './report-words.ts';

/** The report as Markdown: a table for each figure. Text of customers is text in it, and nothing else. */
export function reportMarkdown(report: Report): string {
  const { zone, before } = report;
  const beside = before ? [`Beside ${periodText(before, zone)}.`, ''] : [];
  return [
    `# Report: ${periodText(report, zone)}`,
    '',
    `Time zone: ${plain(zone)}.`,
    '',
    ...beside,
    ...copyTexts(report).flatMap((text) => [plain(text), '']),
    ...shownFigures(report).flatMap(([name, figure]) =>
      section(name, { ...figure, title: titleOf([name, figure], report) }),
    ),
  ].join('\n');
}

function section(name: FigureName, figure: Shown): string[] {
  const isCompared = figure.values.some(({ before }) => before !== null);
  if (!hasNumbers(figure)) {
    return [`## ${figure.title}`, '', ...figure.values.map((value) => `- ${plain(nameOf(name, value))}`), ''];
  }
  const rows = figure.values.map((value) =>
    [
      plain(nameOf(name, value)),
      valueText(figure, value.key, value.value),
      ...(isCompared ? [valueText(figure, value.key, value.before), changeText(figure, value)] : []),
    ].join(' | '),
  );
  return [
    `## ${figure.title}`,
    '',
    isCompared ? '| | Value | Before | Change |' : '| | Value |',
    isCompared ? '| --- | ---: | ---: | ---: |' : '| --- | ---: |',
    ...rows.map((row) => `| ${row} |`),
    '',
  ];
}

/** What Markdown or HTML would obey is escaped, at the place where it would: `-` begins a list, `:` a link or an emoji. */
export const plain = (text: string): string =>
  sanitize(text)
    .replaceAll(/[\\`*_{}[\]<>#|~]|&(?=[#\w])|:(?![\s\d]|$)|:(?=[\w+-]+:)/gu, '\\$&')
    .replaceAll(
      /^([^\S\r\n\u2028\u2029]*)([-+=]|\d+[.)])/gmu,
      (_, space, mark) => `${space}${mark.slice(0, -1)}\\${mark.slice(-1)}`,
    );
