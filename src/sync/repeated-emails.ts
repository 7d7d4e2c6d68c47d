import { examplesOf, newSeen } from '../batch/seen.ts';
import { counted, number } from '../text/number.ts';
import type { Row } from './rows.ts';

/** How many rows are compared: their room is fixed, so that a file of any length takes the same memory. */
const mostRows = 100_000;

/** Which emails more than one row has. */
export type RepeatedEmails = {
  add(row: Row): void;
  /** What to say of them; nothing where each row has its own. */
  notes(): string[];
};

/**
 * An email is kept as 53 bits of a hash, so of 100,000 two are taken for one in about one file of 2,000,000: enough for a note, and for
 * nothing that decides about a row.
 */
export function repeatedEmails(most = mostRows): RepeatedEmails {
  const again = newSeen();
  let rows = 0;
  /** Open addressing. A place holds a hash, its negative once the email was counted, and 0 for none. */
  let table: Float64Array | undefined;
  return {
    add({ line, contact: { email } }) {
      if (++rows > most) return;
      table ??= new Float64Array(2 ** Math.ceil(Math.log2(most * 1.5)));
      const hash = hashOf(email);
      const mask = table.length - 1;
      let at = hash & mask;
      while (table[at] !== 0 && Math.abs(table[at] ?? 0) !== hash) at = (at + 1) & mask;
      if (table[at] === hash) again.add(line, email);
      table[at] = table[at] === 0 ? hash : -hash;
    },
    notes() {
      if (again.count === 0) return [];
      const where = rows > most ? ` among the first ${number(most)} rows` : '';
      const are = again.count === 1 ? 'is' : 'are';
      return [
        `${counted(again.count, 'email')} ${are} in more than one row${where} (${examplesOf(again)}). All of these rows are sent, in the file's order; --dedupe changes that.`,
      ];
    },
  };
}

/** Small letters and capitals differ in this bit alone. */
const caseBit = 32;

/** 53 bits, never 0; case counts as little as where rows are told apart. */
function hashOf(email: string): number {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let at = 0; at < email.length; at++) {
    const code = email.charCodeAt(at) | caseBit;
    low = Math.imul(low ^ code, 0x85ebca6b);
    high = Math.imul(high ^ code, 0xc2b2ae35);
  }
  low = Math.imul(low ^ (low >>> 16), 0x9e3779b1) ^ (high >>> 13);
  high = Math.imul(high ^ (high >>> 16), 0x27d4eb2f) ^ (low >>> 13);
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}
