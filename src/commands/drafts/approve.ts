import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, isInterruption } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { approve, draftToRead, newToken } from '../../sends/approve.ts';
import { type Draft, shownDraft } from '../../sends/draft.ts';
import { draftInWords } from '../../sends/words.ts';
import { sanitize } from '../../text/sanitize.ts';
import { type AtWork, atWork } from './at-work.ts';

const flags = {
  digest: param.texts('What you have read, from svc drafts show --json; one for each ID, in their order', {
    placeholder: 'DIGEST',
  }),
  batch: param.text('All that wait of one run of a file', { placeholder: 'BATCH' }),
  all: param.toggle('All that wait'),
  retryUnknown: param.toggle('Send one again that may have been sent; the customer may get it twice'),
};

type Flags = {
  readonly digest: readonly string[];
  readonly batch: string | undefined;
  readonly all: boolean;
  readonly retryUnknown: boolean;
};

export const approveDrafts = defineCommand({
  name: 'approve',
  summary: 'Send drafts that you have read',
  details:
    'On a terminal svc shows the recipient and the text, and asks. In a pipe give --digest for each ID: it says what was read. Right before it sends, svc reads the thread ' +
    'again. Where somebody has written meanwhile, or the recipient or the status is another one, nothing is sent (exit 11), and the draft waits with its new state.',
  args: { id: { ...param.ids('Ids of the drafts'), required: false, fallback: [] } },
  flags,
  examples: [
    'svc tickets reply 8 --body Thanks --draft && svc drafts approve 1 --digest "$(svc drafts show 1 --jq .digest)"',
  ],
  run: (ctx, { args, flags, settings }) =>
    atWork(ctx, settings, async (at) => {
      const ids = await chosen(at, args.id, flags);
      refuseUnread(ctx, settings, { ids, digests: flags.digest });
      return approveAll(ctx, at, { ids, flags });
    }),
});

async function chosen(
  { store }: AtWork,
  ids: readonly number[],
  { batch, all, digest }: Flags,
): Promise<readonly number[]> {
  const ways = [ids.length > 0, batch !== undefined, all].filter(Boolean).length;
  if (ways !== 1)
    throw new Failure('usage', 'Give the ids of drafts, --batch BATCH or --all.', {
      hint: 'To see them: svc drafts list',
    });
  if (ids.length > 0) return [...new Set(ids)];
  if (digest.length > 0) throw new Failure('usage', '--digest goes with ids: one for each.');
  const waiting = (await store.list()).filter((draft) => draft.state === 'waiting' && (all || draft.batch === batch));
  if (waiting.length === 0)
    throw new Failure('not-found', 'No such draft waits.', { hint: 'To see all: svc drafts list --all' });
  return waiting.map(({ id }) => id);
}

type Chosen = { readonly ids: readonly number[]; readonly digests: readonly string[] };

/** One approves what one has read: in a pipe the digest says so, and --yes does not. */
function refuseUnread({ ask }: Context, { noInput }: Settings, { ids, digests }: Chosen): void {
  if (digests.length === ids.length) return;
  const hint = `One for each draft, from: svc drafts show ${ids[0] ?? 'ID'} --jq .digest`;
  if (digests.length > 0)
    throw new Failure('usage', `There are ${ids.length} drafts and ${digests.length} digests.`, { hint });
  if (!ask.canAsk || noInput)
    throw new Failure('usage', 'Approving in a pipe needs --digest, whatever --yes says. Nothing was sent.', { hint });
}

type Work = { readonly ids: readonly number[]; readonly flags: Flags };

type Ended = { readonly id: number; readonly draft?: Draft; readonly failure?: Failure };

async function approveAll(ctx: Context, at: AtWork, { ids, flags }: Work): Promise<View> {
  const { store, service, by } = at;
  const ended: Ended[] = [];
  const agrees = agreesTo(ctx, ids.length, flags.retryUnknown);
  for (const [index, id] of ids.entries()) {
    const approving = { store, service, by, token: () => newToken(ctx), retryUnknown: flags.retryUnknown, agrees };
    try {
      const delivered = await approve(approving, id, flags.digest[index]);
      ended.push({ id, ...delivered });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ended.push({ id, failure: error });
    }
    const failure = ended.at(-1)?.failure;
    if (failure && (isInterruption(failure) || ['auth', 'network', 'rate-limited'].includes(failure.kind))) break;
  }
  return viewOf(ended, ids.length);
}

/** Shows each and asks; of several the rest can be agreed to at once. */
function agreesTo(ctx: Context, count: number, isAgain: boolean): (draft: Draft) => Promise<boolean> {
  let areAll = false;
  return async (draft) => {
    if (areAll) return true;
    const shown = draftToRead(draft, (text) => sanitize(text, { keepNewlines: true }));
    const question = isAgain && draft.state === 'unknown' ? 'It may have been sent. Send it once more?' : 'Send it?';
    if (count === 1) return ctx.ask.confirm(question, { shown });
    ctx.notice(shown);
    const answer = await ctx.ask.choose(question, [
      { value: 'yes', name: 'Send it' },
      { value: 'no', name: 'Leave it' },
      { value: 'all', name: 'Send it and all that follow' },
    ]);
    areAll = answer === 'all';
    return areAll || answer === 'yes';
  };
}

function viewOf(ended: readonly Ended[], count: number): View {
  const records = ended.flatMap(({ draft }) => (draft ? [shownDraft(draft)] : []));
  const sent = ended.filter(({ draft, failure }) => !failure && draft?.state === 'sent');
  const failures = ended.flatMap(({ failure }) => failure ?? []);
  const lines = sent.map(({ draft }) => (draft ? `Sent. ${draftInWords(draft)}` : ''));
  const [only] = ended;
  if (count === 1) {
    if (!only?.draft && only?.failure) throw only.failure;
    if (!only?.draft) throw new Failure('failed', 'Declined. Nothing was sent.');
    const done = lines[0] === undefined ? {} : { done: lines[0], notes: [lines[0]] };
    return { data: { shape: 'record', record: records[0] }, ...done, failure: only.failure };
  }
  const notes = [
    ...ended.flatMap(({ id, failure }) => (failure ? [`${id}: ${failure.message}`] : [])),
    `${count} in all: ${sent.length} sent, ${count - sent.length} not sent, or it is not known.`,
  ];
  return {
    data: { shape: 'list', records, columns: ['id', 'state', 'to', 'sent_id', 'error'] },
    notes,
    failure: failureOf(failures, count),
  };
}

/** Where all ended alike it is that; else a part is done, or it is not known of some. */
function failureOf(failures: readonly Failure[], count: number): Failure | undefined {
  const [first] = failures;
  if (!first) return undefined;
  const isOfOneKind = failures.length === count && failures.every(({ kind }) => kind === first.kind);
  const mixed = failures.some(({ kind }) => kind === 'unknown') ? 'unknown' : 'partial';
  return new Failure(
    isOfOneKind ? first.kind : mixed,
    `${failures.length} of ${count} drafts were not sent, or it is not known.`,
    {
      hint: first.hint,
      isWhole: true,
    },
  );
}
