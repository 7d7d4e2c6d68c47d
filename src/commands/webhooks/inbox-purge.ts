import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { listed } from '../../text/listed.ts';
import { counted, number } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { withConfigured } from '../../webhooks/serve/configured.ts';
import { removeInbox } from '../../webhooks/store/folder/known.ts';
import { slotHolder, slots, slotsFolder, whileFree } from '../../webhooks/store/folder/slot.ts';
import { receivedIn } from '../../webhooks/store/folder/view.ts';
import { keptIn, listenInbox } from '../../webhooks/store/listen-inbox.ts';
import { fileStarts } from '../../webhooks/store/starts.ts';
import { configFlag } from './flags.ts';

export const purge = defineCommand({
  name: 'purge',
  summary: 'Delete everything in the inbox',
  details: 'Without --config: the inbox of svc webhooks listen, also while svc webhooks serve runs.',
  flags: { config: configFlag },
  examples: ['svc webhooks inbox purge --yes'],
  async run(ctx, { flags, settings }) {
    if (flags.config !== undefined) return purgeConfigured(ctx, settings, flags.config);
    const root = slotsFolder(ctx.files.state, settings.profile);
    for (const folder of await slots(root)) {
      const pid = await slotHolder(folder);
      if (pid !== undefined) throw inUse(pid);
    }
    const count = await countIn(async (see) => receivedIn(await slots(root), see));
    const others = await keptIn((await listenInbox(ctx, settings)).others);
    const foreign = [...others.values()].reduce((sum, { kept }) => sum + kept, 0);
    const whose = foreign > 0 ? ` (${number(foreign)} of account ${listed([...others.keys()].map(String))})` : '';
    if (count > 0)
      await confirmed(
        ctx,
        settings,
        `Delete ${counted(count, 'received event')} of svc webhooks listen for good${whose}?`,
      );
    for (const folder of await slots(root)) {
      const done = await whileFree(folder, () => removeInbox(folder));
      if (!done) throw inUse(await slotHolder(folder));
    }
    await fileStarts(root, ctx.clock).clear();
    return purged(count, whose);
  },
});

const purged = (count: number, whose = ''): View => ({
  data: { shape: 'record', record: { deleted: count } },
  done: count === 0 ? 'The inbox was empty.' : `Deleted ${counted(count, 'event')} for good.`,
  ...(whose !== '' && { notes: [`This deleted events of another login, too${whose}.`] }),
});

/** Without a list of them: an inbox may be larger than the memory. */
async function countIn(seeAll: (see: () => undefined) => Promise<unknown>): Promise<number> {
  let count = 0;
  await seeAll(() => {
    count++;
    return undefined;
  });
  return count;
}

const purgeConfigured = (ctx: Context, settings: Settings, config: string): Promise<View> =>
  withConfigured(ctx, settings, config, async ({ admin }) => {
    const count = await countIn((see) => admin.newest(see, {}));
    if (count === 0) return purged(count);
    const question = `Delete ${counted(count, 'received event')} of ${sanitize(config)} for good, also what waits and the dead letters?`;
    await confirmed(ctx, settings, question);
    await admin.purge();
    return purged(count);
  });

const inUse = (pid: number | undefined): Failure =>
  new Failure('failed', `svc webhooks listen is running (process ${pid ?? 'unknown'}) and uses the inbox.`, {
    hint: 'Stop it first, then purge.',
  });
