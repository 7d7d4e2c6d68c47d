import { nameKey } from '../command/row.ts';

/** The position of a column that is named as it stands, by its meaning, or as `#N`; -1 where there is none. */
export const placeIn = (names: readonly string[], column: string): number => placesIn(names, column)[0] ?? -1;

/** Of columns that share a name each. */
export function placesIn(names: readonly string[], column: string): readonly number[] {
  const number = /^#(\d+)$/u.exec(column)?.[1];
  if (number !== undefined && !names.includes(column))
    return Number(number) >= 1 && Number(number) <= names.length ? [Number(number) - 1] : [];
  const placesBy = (fits: (name: string) => boolean) => names.flatMap((name, at) => (fits(name) ? [at] : []));
  const exact = placesBy((name) => name === column);
  return exact.length > 0 ? exact : placesBy((name) => nameKey(name) === nameKey(column));
}
