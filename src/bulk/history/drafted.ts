import { hearersOf } from '../../api/hearers.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import { someOf } from '../../text/each.ts';
import { takeBack, thenSaid } from '../journal/apply-line.ts';
import { forgetNamed, formerName, type Going, keepFormer, putBack } from '../journal/going.ts';
import { heldIn, likeIn, type Named, type RowStatus, type Said } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import type { Plan } from '../rows/plan.ts';
import type { Match, OpenMatches } from './match-table.ts';
import type { Senders } from './senders.ts';

/** `rejected`: a person has said that it is never sent; `open`: it may still be sent, or nobody knows whether it was, or a part was sent. */
type Fate = { readonly is: 'rejected' | 'open'; readonly draft: Draft; readonly instead?: readonly Named[] };

/** `untold`: the drafts of rows of which the journal itself does not say that they are drafts. */
type OfJournal = { readonly rows: ReadonlyMap<string, Fate>; readonly untold: ReadonlyMap<string, Draft> };

/** What became of the drafts of rows: of each journal with some that were not sent, by the names of the rows there. */
export type Drafted = ReadonlyMap<Found, OfJournal>;

/** Another journal may call a row by the same name, and have sent it since. */
export const fateOf = (drafted: Drafted, { from, key }: Pick<Match, 'from' | 'key'>): Fate['is'] | undefined =>
  drafted.get(from)?.rows.get(key)?.is;

/** What was sent before, beside which its draft was made that a person rejected: by the names that it had. */
export const insteadOf = (drafted: Drafted, { from, key }: Pick<Match, 'from' | 'key'>): readonly Named[] =>
  drafted.get(from)?.rows.get(key)?.instead ?? [];

/** A person may still send its draft, or is at it. */
export const isWaiting = (drafted: Drafted, { from, key }: Pick<Match, 'from' | 'key'>): boolean =>
  ['waiting', 'sending'].includes(drafted.get(from)?.rows.get(key)?.draft.state ?? '');

/** What is written down of a row that another journal knows: that it is a draft, of which more may be known later. */
export function asWritten(drafted: Drafted, { from, key, rowStatus }: Match): RowStatus {
  const fate = drafted.get(from)?.rows.get(key);
  return fate ? { status: 'done', ...aboutOf(rowStatus), ...sentIn(rowStatus), ...draftOf(fate.draft) } : rowStatus;
}

/** The id of what was sent, of which a draft is the rest. */
const sentIn = (rowStatus: RowStatus) => ({ id: rowStatus.status === 'done' ? rowStatus.id : null });

/** What a journal knows a draft by. */
export const draftOf = ({ id, created_at: at }: Draft) => ({ drafted: id, draftedAt: at });

const aboutOf = (rowStatus: RowStatus) => {
  const { line, is } = rowStatus;
  return {
    line,
    ...(is !== undefined && { is }),
    ...heldIn({ like: likeIn(rowStatus), unsure: beforeDraft(rowStatus) }),
  };
};

/** What is said of a row that may have been sent before it became a draft. */
const beforeDraft = (rowStatus: RowStatus): string | undefined =>
  rowStatus.status === 'done' ? rowStatus.unsure : undefined;

/**
 * What became of the drafts of rows. A row whose draft a person rejected is no done one: from here on it is a rejected one.
 * Of one whose draft is in another place nothing is changed.
 */
export async function drafted(
  journals: readonly Found[],
  { row: { operation, follows = [] } }: Pick<Plan, 'row'>,
  read: () => Promise<readonly Draft[]>,
): Promise<Drafted> {
  const fates = new Map<Found, OfJournal>();
  if (hearersOf(operation) === undefined || !journals.some(mayHaveDrafts)) return fates;
  const own = new Set([operation, ...follows.map((one) => one.operation)].map(({ id }) => id));
  const drafts = (await read()).filter((draft) => own.has(draft.operation));
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  const byKey = new Map(drafts.map((draft) => [draft.key, draft]));
  for (const from of journals) {
    const untold = addUntold(from, byKey);
    const { rowStatuses: statuses, going } = from.past;
    const ofRow = new Map<string, Fate>();
    let isDecided = true;
    for (const { row, rowStatus, id, at } of [...draftsIn(from)]) {
      const found = byId.get(id);
      // Another place has other drafts by the same ids. Builds between releases did not write down when theirs were made.
      const draft = found && (at ?? found.created_at) === found.created_at ? found : undefined;
      isDecided &&= draft?.state === 'sent';
      const isGoing = going.get(row);
      const isBack = draft?.state === 'rejected' && sentIn(rowStatus).id === null && !hasBegun(draft);
      if (isGoing && !isBack) forgetNames(journals, from, row, isGoing);
      const unsure = beforeDraft(rowStatus);
      // Sent well, it has settled what went before it.
      if (draft?.state === 'sent' && rowStatus.status === 'done' && unsure !== undefined)
        statuses.set(row, { ...rowStatus, unsure: undefined });
      if (!draft || draft.state === 'sent') continue;
      const said = whatIs(draft, sentIn(rowStatus).id);
      // That its draft is not sent says nothing of what was sent before.
      const is = said && unsure !== undefined ? inDoubtBefore(said, unsure) : said;
      if (is?.status === 'unknown') {
        statuses.set(row, { ...is, ...aboutOf(rowStatus) });
        continue;
      }
      // Sent once more, the customer would get again what was sent of it.
      const instead = isGoing && isBack ? beforeRejected(from, row, isGoing) : [];
      ofRow.set(row, { is: is?.status === 'rejected' ? 'rejected' : 'open', draft, instead });
      if (is) statuses.set(row, { ...is, ...aboutOf(rowStatus) });
    }
    if (!isDecided || untold.size > 0) fates.set(from, { rows: ofRow, untold });
  }
  return fates;
}

