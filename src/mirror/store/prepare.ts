import type { Store } from '../tables/store.ts';
import { marks, presentSchema, refuseNewer, version } from './schema-mark.ts';

/**
 * Makes the tables, or brings those of an older svc up to date. Part of every question to a copy: what makes the tables, and
 * the kinds that they are made from, is loaded only where something is missing.
 *
 * @throws Failure `failed` where a newer svc made them; nothing is changed there
 */
export async function prepareSchema(store: Store): Promise<void> {
  const present = await store.read(presentSchema);
  if (present) refuseNewer(store, present);
  if (present?.version === version && present.columns === marks[store.engine]) return;
  await (await import('./migrations.ts')).makeCurrent(store);
}
