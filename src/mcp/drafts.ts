import type { Drafted } from '../errors.ts';
import { type Draft, draftStates, shownDraft } from '../sends/draft.ts';
import { ownDrafts } from '../sends/own.ts';
import { withDrafts } from '../sends/store.ts';
import { counted } from '../text/number.ts';
import { fieldsIn } from '../text/record.ts';
import { type Answer, answer } from './answer.ts';
import { firstItems, room } from './bounds.ts';
import { onlyFields } from './slices.ts';
import { invalid, readingTool } from './tool.ts';

/** Nothing was sent: a person decides. */
export function draftAnswer({ id, record, told }: Drafted): Answer {
  if (id === null) return { content: [{ type: 'text', text: told }], structuredContent: { drafted: null } };
  const said = `Draft ${id} waits for a person; nothing was sent.`;
  const kept = Object.fromEntries(
    ['id', 'state', 'operation', 'record', 'to', 'channel', 'created_at'].map((name) => [name, fieldsIn(record)[name]]),
  );
  return {
    content: [
      { type: 'text', text: `${said} Tell the user so, and do not call again. listDrafts shows what became of it.` },
    ],
    structuredContent: { drafted: kept },
  };
}

/** What became of drafts. Approving one is never a tool. */
export const listDrafts = readingTool(
  {
    name: 'listDrafts',
    title: 'List drafts',
    description: 'List the drafts that you and others have made, newest first, with what became of them.',
    outputSchema: { type: 'object', properties: { drafts: { type: 'array' } } },
    toolset: 'tickets',
  },
  {
    properties: {
      state: { type: 'string', description: 'waiting, sending, sent, rejected, refused or unknown' },
      fields: { type: 'string', description: 'Like id,state' },
    },
  },
  async ({ service, input: { state }, boundary }, fields) => {
    if (state !== undefined && !draftStates.some((each) => each === state))
      throw invalid({ state: [`must be one of ${draftStates.join(', ')}`] });
    const { ctx, settings } = service;
    const isWanted = (draft: Draft) => state === undefined || draft.state === state;
    const { drafts, others } = await withDrafts(ctx, settings.drafts, async (store) => {
      const own = ownDrafts(store, async () => service);
      return { drafts: await own.list(), others: await own.leftOut(isWanted) };
    });
    const found = drafts.filter(isWanted).map(shownDraft).reverse();
    const shown = firstItems(fields ? found.map((draft) => onlyFields(draft, fields)) : found, room);
    const more = found.length - shown.length;
    const leftOut = more > 0 ? [`${counted(more, 'older draft')} left out. Name the \`fields\` that you need.`] : [];
    return answer({ drafts: shown }, leftOut, [`${counted(found.length, 'draft')}.`, ...others], boundary);
  },
);
