import { notesOn } from '../../answers/copy.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { connect } from '../../http/call/call.ts';
import { idOf, type Row } from '../../inbox/row.ts';
import { kindsIn, type Reading, rowsOf, statesIn } from '../../inbox/source.ts';
import { requireView } from '../../inbox/views.ts';
import { openCopyPulled } from '../../mirror/store/open-copy.ts';
import { contactColumn, numberColumn, queueFields } from '../../output/contact-columns.ts';
import type { Column, View } from '../../output/view.ts';
import { once } from '../../promise/once.ts';
import { thenClosed } from '../../promise/then-closed.ts';
import { ownDrafts } from '../../sends/own.ts';
import { withDrafts } from '../../sends/store.ts';

const rowColumns: readonly Column[] = [
  { path: 'waiting_since', header: 'Waiting since', rank: 3 },
  { path: 'kind', header: 'Kind', as: 'whole', rank: 8 },
  { path: 'id', header: 'ID', rank: 9 },
  { ...numberColumn, rank: 1 },
  { path: 'subject', header: 'Subject', rank: 2 },
  { ...contactColumn, rank: 4 },
  { path: 'priority', header: 'Priority', rank: 5 },
  { path: 'channel', header: 'Channel', rank: 6 },
  { path: 'status', header: 'Status', as: 'status', rank: 10 },
  { path: 'why', header: 'Why', rank: 7 },
];

/** Rows are read in such parts, so that a view of any length is printed in little memory. */
const perPart = 500;

/** The rows of a view as a list: from the copy alone, no request. */
export async function rowsView(ctx: Context, settings: Settings, view: string, db: string | undefined): Promise<View> {
  await requireView(ctx, view);
  const { store, account } = await openCopyPulled(ctx, settings, { db });
  const drafts = once(() =>
    withDrafts(ctx, settings.drafts, async (kept) => {
      const own = ownDrafts(
        kept,
        () => connect(ctx, settings),
        async () => idOf(account),
      );
      return { all: await own.list(), leftOut: await own.leftOut(({ state }) => statesIn(view).includes(state)) };
    }),
  );
  const reading: Reading = { ctx, settings, db, store, account, drafts: async () => (await drafts()).all };
  try {
    const ofCopy = await store.read((sql) => notesOn(sql, account, kindsIn(view), ctx.clock.now()));
    const notes = statesIn(view).length > 0 ? [...ofCopy, ...(await drafts()).leftOut] : ofCopy;
    const first = await rowsOf(reading, { view, offset: 0, most: perPart });
    const records = thenClosed(inParts(reading, view, first.rows), store);
    const empty = view === 'waiting' ? 'Nobody waits.' : `Nothing in ${view}.`;
    return { data: { shape: 'list', records, columns: rowColumns, fields: queueFields, empty }, read: true, notes };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function* inParts(reading: Reading, view: string, first: readonly Row[]): AsyncGenerator<Row> {
  let rows = first;
  for (let offset = 0; rows.length > 0; ) {
    yield* rows;
    offset += perPart;
    if (rows.length < perPart) break;
    ({ rows } = await rowsOf(reading, { view, offset, most: perPart }));
  }
}
