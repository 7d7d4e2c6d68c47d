import { Failure } from '../errors.ts';

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

/** `--priority high` is 3. Text that is no word goes on as it is. */
export function priorityIn(text: string, flag: string): string {
  const word = text.trim().toLowerCase();
  if (Object.hasOwn(priorities, word)) return String(priorities[word]);
  if (!/^[a-z]/u.test(word)) return text;
  throw new Failure(
    'usage',
    `${flag} must be 0 (lowest) to 4 (highest), or one of none, low, normal, high and urgent, not "${text}".`,
  );
}
