import { stricter } from '../config/settings.ts';
import type { Change, Effect, Kept } from './effect.ts';
import type { Event } from './event.ts';
import { rejectsOf, told, withJob } from './jobs.ts';
import { type Model, type Step, still } from './model.ts';
import { question } from './over.ts';
import { nameOf, type Row } from './row.ts';

type Send = Extract<Effect, { readonly do: 'send' }>;
type Changing = Extract<Effect, { readonly do: 'change' }>;

/** Effects that were agreed to. What writes gets its line, and what is held waits there. */
export function begunEffects(model: Model, effects: readonly Effect[]): Step {
  let next = model;
  const batch = model.count + 1;
  const begun: Effect[] = [];
  for (const effect of effects) {
    if (effect.do === 'keep') begun.push({ ...effect, batch });
    else if (effect.do === 'change') {
      const { row } = effect;
      const line = withJob(next, { state: 'sending', told: changeWords(effect), row, change: effect.change, batch });
      next = line.model;
      begun.push({ ...effect, job: line.id });
    } else if (effect.do === 'send') {
      const step = begunSend(next, effect);
      next = step.model;
      begun.push(...step.effects);
    } else begun.push(effect);
  }
  return { model: next, effects: begun };
}

function begunSend(model: Model, effect: Send): Step {
  const { row, draft, holdMs, means, batch } = effect;
  const what = sendWords(means, row);
  const isHeld = holdMs > 0 && means !== 'note';
  const line = withJob(model, {
    ...{ state: isHeld ? 'held' : 'sending', told: what, row, draft },
    ...(isHeld && { until: model.now + holdMs }),
    ...(batch !== undefined && { batch }),
  });
  const send = { ...effect, job: line.id, holdMs: 0 };
  const jobs = line.model.jobs.map((job) => (job.id === line.id ? { ...job, send } : job));
  return { model: { ...line.model, jobs }, effects: isHeld ? [] : [send] };
}

const sendWords = (means: Send['means'], row: Row): string =>
  ({ reply: `Reply to ${nameOf(row)}`, note: `Note on ${nameOf(row)}`, resolve: `Resolve ${nameOf(row)}` })[means];

const changeNames: Readonly<Record<Change['act'], string>> = {
  resolve: 'Resolve',
  close: 'Close',
  reopen: 'Open again:',
  priority: 'Priority of',
};

const changeWords = ({ change, row }: Changing): string => `${changeNames[change.act]} ${nameOf(row)}`;

export const begunChange = (model: Model, rows: readonly Row[], change: Change): Step =>
  begunEffects(
    withoutMarks(model),
    rows.map((row) => ({ do: 'change', job: 0, row, change })),
  );

/** A text is a draft now: it leaves, or somebody agrees first, or it waits. */
export function keptOrAsked(model: Model, event: Extract<Event, { is: 'kept' }>): Step {
  const { means, ends, items, mode, holdMs, shown, isAgreed, batch } = event;
  const isSend = means !== 'note';
  if (ends === 'draft' || (isSend && mode === 'draft')) return still(items.reduce(tellDraft, model));
  const isAsked = !isAgreed && (items.length > 1 || (isSend && mode === 'ask') || means === 'resolve');
  const agreed = isAsked || isAgreed ? stricter(mode, 'ask') : mode;
  const isSeveral = means === 'resolve' && batch !== undefined;
  const sends = sendsOf(items, means, { holdMs, agreed, ...(isSeveral && { batch }) });
  if (!isAsked) return begunEffects(withoutMarks(model), sends);
  const whom = items.length === 1 ? '' : ` to all ${items.length}`;
  return still(
    question(model, {
      ...{ title: isSend ? `Send this${whom}?` : `Add this note${whom}?`, shown },
      answers: [{ key: 'y', name: isSend ? 'send' : 'add', effects: sends }],
      otherwise: 'leave it as a draft',
      declined: waitingWords(items),
    }),
  );
}

const tellDraft = (model: Model, { told: text, draft }: Kept): Model =>
  withJob(model, { state: 'drafted', told: text, draft }).model;

const withoutMarks = (model: Model): Model => ({ ...model, marked: [] });

const sendsOf = (
  items: readonly Kept[],
  means: Send['means'],
  how: Pick<Send, 'holdMs' | 'agreed' | 'batch'>,
): readonly Effect[] =>
  items.map(({ draft, digest, row }) => ({ do: 'send', job: 0, means, draft, digest, row, ...how }));

const waitingWords = (items: readonly Kept[]): string =>
  `Nothing was sent. ${items.length === 1 ? 'Draft' : 'Drafts'} ${items.map(({ draft }) => draft).join(', ')} ${items.length === 1 ? 'waits' : 'wait'}.`;

/** Drafts were read: one approves what one has read. */
export const approving = (model: Model, event: Extract<Event, { is: 'to-approve' }>): Model => {
  const { items, shown, holdMs } = event;
  return question(model, {
    ...{ title: items.length === 1 ? 'Send it?' : `Send all ${items.length}?`, shown },
    answers: [{ key: 'y', name: 'send', effects: sendsOf(items, 'reply', { holdMs }) }],
    ...{ otherwise: 'leave it', declined: '' },
  });
};

type Changed = Extract<Event, { readonly is: 'changed' }>;

/** The thread is another one than it was when the text was written: that is said before the text leaves. */
export function sendOrAsk(before: Model, { job, item, means, shown, holdMs, agreed }: Changed): Model {
  const model = { ...before, jobs: before.jobs.filter(({ id }) => id !== job) };
  const how = { holdMs, ...(agreed && { agreed: stricter(agreed, 'ask') }) };
  const edits: Effect = { do: 'edit', draft: item.draft, row: item.row, means };
  return question(model, {
    ...{ title: 'Send it all the same?', shown },
    answers: [
      { key: 'y', name: 'send', effects: sendsOf([item], means, how) },
      ...(means === 'reply' ? [{ key: 'e', name: 'edit', effects: [edits] }] : []),
    ],
    ...{ otherwise: 'leave it as a draft', declined: waitingWords([item]) },
  });
}

/** `q`: what is held stays a draft, what is on its way is waited for. */
export function endAsked(model: Model): Step {
  const end: Effect = { do: 'end' };
  const held = model.jobs.filter(({ state }) => state === 'held');
  const sending = model.jobs.filter(({ state }) => state === 'sending');
  if (model.isEnding) return { model, effects: [sending.length > 0 ? { ...end, isNow: true } : end] };
  if (held.length > 0) {
    return still(
      question(model, {
        title: 'End now?',
        holdsAll: true,
        shown: `${held.map(({ told: text }) => text).join('\n')}\n\nThis is held and not sent yet. A text stays a draft.`,
        answers: [{ key: 'y', name: 'end', effects: [...rejectsOf(held), end] }],
        ...{ otherwise: 'go on', declined: '' },
      }),
    );
  }
  if (sending.length === 0) return { model: { ...model, isEnding: true }, effects: [end] };
  return still(told({ ...model, isEnding: true }, 'svc ends once this is done. q again ends now.', 'told'));
}
