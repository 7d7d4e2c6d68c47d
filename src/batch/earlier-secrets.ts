import type { Context } from '../context.ts';
import { headOf } from '../disk/file/file-head.ts';
import { Failure } from '../errors.ts';
import { openRows } from '../tabular/rows.ts';
import { openSource } from '../tabular/source.ts';
import type { TableOptions } from '../tabular/table.ts';
import { placeIn } from './places.ts';

/** Signing secrets by the id of their subscription. The service shows each once. */
export type EarlierSecrets = ReadonlyMap<number, string>;

/** svc wrote the file itself: its first line names the columns. */
export const headerOnTop: TableOptions = {
  delimiter: undefined,
  skipLines: undefined,
  noHeader: false,
  judge: () => 'header',
  wayOut: () => '',
};

const none: EarlierSecrets = new Map();

/** Enough for the header of a table and the first lines of any other file. */
const headLength = 65_536;

/** A cell or a key of its own: as results have it, with a header, without one, and in JSON. */
const trace = /(?:^|[,;\t|"])(?:svc_secret|whsec_[\w+/=-]{8,})(?:$|["\r\n,;\t|])/mu;

/** The secrets that an earlier run has written into its results. Throws where a file has some that svc cannot read out. */
export async function secretsIn(ctx: Context, path: string): Promise<EarlierSecrets> {
  if (!trace.test((await startOf(path)) ?? '')) return none;
  const secrets = new Map<number, string>();
  const source = await openSource(ctx, path);
  try {
    const rows = await openRows(source, headerOnTop);
    const [id, secret] = [placeIn(rows.columns, 'svc_id'), placeIn(rows.columns, 'svc_secret')];
    if (id < 0 || secret < 0) throw wouldLose(path);
    for await (const batch of rows.read()) {
      for (const { cells } of batch) {
        const text = String(cells[secret] ?? '').trim();
        if (text !== '') secrets.set(Number(String(cells[id] ?? '')), text);
      }
    }
  } finally {
    await source.close();
  }
  return secrets;
}

/** Undefined for what is no file of its own: a pipe or a device keeps nothing. */
async function startOf(path: string): Promise<string | undefined> {
  const head = await headOf(path, headLength).catch((cause: unknown) => {
    throw new Failure('usage', `${path} is there and cannot be read.`, { hint: 'Name another file.', cause });
  });
  return head.kind === 'file' ? head.bytes.toString('utf8') : undefined;
}

/** Throws where a secret belongs to none of the rows that are written in its place. */
export function refuseLoss(secrets: EarlierSecrets, path: string | undefined, ids: Iterable<number | null>): void {
  if (secrets.size === 0) return;
  const kept = new Set(ids);
  if (path !== undefined && [...secrets.keys()].some((id) => !kept.has(id))) throw wouldLose(path);
}

export const wouldLose = (path: string): Failure =>
  new Failure('usage', `${path} holds signing secrets of webhooks, which the service shows once.`, {
    hint: 'svc does not write over them. Name another file.',
  });
