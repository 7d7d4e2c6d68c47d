import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param, withFallback } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { PullReport } from '../../mirror/pull/pull.ts';
import type { Wishes } from '../../mirror/pull/pulling.ts';
import { kindNames } from '../../mirror/tables/kinds.ts';
import type { View } from '../../output/view.ts';
import { kindsFrom } from './kinds.ts';

export const pullCopy = defineCommand({
  name: 'pull',
  summary: 'Bring the local copy of the account up to date',
  details:
    'Asks for as little as the API allows: tickets and conversations that changed, new contacts and calls, and the lists, ' +
    'changelog and feedback whole. The API does not tell which old contacts changed, so each pull reads --rescan pages of those ' +
    'seen longest ago again; --full reads everything.\n\n' +
    'The first pull of a large account takes long, since the service allows 60 requests a minute. You can end it at any time: ' +
    'the next pull goes on. The unresolved tickets and conversations come first. An answer that cannot be whole (an empty page before the ' +
    'last one, no meta, fewer records than the service counts) counts for nothing: no kind is complete by it, and no record gone; svc names the kind, exits with 8, ' +
    'and the next pull tries again. A kind that the service refuses (a module that is off, a scope that is missing) is named, and the rest is pulled; ' +
    'where nothing else was asked for, the exit code is 5.',
  flags: {
    ...dbFlag,
    only: param.text('Only these kinds', { placeholder: 'KIND,KIND', commas: true, offers: kindNames }),
    full: param.toggle('Read everything again'),
    rescan: withFallback(param.integer('Read N pages of contacts and calls again (default 10)'), 10),
    maxRequests: param.integer('Stop after N requests (exit 8); the next pull goes on', { min: 2 }),
  },
  examples: ['svc mirror pull', 'svc mirror pull --only tickets,contacts --max-requests 500'],
  async run(ctx, { flags, settings }) {
    const wishes: Wishes = {
      only: await kindsFrom(flags.only),
      full: flags.full,
      rescan: flags.rescan,
      maxRequests: flags.maxRequests,
      follow: false,
      isOften: false,
    };
    return reportView(await pullOnce(ctx, settings, flags.db, wishes));
  },
});

async function pullOnce(ctx: Context, settings: Settings, db: string | undefined, wishes: Wishes): Promise<PullReport> {
  const [{ pull }, { datedContext, preparePull }, { openCopyToPull }, { connect }] = await Promise.all([
    import('../../mirror/pull/pull.ts'),
    import('../../mirror/pull/pulling.ts'),
    import('../../mirror/store/open-copy.ts'),
    import('../../http/call/call.ts'),
  ]);
  const dated = datedContext(ctx);
  const service = await connect(dated.ctx, settings);
  const { store, account } = await openCopyToPull(ctx, settings, { db, service });
  try {
    return await pull(preparePull({ service, ...dated }, { store, account, wishes }));
  } finally {
    await store.close();
  }
}

const columns = ['kind', 'rows', 'created', 'updated', 'gone', 'complete'] as const;

function reportView(report: PullReport): View {
  const { kinds, requests, duration_ms, stopped } = report;
  const refused = kinds.filter((one) => one.refused !== null);
  const isUnchanged = ({ created, updated, gone }: PullReport['kinds'][number]) => created + updated + gone === 0;
  const stale = refused.filter((one) => one.rows > 0 && isUnchanged(one)).map(({ kind }) => kind);
  const some = kinds.filter((one) => !one.complete && one.refused === null).map(({ kind }) => kind);
  const doubted = kinds.filter(({ doubt }) => doubt !== null).map(({ kind }) => kind);
  const nothing = kinds.every(isUnchanged) ? 'Nothing was pulled. ' : '';
  const notes = [`${requests} request${requests === 1 ? '' : 's'} in ${(duration_ms / 1000).toFixed(1)} s.`];
  if (stopped) notes.push('Stopped by --max-requests. To go on, run the command again.');
  if (doubted.length > 0)
    notes.push(`Not whole in this pull: ${doubted.join(', ')}. To try again, run the command again.`);
  if (stale.length > 0)
    notes.push(`The copy stays as it was, since the service refuses this login: ${stale.join(', ')}.`);
  if (some.length > 0) notes.push(`Not complete yet: ${some.join(', ')}.`);
  return {
    data: { shape: 'record', record: report },
    read: true,
    plain: () => kinds.map((kind) => `${columns.map((column) => kind[column]).join('\t')}\n`).join(''),
    human: async (terminal) => (await import('../../output/table.ts')).table(kinds, columns, terminal),
    notes,
    ...(refused.length === kinds.length
      ? { failure: new Failure('forbidden', `${nothing}${refused[0]?.refused}`) }
      : (stopped || doubted.length > 0) && { outcome: 'partial' as const, why: notes[1] }),
  };
}