/** Of a row that may have been sent before it became a draft, what its draft makes of it. */
function inDoubtBefore(said: Said, unsure: string): Said {
  if (said.status === 'rejected') return { status: 'unknown', error: thenSaid(unsure, said.error), before: null };
  if (said.status !== 'done' || said.error === undefined) return said;
  return { ...said, error: thenSaid(unsure, said.error), doubt: true };
}

/** A run that was killed, or failed, right then did not say whether it has kept a draft. */
function addUntold(
  { past: { rowStatuses, going } }: Found,
  byKey: ReadonlyMap<string | null, Draft>,
): Map<string, Draft> {
  const untold = new Map<string, Draft>();
  for (const [row, rowStatus] of [...rowStatuses.standing('drafting')]) {
    if (rowStatus.status !== 'drafting') continue;
    const { batch, ...about } = rowStatus;
    const draft = byKey.get(`${batch}/${row}`);
    const isGoing = going.get(row);
    if (!draft && isGoing?.before) putBack(rowStatuses, row, isGoing.before);
    else if (!draft) takeBack(rowStatuses, row);
    else {
      rowStatuses.set(row, { ...about, status: 'done', id: null, ...draftOf(draft) });
      untold.set(row, draft);
    }
  }
  return untold;
}

/** A row that has gone once more is what its draft is, whatever earlier runs called it. */
function forgetNames(journals: readonly Found[], own: Found, gone: string, { again, run, before }: Going): void {
  for (const name of again)
    for (const one of journals) {
      const { header, rowStatuses } = one.past;
      const [settings, row] = name;
      if (header.settings !== settings || (one === own && row === gone)) continue;
      if (rowStatuses.runOf(row) <= run) forgetNamed(rowStatuses, name);
    }
  keepFormer(own.past.rowStatuses, gone, before);
}

/** By which names it is known what the row of a draft was before, which a person rejected. */
function beforeRejected({ past: { header, rowStatuses } }: Found, row: string, { again, before }: Going): Named[] {
  const is = before?.rowStatus.is;
  if (!before || is === undefined) return [...again];
  const name = formerName(row, is);
  putBack(rowStatuses, name, before);
  return [...again, [header.settings, name]];
}

/** What a file has sent itself stays sent, whatever a person says of a later draft of it. */
export function standAsSent(matches: OpenMatches, drafted: Drafted, all: readonly Found[], senders: Senders): void {
  for (const [ref, { from, key }] of matches) {
    const { is, instead = [] } = drafted.get(from)?.rows.get(key) ?? {};
    if (is !== 'rejected' || instead.length === 0 || !senders.isOwn(ref)) continue;
    const named = instead.flatMap(([settings, name]) =>
      all.filter(({ past }) => past.header.settings === settings).map((one) => ({ key: name, from: one })),
    );
    const standing = (...as: readonly Said['status'][]) =>
      named.find((one) => as.includes(one.from.past.rowStatuses.get(one.key)?.status ?? 'rejected'));
    const sent = standing('done') ?? standing('sent', 'unknown');
    if (sent) matches.set(ref, sent);
  }
}

const mayHaveDrafts = (one: Found): boolean =>
  someOf(one.past.rowStatuses.standing('drafting'), () => true) || !draftsIn(one).next().done;

function* draftsIn({ past }: Found) {
  for (const [row, rowStatus] of past.rowStatuses.standing('done'))
    if (rowStatus.status === 'done' && rowStatus.drafted !== undefined)
      yield { row, rowStatus, id: rowStatus.drafted, at: rowStatus.draftedAt };
}

/**
 * What the row of a draft is that neither waits nor was sent. One that is not rejected, or of which a part was sent, stays
 * with its draft, whatever file it stands in. `sent`: what was sent before it, of which it is the rest.
 */
function whatIs(draft: Draft, sent: number | null): Said | undefined {
  const { id, state, reason, error } = draft;
  const why = (said: string | null) => (said === null ? '' : ` (${said.replace(/\.$/u, '')})`);
  const isWhole = sent === null && !hasBegun(draft);
  if (state === 'rejected' && isWhole)
    return { status: 'rejected', error: `draft ${id} was rejected by a person${why(reason)}` };
  const rest = sent === null ? `the rest of draft ${id}` : `it is sent, but draft ${id} with what follows`;
  const named = isWhole ? `draft ${id}` : rest;
  const stays = { status: 'done', id: sent, ...draftOf(draft) } as const;
  const look = `svc drafts show ${id}`;
  if (state === 'rejected') return { ...stays, error: `${named} was rejected by a person${why(reason)}: ${look}` };
  if (state === 'refused') return { ...stays, error: `${named} was refused by the service${why(error)}: ${look}` };
  if (state !== 'unknown') return undefined;
  return { ...stays, doubt: true, error: `${named} may or may not have been sent: ${look}` };
}
