import type { Style } from '../../output/view.ts';
import { cells, cut } from '../../screen/width.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { ageWords } from '../age.ts';
import { shownJob } from '../jobs.ts';
import { type KeyEntry, keys } from '../keys.ts';
import type { Job, Model } from '../model.ts';
import { blank, type Line, line, type Part, widthOf } from './parts.ts';

/** View, number, age of the copy, requests left in this minute, drafts that wait: from the left until there is no room. */
export function firstLine(model: Model): Line {
  const facts = factsOf(model);
  const parts: Part[] = [{ text: ` ${sanitize(titleOf(model))}`, style: 'bold' }];
  for (const { text, style } of facts) {
    const more: Part = { text: `  ${text}`, style: style ?? 'dim' };
    if (widthOf([...parts, more]) > model.size.columns) break;
    parts.push(more);
  }
  return parts;
}

const titleOf = ({ view, words }: Model): string => (words === undefined ? view : `search: ${words}`);

type Fact = { readonly text: string; readonly style?: Style };

/** What the first line tells, what matters most first. */
export function factsOf({ list, copy, drafts, left, marked, now }: Model): readonly Fact[] {
  const age = copy.at === undefined ? undefined : `copy ${ageWords(copy.at, now)} old`;
  return [
    ...(list.total === undefined ? [] : [{ text: String(list.total) }]),
    ...(marked.length > 0 ? [{ text: `${marked.length} marked`, style: 'cyan' as const }] : []),
    ...(age === undefined ? [] : [{ text: copy.isWhole ? age : `${age}, not whole` }]),
    ...(drafts > 0
      ? [{ text: `${counted(drafts, 'draft')} ${drafts === 1 ? 'waits' : 'wait'}`, style: 'orange' as const }]
      : []),
    ...(left === undefined ? [] : [{ text: `${left} requests left` }]),
    ...(copy.told === undefined ? [] : [{ text: sanitize(copy.told) }]),
  ];
}

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

/** The line above the keys: what is under way, held, done, refused or unknown. */
export function jobLine(model: Model): Line {
  const job = shownJob(model);
  if (!job) return blank;
  const [sign, style] = signs[job.state];
  const more = model.jobs.length > 1 ? ` (+${model.jobs.length - 1})` : '';
  const esc = ['refused', 'unknown', 'drafted'].includes(job.state) ? ' Esc' : '';
  const tail = `${more}${esc}`;
  const room = model.size.columns - cells(` ${sign} `) - cells(tail);
  const text = cut(sanitize(jobWords(job, model.now)), room);
  return [
    { text: ` ${sign} `, style },
    { text, ...(style !== 'dim' && { style }) },
    { text: tail, style: 'dim' },
  ];
}

/** In the order in which they are worth their room. */
const order = [
  'help',
  'reply',
  'take-back',
  'approve',
  'resolve',
  'open',
  'end',
  'snooze',
  'note',
  'template',
  'draft',
  'view',
  'search',
  'close',
  'reopen',
  'priority',
  'mark',
  'sides',
];

const rankOf = ({ act }: KeyEntry): number => (order.includes(act) ? order.indexOf(act) : order.length);

/** The keys that work here, as many as there is room for, in the order of the table. */
export function keyLine(model: Model): Line {
  const working = keys.filter((entry) => entry.brief !== undefined && entry.works(model));
  const kept = new Set<KeyEntry>();
  let used = 0;
  for (const entry of [...working].sort((a, b) => rankOf(a) - rankOf(b))) {
    const room = cells(entry.shown) + 1 + cells(entry.brief ?? '') + 2;
    if (used + room > model.size.columns) break;
    used += room;
    kept.add(entry);
  }
  const parts = working
    .filter((entry) => kept.has(entry))
    .flatMap(({ shown, brief = '' }): Part[] => [
      { text: ` ${shown}`, style: 'bold' },
      { text: ` ${brief} `, style: 'dim' },
    ]);
  return parts.length > 0 ? parts : line('');
}
