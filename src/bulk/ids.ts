import { hasName, recordOfField } from '../command/named.ts';
import type { RowOf } from '../command/row.ts';
import type { Context } from '../context.ts';
import type { Service } from '../http/call.ts';
import type { Rows } from '../tabular/rows.ts';
import type { Columns } from './columns.ts';
import type { IdsInCopy } from './copied-ids.ts';
import type { FileFlags } from './flags.ts';
import { readIdMaps } from './id-map.ts';
import { byNames } from './match.ts';
import type { Resolve } from './resolve.ts';

/** How the cells of a row become ids. */
export type Resolvers = {
  /** Of the record that the row is about. */
  readonly ofRecord: Resolve;
  /** In fields that hold ids of contacts, such as `contact_id`. */
  readonly ofContact: Resolve;
};

type Wanted = {
  readonly ctx: Context;
  readonly flags: FileFlags;
  readonly row: RowOf;
  readonly service: () => Promise<Service>;
  readonly idsInCopy: IdsInCopy;
  readonly rows: Rows;
  readonly columns: Columns;
};

/** Reads the file for emails and numbers in the place of ids, and looks each up once. */
export async function resolversFor({ ctx, flags, row, columns, ...asked }: Wanted): Promise<Resolvers> {
  const { targets } = columns;
  const record = Object.values(row.operation.ids ?? {})[0];
  const idsAt = targets.flatMap((target, at) => (target?.kind === (flags.match ?? 'id') ? [at] : []));
  const holdersAt = targets.flatMap((target, at) =>
    target?.kind === 'field' && recordOfField(target.field.path) ? [at] : [],
  );
  const isMatch = flags.match !== undefined;
  return {
    ofRecord: !flags.id_map?.length
      ? await byNames({ ...asked, ctx, record, isMatch }, idsAt)
      : await readIdMaps(ctx, flags.id_map),
    ofContact: await byNames({ ...asked, ctx, record: 'contacts', isMatch: false }, holdersAt),
  };
}

/** The cell with an id in the place of an email. */
export function withId(cell: unknown, resolve: Resolve): { readonly cell: unknown } | { readonly problem: string } {
  if (typeof cell !== 'string' || !hasName('contacts', cell)) return { cell };
  const found = resolve(cell.trim());
  return typeof found === 'number' ? { cell: found } : found;
}
