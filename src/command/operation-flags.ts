import type { Operation, Schema } from '../api/operation.ts';
import { fieldsOf, type Shape } from '../api/shape.ts';
import type { Column } from '../output/view.ts';
import { wholeListFlags } from './at-most.ts';
import { replacingFlags, textFlags } from './body-text.ts';
import { clearFlag } from './clear.ts';
import type { Param, Params } from './command.ts';
import { flagsOf, paramOf } from './flags.ts';
import { rangeFlags, sortedRangeFlags } from './listing.ts';
import { param } from './param.ts';
import type { RowOf } from './row.ts';
import { type SiftBy, siftFlags } from './sift.ts';

/** What of a command decides which flags it has, beside its operation. */
export type FlagWording = {
  /** Columns of a list, and of a record in a pipe. */
  readonly columns?: readonly Column[];
  /** The body's field for a longer text: it may also come from a file or the editor. */
  readonly text?: string;
  /** Of a list: what svc does beyond the service's own query. */
  readonly sift?: SiftBy;
  /** An update: what is null or empty is asked for with --clear, and no flag at all is an error. */
  readonly update?: boolean;
  /** How rows of a file are written, where it does not follow from the rest. */
  readonly rows?: Omit<RowOf, 'operation' | 'text' | 'needsChange'>;
};

/** A list is filtered by `--category`, as by `--contact`; a record that is written is given a `--category-id`. */
const filterNames: Readonly<Record<string, Pick<Param<unknown>, 'name' | 'aliases'>>> = {
  category_id: { name: 'category', aliases: ['category-id'] },
};

/** The flags of a command that is derived from the operation. */
export function flagsFor(operation: Operation, about: FlagWording): Params {
  const flags: Record<string, Param<unknown>> = {};
  const { status } = fieldsOf(operation.query);
  for (const [field, flag] of Object.entries(flagsOf(operation.query))) {
    if (field === 'status' && status) flags[field] = orAny(status);
    else if (field !== 'page' && field !== 'per_page') flags[field] = { ...flag, ...filterNames[field] };
  }
  if (operation.answer.shape === 'list') {
    const ranges = about.sift?.order ? sortedRangeFlags : rangeFlags;
    Object.assign(flags, operation.answer.paged ? ranges : wholeListFlags('At most N records'));
  }
  if (about.sift) Object.assign(flags, siftFlags(operation, about.sift, about.columns ?? []));
  for (const [field, flag] of Object.entries(flagsOf(operation.body))) {
    flags[field] = field === about.text ? { ...flag, written: true, unless: ['bodyFile', 'editor', 'template'] } : flag;
  }
  for (const { fields } of about.rows?.follows ?? [])
    for (const field of fields) flags[field] = { ...flagOfRow(about.rows?.body, field), group: 'What follows:' };
  if (about.text) Object.assign(flags, about.update ? replacingFlags(about.text) : textFlags);
  const clear = about.update ? clearFlag(operation.body) : undefined;
  if (clear) flags.clear = clear;
  return flags;
}

/** People know `all` from other programs: no filter. */
function orAny(shape: Shape): Param<unknown> {
  const { choices, known } = shape;
  const wider = {
    ...shape,
    ...(choices && { choices: [...choices, 'all'] }),
    ...(known && { known: [...known, 'all'] }),
  };
  const flag = paramOf('status', wider, { optional: false });
  return {
    ...flag,
    description: `${paramOf('status', shape, { optional: false }).description}, or all`,
    parse: (texts, ...rest) => (texts.at(-1) === 'all' ? undefined : flag.parse(texts, ...rest)),
  };
}

/** A field of the row alone. */
function flagOfRow(schema: Schema | undefined, field: string): Param<unknown> {
  const flag = flagsOf(schema, { optional: true })[field];
  if (!flag) throw new Error(`The row has no field ${field}.`);
  // A switch that is not there gives nothing, in a row of a file too.
  if (fieldsOf(schema)[field]?.type === 'boolean') return { ...param.toggle(flag.description), fallback: undefined };
  return flag;
}
