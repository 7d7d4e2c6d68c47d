import type { Wording } from '../../batch/journal-folder.ts';
import { type Finished, prune } from '../../batch/journal-prune.ts';
import { forgetWitness, newWitness } from '../../disk/lock/witness.ts';
import { someOf } from '../../text/each.ts';
import { noteBegun } from '../journal/claims.ts';
import { isUnsettled } from '../journal/ended-table.ts';
import type { Header, Renamed, RowLine, RowStatus, RunLine } from '../journal/lines.ts';
import { batchOf, type Found, keysOf } from '../journal/on-disk.ts';
import { type Journal, openJournal } from '../journal/open-journal.ts';
import { journalReader, lineChecker } from '../journal/reader.ts';
import { type OpenRowStatuses, rowStatusTable } from '../journal/row-status-table.ts';
import { journalText, lineText, mark, shortLines } from '../journal/text.ts';
import { append, close, type Held, type Opening } from '../journal/writing.ts';
import { isRepeatable, type Plan } from '../rows/plan.ts';
import type { Chosen } from './choose.ts';
import { asWritten, draftOf, fateOf } from './drafted.ts';
import type { EarlierRuns } from './earlier-runs.ts';
import { otherNames } from './match-table.ts';

export const wording: Wording = {
  doing: 'sending the rows of this file',
  again: 'it goes on.',
  journal: 'this file',
  earlier: 'an earlier run',
  damagedHint: (path) =>
    `Nothing was sent now, and svc cannot tell which rows that run sent. Look in the service. Then remove the journal, and svc takes these rows for new ones: rm '${path}'${path.endsWith('.rows') ? '' : ` '${path.replace(/\.jsonl$/u, '.rows')}'`}`,
};

/** Goes on in a journal, or begins one. */
export async function beginJournal(opening: Opening, beginning: EarlierRuns): Promise<Journal> {
  const { folder, clock, lock, identity, plan, present } = opening;
  const { own, path, chosen, number, replaces } = beginning;
  const header = own?.past.header.svc_bulk === 2 ? own.past.header : newHeader(opening, own?.past.header.started_at);
  const at = clock.now().toISOString();
  const again = chosen.voided.map((voided): RowLine => ({ again: voided }));
  const restarted: RowLine[] = chosen.restarted.rows.length > 0 ? [{ restart: chosen.restarted }] : [];
  const isBegun = header === own?.past.header;
  if (!isBegun) {
    const told = {
      header,
      run: { at, number, content: plan.content },
      others: [...again, ...restarted],
      rowStatuses: formerRowStatuses(own),
    };
    await folder.begin(path, journalText(shortLines(told)));
    await tidy(opening, path);
  }
  const log = await folder.open(path, {
    take: lineChecker(),
    mark,
    room: 'ahead',
    deleted: 'restore',
    held: lock,
  });
  const witness = present.boot === undefined ? undefined : await newWitness(log.size(), path);
  const run: RunLine = {
    ...{ at, number, file: identity.file ?? null, content: plan.content, whole: own?.past.isWhole ?? false },
    ...(isRepeatable(plan) ? {} : { shapes: plan.shapes }),
    ...(beginning.passedOver.length > 0 && { passedOver: beginning.passedOver }),
    ...(witness && { boot: present.boot, witness: witness.name }),
  };
  const vanishes = {
    whenEmpty: own === undefined && replaces === undefined && restarted.length === 0,
    whenFinished: isRepeatable(plan) && !tellsOfDrafts(beginning),
  };
  const held: Held = {
    opening,
    path,
    log,
    witness,
    header,
    run,
    vanishes,
    rowStatuses: rowStatusesOf(beginning, plan),
    again: chosen.namesOf,
    mayGo: chosen.again.has,
    copies: beginning.copies,
    // What is to be sent once more is other work, also for the run that goes on with it.
    batch: batchOf(path, header.started_at, beginsOther(chosen) ? at : own?.past.voidedAt),
    failed: undefined,
    untold: [],
  };
  try {
    await append(held, { run });
    // What goes again, or has another name from now on, is said behind them.
    for (const line of untoldDrafts(beginning)) await append(held, line);
    for (const line of isBegun ? again : []) await append(held, line);
    for (const line of renamedIn(beginning, header.settings)) await append(held, line);
    await folder.onDisk(() => noteBegun(path));
    if (own?.past.witness !== undefined) await forgetWitness(own.past.witness);
  } catch (error) {
    await close(held);
    throw error;
  }
  return openJournal(held, own?.past);
}

