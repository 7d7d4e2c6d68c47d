/** A JSON object whose values are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether it is an object with fields: neither null nor a list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** Ids are whole numbers (service.md#records-1). */
export const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

/** A text; undefined for anything else. */
export const textIn = (value: unknown): string | undefined => (isText(value) ? value : undefined);

/** The objects of a list, without what else it may hold; none of anything else. */
export const recordsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** The fields of an object, for whoever looks at them one by one; none of anything else. */
export const fieldsIn = (value: unknown): Fields => (isRecord(value) ? value : {});

/** What a table holds under a name that others have chosen: `constructor` is none of its members. */
export const ownOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** The names of its fields that are not as they were. */
export const changedFields = (before: Fields, after: Fields): string[] =>
  Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Without the keys that say nothing. */
export const withoutUndefined = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
