import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import type { PhoneVerdict } from './phone.ts';
import { examplesOf, newSeen, type Seen } from './seen.ts';

/** The phones of a file that the service may read otherwise than meant, or not at all. */
export type DoubtedPhones = Readonly<Record<Exclude<PhoneVerdict, 'fine'>, Seen>>;

export const noDoubts = (): DoubtedPhones => ({
  guessed: newSeen(),
  national: newSeen(),
  doubtful: newSeen(),
  ignored: newSeen(),
});

type About = {
  /** --phone-country. */
  readonly country?: string | undefined;
  /** What the service does about one that it cannot read: leave it out of the contact, or refuse the row. */
  readonly unread: 'ignore' | 'refuse';
};

export function phoneNotes(phones: DoubtedPhones, { country, unread }: About): string[] {
  const { guessed, national, doubtful, ignored } = phones;
  const notes: string[] = [];
  if (ignored.count > 0) notes.push(`Warning: the service will ${unread} ${phonesOf(ignored)}.`);
  if (national.count + guessed.count > 0) {
    const of = [
      ...(national.count > 0 ? [`${unread === 'ignore' ? 'drop' : unread} ${phonesOf(national)}`] : []),
      ...(guessed.count > 0 ? [`read ${phonesOf(guessed)} as North American`] : []),
    ];
    const what = country
      ? `phones that are no numbers of ${sanitize(country).toUpperCase()}`
      : 'phones without a country code';
    notes.push(`Warning: ${what}. The service may ${of.join(', and ')}.`);
    if (!country && unread === 'ignore')
      notes.push('To read them as numbers of a country: --phone-country, with its two letters');
    if (unread === 'refuse') notes.push('Write them with + and the code of the country, as in +49 171 5550142.');
  }
  if (doubtful.count > 0)
    notes.push(`Warning: no such number can exist, and the service may ${unread} it: ${phonesOf(doubtful)}.`);
  return notes;
}

const phonesOf = (seen: Seen): string => `${counted(seen.count, 'phone')} (${examplesOf(seen)})`;
