import { listContacts } from '../../api/contacts.ts';
import { resources } from '../../api/resources.ts';
import { stillHas, ticketsByNumber } from '../../command/ids.ts';
import { hasName, isNamed, type Named, recordOfField } from '../../command/named.ts';
import { numberKey } from '../../command/pasted.ts';
import type { RowOf } from '../../command/row.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { Service } from '../../http/call/call.ts';
import { list } from '../../http/call/pages.ts';
import type { Rows } from '../../tabular/rows.ts';
import { counted } from '../../text/number.ts';
import type { Columns } from './columns.ts';
import type { FileFlags } from './flags.ts';
import { type Resolve, readIdMaps } from './id-maps.ts';
import { folded } from './values.ts';

/** The id itself. */
const asId: Resolve = (cell) => {
  const id = /^\+?\d+$/u.test(cell) ? Number(cell) : Number.NaN;
  return Number.isSafeInteger(id) && id > 0 ? id : { problem: `must be a number, not "${cell.slice(0, 40)}"` };
};

/** How the cells of a row become ids. */
export type Resolvers = Awaited<ReturnType<typeof resolversFor>>;

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
export async function resolversFor({ ctx, flags, row, columns, ...asked }: Wanted) {
  const { targets } = columns;
  const record = Object.values(row.operation.ids ?? {})[0];
  const idsAt = targets.flatMap((target, at) => (target?.kind === (flags.match ?? 'id') ? [at] : []));
  const holdersAt = targets.flatMap((target, at) => (target?.field && recordOfField(target.field.path) ? [at] : []));
  const isMatch = flags.match !== undefined;
  return {
    /** Of the record that the row is about. */
    ofRecord: !flags.id_map?.length
      ? await byNames({ ...asked, ctx, record, isMatch }, idsAt)
      : await readIdMaps(ctx, flags.id_map),
    /** In fields that hold ids of contacts, such as `contact_id`. */
    ofContact: await byNames({ ...asked, ctx, record: 'contacts', isMatch: false }, holdersAt),
  };
}

/** The cell with an id in the place of an email. */
export function withId(cell: unknown, resolve: Resolve): { readonly cell: unknown } | { readonly problem: string } {
  if (typeof cell !== 'string' || !hasName('contacts', cell)) return { cell };
  const found = resolve(cell.trim());
  return typeof found === 'number' ? { cell: found } : found;
}

/** From the copy where that is proved, else by one reading of the service's list: the API cannot be asked for an address. */
async function contactsByEmail(
  service: Service,
  wanted: ReadonlySet<string>,
  { idsInCopy, onRead }: { readonly idsInCopy: IdsInCopy; readonly onRead: (count: number) => void },
): Promise<ReadonlyMap<string, readonly number[]>> {
  const proved = await provedInCopy(service, [...wanted], idsInCopy);
  if (proved) return proved;
  const found = new Map<string, number[]>();
  let count = 0;
  for await (const record of list(service, listContacts, {}, { all: true }).records) {
    if (++count % 100 === 0) onRead(count);
    if (typeof record.email !== 'string' || typeof record.contact_id !== 'number') continue;
    const key = folded(record.email);
    if (wanted.has(key)) found.set(key, [...(found.get(key) ?? []), record.contact_id]);
  }
  return found;
}

const strangers: Readonly<Record<Named, string>> = {
  contacts: 'no contact has this email',
  tickets: 'no ticket has this number',
};

/** None and several are errors of the row. */
const byName =
  (found: ReadonlyMap<string, readonly number[]>, record: Named, keyOf: (cell: string) => string): Resolve =>
  (cell) => {
    const [id, ...others] = found.get(keyOf(cell)) ?? [];
    if (id === undefined) return { problem: `${cell}: ${strangers[record]}` };
    const all = [id, ...others].join(', ');
    return others.length === 0 ? id : { problem: `${cell}: several ${record} have it: ${all}` };
  };

type Looking = Pick<Wanted, 'service' | 'idsInCopy' | 'ctx' | 'rows'> & {
  /** What the ids are of. */
  readonly record: string | undefined;
  /** `--match`: no cell is an id. */
  readonly isMatch: boolean;
};

/** How the cells of these columns become ids: emails of contacts and numbers of tickets are looked up, each once. */
async function byNames(wanted: Looking, positions: readonly number[]): Promise<Resolve> {
  const { service, idsInCopy, ctx, record, isMatch } = wanted;
  if (!isNamed(record)) return asId;
  const isName = (cell: string) => isMatch || hasName(record, cell);
  const names = await namesIn(wanted, positions, isName);
  if (names.size === 0) return asId;
  const { noun } = resources[record];
  const onRead = (count: number) => ctx.progress(`Looking up ids: ${counted(count, noun)} read`, 'work');
  ctx.progress(`Looking up the ids of ${counted(names.size, noun)}`, 'work');
  const keyOf = record === 'contacts' ? folded : numberKey;
  const found =
    record === 'contacts'
      ? await contactsByEmail(await service(), new Set([...names].map(keyOf)), { idsInCopy, onRead })
      : await ticketsByNumber(await service(), names, onRead);
  ctx.progress(undefined, 'work');
  const named = byName(found, record, keyOf);
  return (cell) => (isName(cell) ? named(cell) : asId(cell));
}

async function namesIn(
  { rows }: Looking,
  positions: readonly number[],
  isName: (text: string) => boolean,
): Promise<Set<string>> {
  const names = new Set<string>();
  if (positions.length === 0) return names;
  for await (const batch of rows.read()) {
    for (const { cells } of batch) {
      for (const at of positions) {
        const text = String(cells[at] ?? '').trim();
        if (text !== '' && isName(text)) names.add(text);
      }
    }
  }
  return names;
}

/** Ids by email from the copy of the account, and how many contacts it has; undefined where the service has to be asked. */
export type IdsInCopy = (
  ctx: Context,
  settings: Settings,
  emails: readonly string[],
) => Promise<{ readonly ids: ReadonlyMap<string, readonly number[]>; readonly total: number } | undefined>;

const contactsInPage = 100;

/**
 * The ids of the copy, each contact read once: rows are written to them, and an address may have gone to somebody else.
 * Undefined where the service's list is to be read instead: that takes fewer requests, or the copy does not name one
 * contact for each address.
 */
async function provedInCopy(
  service: Service,
  emails: readonly string[],
  inCopy: IdsInCopy,
): Promise<ReadonlyMap<string, readonly number[]> | undefined> {
  const { ctx, settings } = service;
  const copied = await inCopy(ctx, settings, emails);
  if (!copied || emails.length > Math.ceil(copied.total / contactsInPage)) return undefined;
  for (const [at, email] of emails.entries()) {
    const [id, ...others] = copied.ids.get(email) ?? [];
    const isProved = id !== undefined && others.length === 0 && (await stillHas(service, id, email));
    if (!isProved) {
      ctx.notice(`The copy does not tell whose ${email} is now. Asking the service.`);
      return undefined;
    }
    ctx.progress(`Looking up ids: ${at + 1} of ${counted(emails.length, 'email')}`, 'work');
  }
  return copied.ids;
}
