import { Failure } from '../errors.ts';
import { listed } from '../text/listed.ts';
import { nearHint } from '../text/near.ts';

/** As people say them, and as Zendesk, Freshdesk and Zoho write them; `-` is none. */
export const priorities: Readonly<Record<string, number>> = {
  '-': 0,
  none: 0,
  low: 1,
  normal: 2,
  medium: 2,
  high: 3,
  urgent: 4,
};

/** What help and refusals name; the others are of other programs. */
export const usualPriorities: readonly string[] = ['none', 'low', 'normal', 'high', 'urgent'];
export const priorityWords = listed(usualPriorities, 'or');

/** `--priority high` is 3. Every other text but the numbers is refused with both. */
export function priorityIn(text: string, flag: string): string {
  const word = text.trim().toLowerCase();
  if (Object.hasOwn(priorities, word)) return String(priorities[word]);
  if (/^[0-4]$/u.test(word)) return word;
  throw new Failure('usage', `${flag} must be 0 (lowest) to 4 (highest), or ${priorityWords}, not "${text}".`, {
    hint: nearHint(word, Object.keys(priorities)),
  });
}
