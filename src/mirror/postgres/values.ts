/** Where the copy lives among the tables of others. */
export const schemaName = 'svc_mirror';

/**
 * Of svc's own transactions: a temporary table that somebody left in a session of a pooler comes last, and nothing of a schema in
 * which others may make functions and operators is found: of several that fit, the one that fits best is called, wherever it is.
 * Where a role has `row_security = off`, the server refuses what policies are for.
 */
export const ownSession = `SET LOCAL search_path TO ${schemaName}, pg_temp; SET LOCAL TIME ZONE 'UTC'; SET LOCAL row_security TO on; SET LOCAL jit TO off`;

/** The server's number of the type `interval`. */
export const intervalType = 1186;

/** Whole numbers as numbers where they are exact, times as the service writes them, JSON as it was stored. */
export function typeParser(types: typeof import('pg')['types']) {
  const parsers: Readonly<Record<number, (text: string) => unknown>> = {
    20: exactNumber,
    1700: exactNumber,
    114: (text) => text,
    3802: (text) => text,
    1114: (text) => `${text.replace(' ', 'T')}Z`,
    1184: isoTime,
    1082: (text) => text,
    [intervalType]: (text) => text,
  };
  return (oid: number, format?: 'text' | 'binary'): ((text: string) => unknown) =>
    parsers[oid] ?? types.getTypeParser(oid, format);
}

function exactNumber(text: string): number | string {
  const value = Number(text);
  return String(value) === text || (Number.isFinite(value) && /^-?\d{1,14}(?:\.\d+)?$/u.test(text)) ? value : text;
}

const isoTime = (text: string): string => {
  const time = new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/u, '$1:00'));
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
};
