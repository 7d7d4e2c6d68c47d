import { examplesOf, newSeen } from '../batch/seen.ts';
import { detached } from '../text/detached.ts';
import { counted, number } from '../text/number.ts';
import { emailKey, type Row } from './rows.ts';

/** How many rows are compared: a file of any length takes the same memory. */
const mostRows = 50_000;

/** Which emails more than one row has. */
export function repeatedEmails(most = mostRows) {
  const [once, repeated] = [new Set<string>(), new Set<string>()];
  const again = newSeen();
  let rows = 0;
  return {
    add({ line, contact }: Row): void {
      if (++rows > most) return;
      const key = detached(emailKey(contact));
      if (!once.has(key)) once.add(key);
      else if (!repeated.has(key)) {
        repeated.add(key);
        again.add(line, contact.email);
      }
    },
    /** What to say of them; nothing where each row has its own. */
    notes(): string[] {
      if (again.count === 0) return [];
      const where = rows > most ? ` among the first ${number(most)} that are sent` : '';
      const are = again.count === 1 ? 'is' : 'are';
      return [
        `${counted(again.count, 'email')} ${are} in more than one row${where} (${examplesOf(again)}). All of these rows are sent, in the file's order; --dedupe changes that.`,
      ];
    },
  };
}
