import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { MadeSeed } from '../../sandbox/open.ts';

/** What `sandbox start` and `sandbox exec` have in common. */
export const sandboxFlags = {
  seed: param.text(
    'What it holds at first: demo (the default), empty, mirror (the copy of svc mirror), or a JSON file',
    {
      placeholder: 'demo|empty|mirror|FILE',
      completes: 'files',
      offers: ['demo', 'empty', 'mirror'],
    },
  ),
  anonymise: param.toggle('With --seed mirror: with invented names, addresses, phones and texts'),
  consent: param.choice('Show a consent page (the default), or grant every authorization request at once', [
    'page',
    'auto',
  ]),
  rate_limit: param.choice('Limits in fixed windows (on, the default), in sliding ones, or none', [
    'on',
    'sliding',
    'off',
  ]),
  allow_http_targets: param.toggle('Let webhooks go to http:// addresses of this machine'),
  cors: param.toggle('Answer pages of any origin in a browser (CORS)'),
  latency: param.integer('Wait this long before every answer', { placeholder: 'MS', max: 600_000 }),
};

/** A copy that is no older is as good as the account. */
const freshMs = 10 * 60_000;

/** What `--seed` names; of `mirror` the copy of this login's account, read once. */
export async function seedFor(
  ctx: Context,
  settings: Settings,
  { seed, anonymise }: { readonly seed: string | undefined; readonly anonymise: boolean },
): Promise<string | MadeSeed | undefined> {
  if (seed !== 'mirror') {
    if (anonymise) throw new Failure('usage', '--anonymise is for --seed mirror.', { hint: 'Give both, or neither.' });
    return seed;
  }
  const [{ openCopyPulled }, { seedFromCopy }, { ageOf }] = await Promise.all([
    import('../../mirror/store/open-copy.ts'),
    import('../../mirror/rehearsal/seed.ts'),
    import('../../mirror/query/age.ts'),
  ]);
  const { store, account } = await openCopyPulled(ctx, settings, { needsLogin: false });
  try {
    ctx.progress('Reading the copy');
    const { seed: rows, incomplete, asOf } = await seedFromCopy(store, account);
    const now = ctx.clock.now();
    if (asOf !== null && now.getTime() - Date.parse(asOf) > freshMs)
      ctx.notice(`The copy is ${ageOf(asOf, now)} old. To bring it up to date: svc mirror pull`);
    if (incomplete.length > 0) {
      ctx.notice(`The copy does not hold all of: ${incomplete.join(', ')}. To go on reading: svc mirror pull`);
    }
    if (!anonymise) return { name: 'mirror', value: rows };
    const { anonymised } = await import('../../mirror/rehearsal/anonymise.ts');
    return { name: 'mirror', value: await anonymised(rows, ctx.random(32)) };
  } finally {
    ctx.progress(undefined);
    await store.close();
  }
}
