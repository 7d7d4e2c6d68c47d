import { headerOnTop } from '../../batch/earlier-secrets.ts';
import { placeIn } from '../../batch/places.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { openRows } from '../../tabular/rows.ts';
import { openSource } from '../../tabular/source.ts';
import { sanitize } from '../../text/sanitize.ts';

/** Turns a cell (an id, or what stands for one) into an id of the service, or says why not. */
export type Resolve = (cell: string) => number | { readonly problem: string };

type IdMap = { readonly name: string; readonly ids: ReadonlyMap<string, ReadonlySet<number>> };

/**
 * Ids of another system to ours, by the results of earlier runs: `RESULTS.csv:COLUMN` each. Throws where two of them turn
 * one id into different ones.
 */
export async function readIdMaps(ctx: Context, texts: readonly string[]): Promise<Resolve> {
  const maps: IdMap[] = [];
  for (const text of texts) maps.push(await readIdMap(ctx, text));
  refuseDifferent(maps);
  const names = maps.map(({ name }) => name).join(' or ');
  return (cell) => {
    const [id, ...others] = maps.find(({ ids }) => ids.has(cell))?.ids.get(cell) ?? [];
    if (id === undefined) return { problem: `${cell} is not in ${names}, or was not done there` };
    return others.length === 0 ? id : { problem: `${cell} stands for several records in ${names}` };
  };
}

function refuseDifferent(maps: readonly IdMap[]): void {
  const seen = new Map<string, { readonly name: string; readonly found: string }>();
  for (const { name, ids } of maps) {
    for (const [old, own] of ids) {
      const found = [...own].sort((a, b) => a - b).join(' and ');
      const before = seen.get(old);
      if (before && before.found !== found) {
        throw new Failure('usage', `--id-map: ${old} is ${before.found} in ${before.name}, and ${found} in ${name}.`, {
          hint: 'Nothing was sent. Leave one of the files out, or take the wrong line out of it.',
        });
      }
      seen.set(old, { name, found });
    }
  }
}

async function readIdMap(ctx: Context, text: string): Promise<IdMap> {
  const colon = text.lastIndexOf(':');
  const [file, column] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon < 1 || column === '') {
    throw new Failure('usage', `--id-map takes RESULTS:COLUMN, not "${text}".`, {
      hint: 'For example: --id-map created.csv:old_id',
    });
  }
  const source = await openSource(ctx, file);
  try {
    const rows = await openRows(source, headerOnTop);
    const [from, to] = [placeIn(rows.columns, column), placeIn(rows.columns, 'svc_id')];
    if (from < 0 || to < 0) {
      throw new Failure('usage', `--id-map: ${source.name} has no column ${from < 0 ? column : 'svc_id'}.`, {
        hint: sanitize(`Columns: ${rows.columns.join(', ')}.`),
      });
    }
    const status = placeIn(rows.columns, 'svc_status');
    const ids = new Map<string, Set<number>>();
    for await (const batch of rows.read()) {
      for (const { cells } of batch) {
        const [old = '', told = '', how] = [from, to, status].map((at) => String(cells[at] ?? '').trim());
        const id = Number(told);
        // With an id, what is unknown is only what was to follow.
        const isThere = status < 0 || how === 'done' || how === 'unknown';
        if (old === '' || !isThere || !/^\d+$/u.test(told) || !Number.isSafeInteger(id) || id < 1) continue;
        ids.set(old, (ids.get(old) ?? new Set()).add(id));
      }
    }
    return { name: source.name, ids };
  } finally {
    await source.close();
  }
}
