import type { Context } from '../../context.ts';
import type { Held } from '../../disk/lock/lock.ts';
import { Failure } from '../../errors.ts';
import { openInbox } from './folder/inbox.ts';
import { removeInbox } from './folder/known.ts';
import { carryOut, type InboxRequest, inFile } from './folder/requests.ts';
import { slotHolder, whileFree } from './folder/slot.ts';
import { deadLettersIn, receivedIn } from './folder/view.ts';
import { findWhole } from './folder/whole.ts';
import type { InboxAdmin } from './inbox-store.ts';
import type { Added } from './line.ts';
import type { Place } from './place.ts';
import { fileStarts } from './starts.ts';

/** Opens an inbox for a command. */
export async function openInboxAdmin(ctx: Pick<Context, 'env' | 'clock'>, place: Place): Promise<InboxAdmin> {
  if ('folder' in place) return folderAdmin(ctx, place.folder);
  const { openPostgresAdmin } = await import('./postgres/admin.ts');
  return openPostgresAdmin(ctx, place.url);
}

function folderAdmin({ clock }: Pick<Context, 'clock'>, folder: string): InboxAdmin {
  const alone = async (request: InboxRequest, held: Held) => {
    const inbox = await openInbox(folder, { limit: Number.MAX_SAFE_INTEGER, held });
    return inFile(inbox, request, clock.now()).finally(() => inbox.close());
  };
  const request = (wanted: InboxRequest) => carryOut(wanted, { folder, alone, sleep: (ms) => clock.sleep(ms) });
  const starts = fileStarts(folder, clock);
  return {
    place: folder,
    starts,
    newest: (view, asked) => receivedIn([folder], view, asked),
    dead: (view, onDamage) => deadLettersIn(folder, view, onDamage),
    find: (ids) => findWhole(folder, ids),
    async move(ids, state) {
      const carried = await request({ kind: 'move', ids, state });
      return carried ? carried.filter(Boolean).length : ids.length;
    },
    settle: (replayed) => request({ kind: 'settle', replayed }),
    async addAll(arrivals) {
      const added: Added[] = [];
      for (let at = 0; at < arrivals.length; at += 1000) {
        const some = arrivals.slice(at, at + 1000);
        const carried = await request({ kind: 'add', arrivals: some });
        added.push(...some.map((_, index): Added => (carried?.[index] === false ? 'repeat' : 'stored')));
      }
      return added;
    },
    async purge() {
      const done = await whileFree(folder, async () => {
        await removeInbox(folder);
        await starts.clear();
      });
      if (done) return;
      throw new Failure('failed', `svc is running (process ${await slotHolder(folder)}) and uses the inbox.`, {
        hint: 'Stop it first, then purge.',
      });
    },
    close: async () => {},
  };
}