/** What an earlier --restart began, and this run goes on with, is its work. */
const beginsOther = (chosen: Chosen): boolean => chosen.voided.length > 0 || (chosen.isAsked && chosen.again.size > 0);

/** Drafts that a killed run kept before it said so. */
function* untoldDrafts({ own, drafted }: EarlierRuns): Generator<RowLine> {
  if (!own) return;
  for (const [row, draft] of drafted.get(own)?.untold ?? []) {
    const line = own.past.rowStatuses.get(row)?.line ?? 0;
    yield { done: { row, line, id: null, ...draftOf(draft), requests: 0, ms: 0 } };
  }
}

/** Whether it holds rows that became drafts, or says that such rows of another journal may go again. */
function tellsOfDrafts({ own, drafted, chosen }: EarlierRuns): boolean {
  if (drafted.size > 0 && (chosen.voided.length > 0 || chosen.again.size > 0)) return true;
  if (own === undefined) return false;
  return drafted.has(own) || someOf(own.past.rowStatuses.standing('done'), ([, rowStatus]) => 'drafted' in rowStatus);
}

function newHeader({ identity, clock }: Opening, begun: string | undefined): Header {
  const { command, file = null } = identity;
  const { scope, profile, settings } = keysOf(identity);
  const started_at = begun ?? clock.now().toISOString();
  return { svc_bulk: 2, command, file, scope, profile, settings, started_at };
}

/** Of a journal of version 0.1.0, which calls a row by its request. */
function* formerRowStatuses(own: Found | undefined): Generator<readonly [row: string, rowStatus: RowStatus]> {
  for (const [key, rowStatus] of own?.past.rowStatuses ?? [])
    yield [key, { ...rowStatus, is: key.replace(/~\d+$/u, '') }];
}

/** Rows that the journals call by another name, from now on by theirs. */
function* renamedIn({ chosen: { matches, sentBy }, drafted }: EarlierRuns, settings: string): Generator<RowLine> {
  let rows: Renamed[] = [];
  for (const [row, match] of matches) {
    const { key, from } = match;
    // What was sent before a draft that a person rejected stands for the file that has sent it.
    if (key === row || fateOf(drafted, { from, key: row }) === 'rejected') continue;
    const its = from.past.header.settings;
    const sent = sentBy(row, match);
    rows.push({ was: key, row, fate: asWritten(drafted, match), ...(its !== settings && { settings: its }), sent });
    if (rows.length < mostRenamed) continue;
    yield { renamed: { rows } };
    rows = [];
  }
  if (rows.length > 0) yield { renamed: { rows } };
}

/** In one line: each is true for itself. */
const mostRenamed = 4096;

/** What this run knows: of rows of its own file what any journal says, of others what its own does. */
function rowStatusesOf({ own, chosen }: EarlierRuns, plan: Plan): OpenRowStatuses {
  const { refs } = plan;
  const taken = otherNames(chosen.matches, refs);
  const rowStatuses = rowStatusTable(refs);
  for (const [key, rowStatus] of own?.past.rowStatuses ?? [])
    if (!refs.has(key) && !taken.has(key)) rowStatuses.set(key, rowStatus);
  for (const [ref, { key, from, rowStatus }] of chosen.matches) {
    const { is: _, ...unsaid } = rowStatus;
    // What another journal says by the same name is not written into this one, so it says of a request itself which it is.
    rowStatuses.set(ref, from === own || key !== ref ? rowStatus : unsaid);
  }
  // Until it is answered well this time, it is what it was.
  for (const [ref, { rowStatus }] of isRepeatable(plan) ? [] : chosen.again) {
    const { is: _, ...unsaid } = rowStatus;
    if (isUnsettled(rowStatus)) rowStatuses.set(ref, unsaid);
  }
  return rowStatuses;
}

/** A journal that was begun is the moment to see which ones are too old. */
async function tidy({ folder, clock, identity, present }: Opening, written: string): Promise<void> {
  const finished = async (path: string): Promise<Finished | undefined> => {
    const lines = journalReader(present);
    // Of what cannot be read to its end nobody knows what came after the end of a run.
    const isRead = await folder.read(path, { take: lines.take, mark }).catch(() => false);
    return isRead ? lines.past()?.finished : undefined;
  };
  const date = async (path: string, now: Date): Promise<void> => {
    const log = await folder.open(path, { take: lineChecker(), mark });
    await log.append(lineText({ finished: { at: now.toISOString(), sure: true } })).finally(() => log.close());
  };
  const now = identity.account.isClockSure ? clock.now() : undefined;
  await prune({ folder: folder.path, written, now, finished, date }).catch(() => {});
}
