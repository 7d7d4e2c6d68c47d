import { nameKey } from '../command/row.ts';
import { type Fields, fieldsIn } from '../text/record.ts';

/** The position of a column that is named as it stands, by its meaning, or as `#N`; -1 where there is none. */
export const placeIn = (names: readonly string[], column: string): number => placesIn(names, column)[0] ?? -1;

/**
 * Reads the cell that is named so; undefined where there is none. In JSON what an object of own data holds has no column:
 * `metadata.plan.name` is within `metadata.plan`.
 */
export function cellReader(
  { names, isJson }: { readonly names: readonly string[]; readonly isJson: boolean },
  column: string,
): ((cells: readonly unknown[]) => unknown) | undefined {
  const place = placeIn(names, column);
  if (place >= 0) return (cells) => cells[place];
  const end = column.lastIndexOf('.');
  const whole =
    isJson && /^metadata\../iu.test(column.slice(0, Math.max(0, end)))
      ? cellReader({ names, isJson }, column.slice(0, end))
      : undefined;
  const key = column.slice(end + 1);
  return whole && ((cells) => valueAt(fieldsIn(whole(cells)), key));
}

/** By the name as it stands, else by its meaning. */
const valueAt = (fields: Fields, key: string): unknown =>
  Object.hasOwn(fields, key)
    ? fields[key]
    : Object.entries(fields).find(([name]) => nameKey(name) === nameKey(key))?.[1];

/** Of columns that share a name each. */
export function placesIn(names: readonly string[], column: string): readonly number[] {
  const number = /^#(\d+)$/u.exec(column)?.[1];
  if (number !== undefined && !names.includes(column))
    return Number(number) >= 1 && Number(number) <= names.length ? [Number(number) - 1] : [];
  const placesBy = (fits: (name: string) => boolean) => names.flatMap((name, at) => (fits(name) ? [at] : []));
  const exact = placesBy((name) => name === column);
  return exact.length > 0 ? exact : placesBy((name) => nameKey(name) === nameKey(column));
}
