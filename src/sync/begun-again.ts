import { listContacts, syncChunkSize } from '../api/contacts.ts';
import { refuseReset } from '../batch/begun-again.ts';
import { Failure, isInterruption } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { largestPage, list } from '../http/call/pages.ts';
import { lineCount } from './chunks.ts';
import type { Journal } from './journal.ts';
import { foldedEmail } from './phone-holders.ts';
import type { Plan } from './plan.ts';
import { chunksOf } from './run.ts';

/** Of the chunks that an earlier run had done, the people of so many of the last are looked for. */
const mostChunks = 4;

/** The newest contacts come first, so those of the earlier run are on the first pages as a rule. */
const mostRead = 20 * largestPage;

/**
 * A service that was reset under its address (a sandbox that was started again) has none of the contacts that the journal
 * calls done. Costs a request before a run goes on. Throws where none of those people is among all contacts; with `--yes` it
 * is said. What cannot be read, or is not read to its end, is not called gone.
 */
export async function refuseBegunAgain(service: Service, plan: Plan, { past }: Pick<Journal, 'past'>): Promise<void> {
  if (past.done.size === 0) return;
  const { people, rows } = await doneBefore(plan, past);
  if (people.size === 0 || !(await areGone(service, people))) return;
  const gone = { rows, file: plan.table.source.name, were: 'done', records: 'those contacts any more' } as const;
  refuseReset(service.ctx, gone, service.settings);
}

async function doneBefore(plan: Plan, past: Journal['past']) {
  const last: (readonly string[])[] = [];
  let rows = 0;
  for await (const chunk of chunksOf(plan, syncChunkSize)) {
    const done = past.done.get(chunk.number);
    // A row that the service refused is nowhere.
    if (!done || done.created + done.updated + done.synced === 0) continue;
    rows += lineCount(chunk);
    last.push(chunk.rows.map(({ contact }) => foldedEmail(contact.email)));
    if (last.length > mostChunks) last.shift();
  }
  return { people: new Set(last.flat()), rows };
}

async function areGone(service: Service, people: ReadonlySet<string>): Promise<boolean> {
  let read = 0;
  try {
    for await (const { email } of list(service, listContacts, {}, { all: true, isLeftEarly: true }).records) {
      if (people.has(foldedEmail(email))) return false;
      if (++read >= mostRead) return false;
    }
    return true;
  } catch (failure) {
    if (!(failure instanceof Failure) || isInterruption(failure)) throw failure;
    return false;
  }
}
