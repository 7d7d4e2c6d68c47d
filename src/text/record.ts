/** Whether it is an object with fields: neither null nor a list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a list, without what else it may hold; none of anything else. */
export const recordsIn = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** The fields of an object, for whoever looks at them one by one; none of anything else. */
export const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
