import { isId, isText } from '../../text/record.ts';

/** What a record holds, as the sandbox takes it: the service may send null, or something new, where a text is promised. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const maybeText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);

/** Undefined for what is no id. */
export const idOr = (value: unknown): number | undefined => (isId(value) ? value : undefined);

export const maybeId = (value: unknown): number | null => idOr(value) ?? null;

export const maybeTime = (value: unknown): string | null =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : null;

export const timeOr = (value: unknown): string => maybeTime(value) ?? '1970-01-01T00:00:00.000Z';

export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

export const oneOf = <const T extends string>(allowed: readonly T[], value: unknown, other: T): T =>
  allowed.find((each) => each === value) ?? other;
