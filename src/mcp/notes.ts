import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Answer } from './answer.ts';
import { firstItems, mostCharacters } from './bounds.ts';
import { short } from './failure.ts';
import { fenced, sizeOf } from './inert.ts';

const mostNotes = 5;
/** For the line before them, and the one that counts the others. */
const aroundNotes = 300;

/**
 * What svc would tell a person beside the answer: such as that a copy of the request may still arrive. The last ones stay,
 * which say how it ended. A note may repeat what a customer chose, such as the name of a field: it is fenced as data is.
 */
export function withNotes(answer: Answer, notes: readonly string[], boundary: string): Answer {
  if (notes.length === 0) return answer;
  const newest = notes
    .slice(-mostNotes)
    .map((note) => short(sanitize(note)))
    .reverse();
  const kept = firstItems(newest, roomBeside(answer)).map(String).reverse();
  const more = notes.length - kept.length;
  const told = [...(more > 0 ? [`${counted(more, 'earlier note')} left out.`] : []), ...kept];
  return {
    ...answer,
    content: [...answer.content, { type: 'text', text: `svc says:\n${fenced(told.join('\n'), boundary)}` }],
    structuredContent: { ...answer.structuredContent, svc_says: told },
  };
}

function roomBeside({ content, structuredContent }: Answer): number {
  const letters = content.reduce((sum, { text }) => sum + text.length, 0);
  return mostCharacters - Math.max(letters, sizeOf(structuredContent)) - aroundNotes;
}
