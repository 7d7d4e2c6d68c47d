import type { SendMode, Settings } from '../config/settings.ts';
import type { Context, Sends } from '../context.ts';
import type { Judging, Shared } from './judging.ts';

/** The gate of one command. What it needs is loaded with the first request that reaches somebody. */
export function sendsFor(ctx: Context, settings: Settings): Sends {
  return gateWith({ ctx, settings, wish: {}, shared: newShared() });
}

const newShared = (): Shared => ({
  isAgreedToAll: false,
  turn: Promise.resolve(),
  hasHeld: false,
  stopped: undefined,
  drafted: 0,
  counted: new WeakMap(),
  judgedAt: new WeakMap(),
});

const gateWith = (judging: Judging): Sends => ({
  judge: async (request) => (await import('./gate.ts')).judge(judging, request),
  judgeAgain: async (request) => (await import('./gate.ts')).judgeAgain(judging, request),
  judgedAt: (request) => judging.shared.judgedAt.get(request),
  isDraft: judging.wish.draft === true,
  with: (wish) => gateWith({ ...judging, wish: { ...judging.wish, ...wish } }),
  takeBack: async (request) => {
    const counted = judging.shared.counted.get(request);
    if (!judging.shared.counted.delete(request) || counted === undefined) return;
    await (await import('./rate.ts')).uncountSend(judging.ctx, counted);
  },
  mode: async () => (judging.wish.draft === true ? 'draft' : modeOf(judging)),
});

/** The mode that holds now, the policy's included. One that cannot be read is no `draft`: it forbids. */
async function modeOf({ ctx, settings, wish }: Judging): Promise<SendMode> {
  if (wish.approved) return 'allow';
  const [{ readPolicies }, { modeNow }, { stricter }] = await Promise.all([
    import('./policy-file.ts'),
    import('./set-now.ts'),
    import('../config/settings.ts'),
  ]);
  const policies = await readPolicies(ctx).catch(() => []);
  return stricter(settings.sends, await modeNow(ctx, settings), ...policies.map(({ sends }) => sends.mode));
}
