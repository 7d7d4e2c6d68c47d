import { listContacts } from '../../api/contacts.ts';
import { resources } from '../../api/resources.ts';
import { ticketsByNumber } from '../../command/ids.ts';
import { hasName, isNamed, type Named } from '../../command/named.ts';
import type { Context } from '../../context.ts';
import type { Service } from '../../http/call.ts';
import { list } from '../../http/pages.ts';
import type { Rows } from '../../tabular/rows.ts';
import { counted } from '../../text/number.ts';
import { type IdsInCopy, provedInCopy } from './copied-ids.ts';
import { asId, type Resolve } from './resolve.ts';
import { folded } from './values.ts';

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

type Wanted = {
  readonly service: () => Promise<Service>;
  readonly idsInCopy: IdsInCopy;
  readonly ctx: Context;
  readonly rows: Rows;
  /** What the ids are of. */
  readonly record: string | undefined;
  /** `--match`: no cell is an id. */
  readonly isMatch: boolean;
};

/** How the cells of these columns become ids: emails of contacts and numbers of tickets are looked up, each once. */
export async function byNames(wanted: Wanted, positions: readonly number[]): Promise<Resolve> {
  const { service, idsInCopy, ctx, record, isMatch } = wanted;
  if (!isNamed(record)) return asId;
  const isName = (cell: string) => isMatch || hasName(record, cell);
  const names = await namesIn(wanted, positions, isName);
  if (names.size === 0) return asId;
  const { noun } = resources[record];
  const onRead = (count: number) => ctx.progress(`Looking up ids: ${counted(count, noun)} read`, 'work');
  ctx.progress(`Looking up the ids of ${counted(names.size, noun)}`, 'work');
  const keyOf = record === 'contacts' ? folded : (number: string) => number.toLowerCase();
  const found =
    record === 'contacts'
      ? await contactsByEmail(await service(), new Set([...names].map(keyOf)), { idsInCopy, onRead })
      : await ticketsByNumber(await service(), names, onRead);
  ctx.progress(undefined, 'work');
  const named = byName(found, record, keyOf);
  return (cell) => (isName(cell) ? named(cell) : asId(cell));
}

async function namesIn(
  { rows }: Wanted,
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
