import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import type { Terminal } from '../../output/view.ts';
import { draftToRead, noDraft } from '../../sends/approve.ts';
import { type Draft, digestOfDraft, shownDraft, textOf } from '../../sends/draft.ts';
import { differences, type Thread, threadOf } from '../../sends/thread.ts';
import { fieldsIn, recordsIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { type AtWork, atWork } from './at-work.ts';

/** So many of the newest messages tell what a draft answers. */
const newestShown = 3;

export const showDraft = defineCommand({
  name: 'show',
  summary: 'Show a draft with what it answers, who gets it, and its digest',
  args: { id: param.requiredId('Id of the draft') },
  flags: {},
  needs: 'a draft: svc tickets reply 8 --body Thanks --draft',
  examples: ['svc drafts show 1', 'svc drafts show 1 --jq .digest'],
  async run(ctx, { args: { id }, settings }) {
    const { draft, thread, notes } = await atWork(ctx, settings, (at) => lookAt(at, id));
    const messages = recordsIn(thread?.record?.messages).slice(-newestShown);
    const record = { ...shownDraft(draft), edits: draft.edits, messages };
    return {
      read: true,
      data: { shape: 'record', record },
      human: (terminal) => page(draft, messages, terminal),
      notes,
    };
  },
});

type Looked = { readonly draft: Draft; readonly thread?: Thread; readonly notes: readonly string[] };

/** The draft as it would go out now. What is other than before becomes what is read, so its digest is another. */
async function lookAt({ store, service }: AtWork, id: number): Promise<Looked> {
  const draft = await store.get(id);
  if (!draft) throw noDraft(id);
  if (draft.state !== 'waiting') return { draft, notes: [] };
  try {
    const thread = await threadOf(await service(), draft);
    const notes = draft.recipient === null ? [] : differences(draft, thread.seen, thread.record);
    const before = digestOfDraft(draft);
    const next = await store.change(id, (one) =>
      one.state === 'waiting' && digestOfDraft(one) === before ? { ...one, ...thread.seen } : undefined,
    );
    return { draft: next ?? draft, thread, notes };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { draft, notes: [`The thread cannot be read now: ${error.message}`] };
  }
}

function page(draft: Draft, messages: readonly Readonly<Record<string, unknown>>[], { paint }: Terminal): string {
  const plain = (text: string) => sanitize(text, { keepNewlines: true });
  const said = messages.map((message) => {
    const { sender_name: name, sender_type: type, body, created_at: at } = fieldsIn(message);
    return `${paint('dim', plain(`${String(name ?? type)}, ${String(at)}`))}\n${plain(String(body))}`;
  });
  const before = draft.edits[0]?.before;
  return [
    ...(said.length > 0 ? [...said, ''] : []),
    draftToRead(draft, plain),
    '',
    ...(before !== undefined && before !== null && before !== textOf(draft)
      ? [paint('dim', 'Before it was edited:'), plain(before), '']
      : []),
    `State   ${draft.state}${draft.error === null ? '' : `: ${plain(draft.error)}`}`,
    `By      ${plain(draft.by)}${draft.edited_by === null ? '' : `, edited by ${plain(draft.edited_by)}`}`,
    ...(draft.decided_by === null
      ? []
      : [`Decided ${plain(draft.decided_by)}${draft.reason === null ? '' : `: ${plain(draft.reason)}`}`]),
    `Digest  ${digestOfDraft(draft)}`,
  ].join('\n');
}
