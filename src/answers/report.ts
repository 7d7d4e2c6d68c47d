import { type CopyState, copyState } from '../mirror/query/as-of.ts';
import type { Account, Row, Sql } from '../mirror/tables/store.ts';
import { answer, textOf } from './ask.ts';
import { type Figure, type FigureName, figureNames, figureQuery, figures } from './figures.ts';
import type { Frame, Period } from './period.ts';

/** `value`: null where there is nothing to take a mean of. `before`: in the period that this one is held beside; null where there is none, or it had none of it. */
export type Value = {
  readonly key: string;
  readonly value: number | null;
  readonly before: number | null;
  readonly label?: string;
};

export type Shown = Pick<Figure, 'title' | 'unit' | 'drawn'> & { readonly values: readonly Value[] };

export type Report = {
  /** ISO 8601 in UTC; `until` is the first moment that is not in it. */
  readonly since: string;
  readonly until: string;
  readonly zone: string;
  readonly before: { readonly since: string; readonly until: string } | null;
  readonly parts: Frame['partsAre'];
  readonly copy: CopyState;
  readonly figures: Readonly<Record<FigureName, Shown>>;
};

/** What the figures are made of. */
const reportKinds = ['tickets', 'conversations', 'contacts', 'feedback', 'changelog'] as const;

/** Every figure of one moment of the copy. */
export async function reportOf(sql: Sql, account: Account, frame: Frame): Promise<Report> {
  const shown: (readonly [FigureName, Shown])[] = [];
  for (const name of figureNames) {
    const figure: Figure = figures[name];
    const { title, unit, drawn } = figure;
    const rows = await answer(sql, account, figureQuery(name, frame, sql.engine));
    shown.push([name, { title, unit, drawn, values: valuesOf(figure, rows, frame) }]);
  }
  return {
    ...timesOf(frame.now),
    zone: frame.zone.name,
    before: frame.before ? timesOf(frame.before) : null,
    parts: frame.partsAre,
    copy: await copyState(sql, account, reportKinds),
    figures: Object.fromEntries(shown) as Report['figures'],
  };
}

/** The SQL of each figure, as `svc mirror sql` takes it. */
export const explained = (frame: Frame, engine: Sql['engine']): Record<FigureName, string> =>
  Object.fromEntries(figureNames.map((name) => [name, textOf(figureQuery(name, frame, engine))])) as Record<
    FigureName,
    string
  >;

const iso = (moment: number): string => new Date(moment).toISOString().replace('.000Z', 'Z');

const timesOf = ({ begins, ends }: Period) => ({ since: iso(begins), until: iso(ends) });

/** What a figure has also where nothing happened; a list, and bars of the service's words, have what there is. */
const fixedKeys = (figure: Figure): readonly string[] =>
  figure.drawn === 'numbers' ? Object.keys(figure.words) : (figure.keys ?? []);

/** A mean of nothing is none. */
const meansNothing = new Set(['median', 'p90', 'average']);

function valuesOf(figure: Figure, rows: readonly Row[], frame: Frame): Value[] {
  const at = (period: string, key: string) => rows.find((row) => row.period === period && row.key === key);
  const keys = [...new Set([...fixedKeys(figure), ...rows.map(({ key }) => String(key))])];
  const isCompared = frame.before !== undefined && !figure.isAlone;
  const numberAt = (period: string, key: string): number | null => {
    const row = at(period, key);
    if (row) return Math.round(Number(row.value) * 1000) / 1000;
    return meansNothing.has(key) ? null : 0;
  };
  return keys.flatMap((key) => {
    const value = numberAt('now', key);
    const before = isCompared ? numberAt('before', key) : null;
    const label = at('now', key)?.label;
    // Nothing now and nothing then: a mean that does not exist.
    if (value === null && before === null) return [];
    return [{ key, value, before, ...(typeof label === 'string' && { label }) }];
  });
}
