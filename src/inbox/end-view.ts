import { Failure, interruption } from '../errors.ts';
import type { View } from '../output/view.ts';
import { howToSend } from '../sends/words.ts';
import { counted } from '../text/number.ts';
import type { Job, Model } from './model.ts';

function endWords({ state, told, draft }: Job): string {
  const seeing =
    draft === undefined ? 'it is not known whether it was done' : `see draft ${draft}: svc drafts show ${draft}`;
  if (state === 'held') return `${told}: not sent; ${seeing}`;
  if (state === 'sending') return `${told}: ${seeing}`;
  return state === 'drafted' && draft !== undefined ? `${told}. ${howToSend(draft)}` : told;
}

const unsureEnd = (count: number): Failure =>
  new Failure('unknown', `It is not known whether ${counted(count, 'write')} ${count === 1 ? 'was' : 'were'} done.`, {
    hint: 'To see what became of it, once it is known: svc audit list --outcome unknown',
  });

/** What was not read yet is told below the prompt: it would be gone with the screen. */
export function endOf(model: Model, reason: string | undefined): View {
  const open = model.jobs.filter(({ state }) => ['held', 'sending', 'drafted', 'refused', 'unknown'].includes(state));
  const notes = open.map(endWords);
  const data = { shape: 'nothing' as const };
  const unsure = open.filter(({ state }) => state === 'sending' || state === 'unknown').length;
  if (reason !== undefined && reason !== 'SIGINT')
    return { data, notes, failure: interruption({ reason: reason === 'closed' ? 'SIGHUP' : reason }) };
  return unsure === 0 ? { data, notes } : { data, notes, failure: unsureEnd(unsure) };
}
