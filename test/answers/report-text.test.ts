// The report on a terminal, of figures that are made by hand.
import { expect, test } from 'vitest';
import { figureNames, figures } from '../../src/answers/figures.ts';
import type { Report, Shown } from '../../src/answers/report.ts';
import { reportText } from '../../src/answers/report-text.ts';
import { titleOf } from '../../src/answers/report-words.ts';

const values = Array.from({ length: 26 }, (_, at) => ({
  key: `2026-11-${30 + Math.floor(at / 24)} ${String(at % 24).padStart(2, '0')}:00`.replace('11-31', '12-01'),
  value: at === 25 ? 11 : 0,
}));

const hours = {
  ...{ since: '2026-11-30T00:00:00Z', until: '2026-12-01T01:30:00Z', zone: 'UTC', before: null, parts: 'hours' },
  figures: { resolved: { title: 'Resolved', unit: 'count', drawn: 'line', values } },
} as unknown as Report;

test.each(['hours', 'days'])('no two figures have one title, drawn by %s', (parts) => {
  const titles = figureNames.map((name) => titleOf([name, figures[name] as unknown as Shown], { parts } as Report));
  expect(new Set(titles).size).toBe(titles.length);
});

test.each([60, 80, 200])('at %i columns it is told whole between which hours, and in which the most', (columns) => {
  const text = reportText(hours, { width: columns, paint: (_, one) => one, now: undefined });
  const lines = text.split('\n').map((one) => one.trim());
  const [span, most] = ['2026-11-30 00:00 to 2026-12-01 01:00', 'most: 11 (2026-12-01 01:00)'];
  expect(lines.some((one) => one === most || one === `${span}, ${most}`)).toBe(true);
  expect(text).toContain(span);
  expect(Math.max(...lines.map((one) => one.length))).toBeLessThanOrEqual(columns);
});
