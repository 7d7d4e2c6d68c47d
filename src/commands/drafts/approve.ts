import { defineCommand, type Values } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, isInterruption } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { type Approving, approve, newToken, noDraft } from '../../sends/approve.ts';
import { plainTerminal } from '../../sends/ask.ts';
import { digestOfDraft } from '../../sends/draft.ts';
import { draftBlocks } from '../../sends/page.ts';
import { approvedView, type Ended } from './approved.ts';
import { type AtWork, atWork, chosen, idsOrAll, waitingFlags } from './at-work.ts';

const flags = {
  digest: param.texts('What you have read, from svc drafts show --json; one for each ID, in their order', {
    placeholder: 'DIGEST',
  }),
  ...waitingFlags,
  retryUnknown: param.toggle('Send one again that may have been sent; the customer may get it twice'),
};

type Flags = Values<typeof flags>;

export const approveDrafts = defineCommand({
  name: 'approve',
  summary: 'Send drafts that you have read',
  details:
    'On a terminal svc shows the recipient and the text, and asks. In a pipe give --digest for each ID: it says what was read. Right before it sends, svc reads the thread ' +
    'again. Where somebody has written meanwhile, or the recipient or the status has changed, nothing is sent (exit 11), and the draft waits with its new state. ' +
    'One that may have been sent before stays unknown; --retry-unknown asks, and in a pipe needs --yes beside the digest.',
  args: { id: idsOrAll },
  flags,
  examples: [
    'svc tickets reply 8 --body Thanks --draft && svc drafts approve 1 --digest "$(svc drafts show 1 --jq .digest)"',
  ],
  run: (ctx, { args, flags, settings }) =>
    atWork(ctx, settings, async (at) => {
      if (args.id.length === 0 && flags.digest.length > 0)
        throw new Failure('usage', '--digest goes with ids: one for each.');
      const ids = await chosen(at, args.id, flags);
      if (flags.digest.length === 0 && (!ctx.ask.canAsk || settings.noInput)) await refuseMissing(at, ids);
      refuseUnread(ctx, settings, ids, flags.digest);
      return approveAll({ ctx, settings }, at, ids, flags);
    }),
});

/** The digest of one that is not there would be looked for in vain. */
async function refuseMissing({ store }: AtWork, ids: readonly number[]): Promise<void> {
  for (const id of ids) if (!(await store.get(id))) throw noDraft(id);
}

/** One approves what one has read: in a pipe the digest says so, and --yes does not. */
function refuseUnread(
  { ask }: Context,
  { noInput }: Settings,
  ids: readonly number[],
  digests: readonly string[],
): void {
  if (digests.length === ids.length) return;
  const hint = `One for each draft, from: svc drafts show ${ids[0] ?? 'ID'} --jq .digest`;
  if (digests.length > 0)
    throw new Failure('usage', `There are ${ids.length} drafts and ${digests.length} digests.`, { hint });
  if (!ask.canAsk || noInput)
    throw new Failure('usage', 'Approving in a pipe needs --digest, whatever --yes says. Nothing was sent.', { hint });
}

async function approveAll(
  { ctx, settings }: { readonly ctx: Context; readonly settings: Settings },
  at: AtWork,
  ids: readonly number[],
  flags: Flags,
): Promise<View> {
  const { store, service, by } = at;
  const ended: Ended[] = [];
  const agreed = new Map<number, string>();
  const agrees = agreesTo(ctx, { count: ids.length, settings, store, agreed });
  const approving = { store, service, by, token: () => newToken(ctx), retryUnknown: flags.retryUnknown, agrees };
  for (const [index, id] of ids.entries()) {
    const one = await approve(approving, id, flags.digest[index] ?? agreed.get(id)).catch((error: unknown) => {
      if (error instanceof Failure) return { failure: error };
      throw error;
    });
    // As it is now: of several each is shown, also one that was left.
    const draft = ids.length > 1 ? await store.get(id).catch(() => undefined) : undefined;
    ended.push({ id, isLeft: one === undefined, draft, ...one });
    const failure = ended.at(-1)?.failure;
    if (failure && endsAll(failure.cause instanceof Failure ? failure.cause : failure)) break;
  }
  return approvedView(ended, ids);
}

/** The next one would end the same. Of one that may have been sent before it is the cause. */
const endsAll = (failure: Failure): boolean =>
  isInterruption(failure) || ['auth', 'network', 'rate-limited'].includes(failure.kind);

type Agreeing = {
  readonly count: number;
  readonly settings: Settings;
  readonly store: AtWork['store'];
  /** By id, the digests of what was agreed to without another look. */
  readonly agreed: Map<number, string>;
};

/** Shows each and asks; of several the rest can be agreed to at once, as they are then. */
function agreesTo(ctx: Context, { count, settings, store, agreed }: Agreeing): Approving['agrees'] {
  return async (draft, entry, { isRead }) => {
    if (agreed.has(draft.id)) return true;
    const shown = draftBlocks(draft, plainTerminal(ctx), entry).join('\n\n');
    if (isRead) {
      const question = `Send draft ${draft.id} once more, although it may have been sent?`;
      await confirmed(ctx, settings, question, { shown: async () => shown, unchanged: 'Nothing was sent now.' });
      return true;
    }
    const question = draft.state === 'unknown' ? 'It may have been sent. Send it once more?' : 'Send it?';
    if (count === 1) return ctx.ask.confirm(question, { shown });
    for (const line of [...shown.split('\n'), '']) ctx.notice(line);
    const answer = await ctx.ask.choose(question, [
      // Return takes the first.
      { value: 'no', name: 'Leave it' },
      { value: 'yes', name: 'Send it' },
      { value: 'all', name: 'Send it and all that follow' },
    ]);
    if (answer === 'all') for (const one of await store.list()) agreed.set(one.id, digestOfDraft(one));
    return answer === 'all' || answer === 'yes';
  };
}
