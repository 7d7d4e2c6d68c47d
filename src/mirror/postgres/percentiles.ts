import type { Sql } from '../tables/store.ts';
import { schemaName } from './values.ts';

// median(x) and percentile(x, p) as the other database has them (https://sqlite.org/percentile.html), for numbers and for
// intervals. A role that is no superuser can keep a group's values in a list only. `array_append` adds to it in place, but takes
// no p beside the value: so the list of `percentile` is copied for each row. It is therefore kept short, and what it held lies in
// settings of the transaction, which a read-only one may set. Operators carry their schema: whoever may make some in a schema of
// the search path would have theirs called.

type Type = {
  readonly name: string;
  /** How a list holds a number among its values. */
  readonly asValue: (number: string) => string;
  /** Such a number. */
  readonly asNumber: (value: string) => string;
  /** A value that is no number. */
  readonly endless: string;
};

const types: readonly Type[] = [
  {
    name: 'double precision',
    asValue: (number) => number,
    asNumber: (value) => value,
    endless: "IN ('Infinity', '-Infinity', 'NaN')",
  },
  {
    name: 'interval',
    // By the microsecond, so that a p of 99.9 is exact.
    asValue: (number) => `pg_catalog.make_interval(secs => ${number})`,
    asNumber: (value) => `extract(epoch FROM ${value})::float8`,
    // PostgreSQL 17 has such intervals, by that name; before, nothing is one.
    endless: "::text IN ('infinity', '-infinity')",
  },
];

/** A list of `percentile` begins with p, its number among the long ones (0: it is not long), and how many settings it has. */
const head = 3;
const longest = head + 500;

const refuse = `
CREATE OR REPLACE FUNCTION ${schemaName}.svc_refuse(list anyarray, said text) RETURNS anyarray LANGUAGE plpgsql IMMUTABLE AS $svc$
BEGIN RAISE EXCEPTION '%', said; END $svc$`;

const zero = '0::pg_catalog.float8';

const step = ({ name, asValue }: Type): string => `
CREATE OR REPLACE FUNCTION ${schemaName}.svc_percentile_step(list ${name}[], x ${name}, p double precision) RETURNS ${name}[]
LANGUAGE sql VOLATILE AS $svc$
  SELECT CASE
    WHEN p IS NULL OR NOT p OPERATOR(pg_catalog.>=) ${zero} OR NOT p OPERATOR(pg_catalog.<=) 100::pg_catalog.float8
      THEN ${schemaName}.svc_refuse(list, 'the fraction argument to percentile() is not between 0.0 and 100.0')
    WHEN list IS NULL
      THEN ARRAY[${asValue('p')}, ${asValue(zero)}, ${asValue(zero)}, x]
    WHEN list[1] OPERATOR(pg_catalog.<>) ${asValue('p')}
      THEN ${schemaName}.svc_refuse(list, 'the fraction argument to percentile() is not the same for all input rows')
    WHEN x IS NULL THEN list
    WHEN pg_catalog.cardinality(list) OPERATOR(pg_catalog.>=) ${longest} THEN ${schemaName}.svc_percentile_put(list, x)
    ELSE pg_catalog.array_cat(list, ARRAY[x]) END
$svc$`;

const exactly = "SET search_path = pg_catalog SET extra_float_digits = 1 SET intervalstyle = 'postgres'";

const put = ({ name, asValue, asNumber }: Type): string => `
CREATE OR REPLACE FUNCTION ${schemaName}.svc_percentile_put(list ${name}[], x ${name}) RETURNS ${name}[]
LANGUAGE plpgsql VOLATILE ${exactly} AS $svc$
DECLARE
  long int := ${asNumber('list[2]')};
  count int := ${asNumber('list[3]')};
BEGIN
  IF long = 0 THEN
    long := coalesce(nullif(current_setting('${schemaName}.long_lists', true), '')::int, 0) + 1;
    PERFORM set_config('${schemaName}.long_lists', long::text, true);
  END IF;
  PERFORM set_config(format('${schemaName}.list_%s_%s', long, count), (list[${head + 1}:])::text, true);
  RETURN ARRAY[list[1], ${asValue('long')}, ${asValue('count + 1')}, x];
END $svc$`;

const answer = (of: string, share: string, { endless }: Type): string =>
  `CASE WHEN bool_or(x ${endless}) THEN (${schemaName}.svc_refuse(array_agg(x), 'Inf input to ${of}()'))[1]
    ELSE percentile_cont(${share}) WITHIN GROUP (ORDER BY x) END`;

const took = (type: Type): string => `
CREATE OR REPLACE FUNCTION ${schemaName}.svc_percentile_end(list ${type.name}[]) RETURNS ${type.name}
LANGUAGE sql VOLATILE ${exactly} AS $svc$
  SELECT ${answer('percentile', `${type.asNumber('list[1]')} / 100`, type)} FROM (
    SELECT unnest(list[${head + 1}:]) AS x UNION ALL
    SELECT unnest(current_setting(format('${schemaName}.list_%s_%s', ${type.asNumber('list[2]')}, n))::${type.name}[])
    FROM generate_series(0, (${type.asNumber('list[3]')} - 1)::int) AS n
  ) AS v WHERE x IS NOT NULL
$svc$`;

const middle = (type: Type): string => `
CREATE OR REPLACE FUNCTION ${schemaName}.svc_median_end(list ${type.name}[]) RETURNS ${type.name}
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $svc$
  SELECT ${answer('median', '0.5', type)} FROM unnest(list) AS x
$svc$`;

const statementsFor = (type: Type): string[] => [
  put(type),
  step(type),
  took(type),
  middle(type),
  `CREATE OR REPLACE AGGREGATE ${schemaName}.median(${type.name}) (SFUNC = pg_catalog.array_append, STYPE = ${type.name}[],
    FINALFUNC = ${schemaName}.svc_median_end)`,
  `CREATE OR REPLACE AGGREGATE ${schemaName}.percentile(${type.name}, double precision) (SFUNC = ${schemaName}.svc_percentile_step,
    STYPE = ${type.name}[], FINALFUNC = ${schemaName}.svc_percentile_end)`,
];

/** Needs the role that owns the schema. */
export async function makePercentiles(sql: Sql): Promise<void> {
  for (const statement of [refuse, ...types.flatMap(statementsFor)]) await sql.run(statement);
}

export const dropPercentiles: readonly string[] = [
  ...types.flatMap(({ name }) => [
    `DROP AGGREGATE IF EXISTS ${schemaName}.median(${name}), ${schemaName}.percentile(${name}, double precision)`,
    `DROP FUNCTION IF EXISTS ${schemaName}.svc_median_end(${name}[]), ${schemaName}.svc_percentile_end(${name}[]), ` +
      `${schemaName}.svc_percentile_put(${name}[], ${name}), ${schemaName}.svc_percentile_step(${name}[], ${name}, double precision)`,
  ]),
  `DROP FUNCTION IF EXISTS ${schemaName}.svc_refuse(anyarray, text)`,
];
