import type { Style } from '../../output/view.ts';
import { cells, cut, wrap } from '../../screen/width.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shownJob } from '../jobs.ts';
import type { Job, Model } from '../model.ts';
import { blank, type Line } from './parts.ts';

const signs: Readonly<Record<Job['state'], readonly [sign: string, style: Style]>> = {
  held: ['…', 'cyan'],
  sending: ['…', 'cyan'],
  done: ['✓', 'green'],
  back: ['✓', 'green'],
  told: ['', 'dim'],
  drafted: ['✎', 'orange'],
  refused: ['✗', 'red'],
  unknown: ['?', 'red'],
};

/** What happens to what was asked for, in words. */
export function jobWords({ state, told, until = 0 }: Job, now: number): string {
  if (state === 'held') return `${told}: leaves in ${Math.max(0, Math.ceil((until - now) / 1000))} s. u takes it back`;
  return state === 'sending' ? `${told} …` : told;
}

/** What is told has room of its own, and leaves the list or the thread at least as much. */
const mostLines = ({ size }: Pick<Model, 'size'>): number => Math.max(1, Math.min(6, (size.rows - 2) >> 1));

/** Above the keys: what is under way, held, done, refused or unknown, in as many lines as it takes to read it whole. */
export function jobLines(model: Pick<Model, 'jobs' | 'now' | 'size'>): readonly Line[] {
  const job = shownJob(model);
  if (!job) return [blank];
  const [sign, style] = signs[job.state];
  const more = model.jobs.length > 1 ? ` (+${model.jobs.length - 1})` : '';
  const esc = ['refused', 'unknown', 'drafted'].includes(job.state) ? ' · Esc' : '';
  const tail = `${more}${esc}`;
  const first = ` ${sign} `;
  const room = Math.max(1, model.size.columns - cells(first) - cells(tail));
  const texts = atMost(mostLines(model), wrap(sanitize(jobWords(job, model.now)), room), room);
  return texts.map((text, at) => [
    { text: at === 0 ? first : ' '.repeat(cells(first)), style },
    { text, ...(style !== 'dim' && { style }) },
    ...(at === texts.length - 1 ? [{ text: tail, style: 'dim' as const }] : []),
  ]);
}

/** What is left out at the end is seen to be. */
function atMost(most: number, lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), cut(lines.slice(most - 1).join(' '), room)];
}
