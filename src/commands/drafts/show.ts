import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { timeForPeople } from '../../output/cells.ts';
import { body, fields, type Message, messages, screen, title } from '../../output/thread.ts';
import type { Terminal } from '../../output/view.ts';
import { noDraft } from '../../sends/approve.ts';
import { type Draft, digestOfDraft, type Seen, shownDraft, textOfStep } from '../../sends/draft.ts';
import { requireMeant } from '../../sends/meant.ts';
import { draftBlocks, publicEntry } from '../../sends/page.ts';
import { differences, type Thread, threadOf } from '../../sends/thread.ts';
import { howToSendIt } from '../../sends/words.ts';
import { type Fields, recordsIn, textIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { type AtWork, atWork, undecided } from './at-work.ts';

/** So many of the newest messages tell what a draft answers. */
const newestShown = 3;

export const showDraft = defineCommand({
  name: 'show',
  summary: 'Show a draft with what it answers, who gets it, and its digest',
  args: { id: { ...param.requiredId('Id of the draft', undefined, 'drafts list'), from: undecided } },
  needs: 'a draft: svc tickets reply 8 --body Thanks --draft',
  examples: ['svc drafts show 1', 'svc drafts show 1 --jq .digest'],
  async run(ctx, { args: { id }, settings }) {
    const { draft, thread, notes } = await atWork(ctx, settings, (at) => lookAt(at, id));
    const newest = recordsIn(thread?.record?.messages).slice(-newestShown);
    const entry = draft.channel === 'changelog' && thread?.record;
    const record = {
      ...shownDraft(draft),
      edits: draft.edits,
      messages: newest,
      ...(entry && { entry: publicEntry(draft.steps[0]?.body, entry) }),
    };
    return {
      read: true,
      data: { shape: 'record', record },
      human: (terminal) => screen([page(draft, thread, newest, terminal), whatNext(draft, { ctx, settings })]),
      notes,
    };
  },
});

/** Of what waits: each line is one command. */
function whatNext(draft: Draft, asking: Parameters<typeof howToSendIt>[2]): string {
  const { id, state, steps } = draft;
  if (state !== 'waiting') return '';
  const hasText = steps.some((step) => step.state !== 'done' && textOfStep(step) !== null);
  return [
    howToSendIt(id, digestOfDraft(draft), asking),
    ...(hasText ? [`To change its text: svc drafts edit ${id}`] : []),
    `To reject it: svc drafts reject ${id}`,
  ].join('\n');
}

type Looked = { readonly draft: Draft; readonly thread?: Thread; readonly notes: readonly string[] };

/** An older svc did not count messages, and its digest goes on without them: somebody may be about to approve by it. */
const seenFor = ({ messages }: Draft, { seen }: Thread): Seen => ({
  ...seen,
  messages: messages === undefined ? undefined : seen.messages,
});

/** The draft as it would go out now. What is other than before becomes what is read, so its digest is another. */
async function lookAt({ store, service }: AtWork, id: number): Promise<Looked> {
  const draft = await store.get(id);
  if (!draft) throw noDraft(id);
  requireMeant(draft);
  if (draft.state !== 'waiting') return { draft, notes: [] };
  try {
    const thread = await threadOf(await service(), draft);
    // Nothing of the thread was known when it was drafted.
    const isUnread = draft.recipient === null && draft.status === null;
    const notes = isUnread ? [] : differences(draft, thread.seen, thread.record);
    const before = digestOfDraft(draft);
    const next = await store.change(id, (one) =>
      one.state === 'waiting' && digestOfDraft(one) === before ? { ...one, ...seenFor(one, thread) } : undefined,
    );
    return { draft: next ?? draft, thread, notes };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { draft, notes: [`The thread cannot be read now: ${error.message}`] };
  }
}

function page(draft: Draft, thread: Thread | undefined, newest: readonly Fields[], terminal: Terminal): string {
  const { subject, number, record, channel } = draft;
  // An entry is shown below, as it would become.
  const about =
    thread?.record && channel !== 'changelog' ? [title(terminal, subject ?? '', number ?? `#${record.id}`)] : [];
  return screen([
    ...about,
    ...messages(terminal, newest.map(messageOf)),
    ...draftBlocks(draft, terminal, thread?.record),
    ...beforeEdit(draft, terminal),
    facts(draft, terminal),
  ]);
}

/** Whatever the service sends stands as a text. */
function messageOf(message: Fields): Message {
  const { sender_type: type, sender_name: name, direction, body, created_at: at } = message;
  return {
    ...{ sender_type: textIn(type) ?? '', sender_name: textIn(name) ?? '', body: textIn(body) ?? '' },
    ...(direction === 'in' || direction === 'out' ? { direction } : {}),
    created_at: textIn(at) ?? '',
  };
}

function beforeEdit({ edits, steps }: Draft, terminal: Terminal): string[] {
  const { before = null, step = 0 } = edits[0] ?? {};
  if (before === null || before === textOfStep(steps[step])) return [];
  return [`${terminal.paint('dim', 'Before it was edited:')}\n${body(terminal, before)}`];
}

function facts(draft: Draft, terminal: Terminal): string {
  const when = (iso: string | null) => (iso === null ? '' : `, ${timeForPeople(iso, terminal.now)}`);
  const { state, error, by, batch, reason } = draft;
  const rows: readonly (readonly [string, string | null])[] = [
    ['State', error === null ? state : `${state}: ${error}`],
    ['Made by', `${by}${when(draft.created_at)}`],
    ['Edited by', draft.edited_by],
    ['Decided by', draft.decided_by && `${draft.decided_by}${when(draft.decided_at)}`],
    ['Reason', reason],
    ['Batch', batch],
  ];
  const shown = rows.map(([name, value]) => [name, value === null ? undefined : sanitize(value)] as const);
  // It is copied, so it stays whole.
  return `${fields(terminal, shown)}\n${terminal.paint('dim', 'Digest      ')}${digestOfDraft(draft)}`;
}
