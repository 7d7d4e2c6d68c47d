import { updateContact } from '../../api/contacts.ts';
import { loadPhones } from '../../batch/phone.ts';
import { noDoubts, phoneNotes } from '../../batch/phone-notes.ts';
import { type RowOf, bodyOf as schemaOf } from '../../command/row.ts';
import type { FileRow } from '../../tabular/rows.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Columns } from './columns.ts';
import type { MakeInput } from './inputs.ts';

type Watched = { readonly row: RowOf; readonly columns: Columns; readonly make: MakeInput };

/**
 * What the service may make of phones that are changed is not in their rows, and it refuses those that it cannot read. One
 * beside a country may be of that country.
 */
export async function watchingPhones({ row, columns, make }: Watched) {
  const hasPhones = columns.targets.some((target) => target?.field?.path === 'phone');
  if (!hasPhones || schemaOf(row) !== updateContact.body) return { make, notes: (): string[] => [] };
  const { judge } = await loadPhones();
  const doubts = noDoubts();
  let isOver = false;
  return {
    make(fileRow: FileRow) {
      const made = make(fileRow);
      const { phone, country } = 'input' in made && !isOver ? fieldsIn(made.input.body) : {};
      const verdict = typeof phone === 'string' ? judge(phone) : 'fine';
      const isOfCountry = country !== undefined && (verdict === 'national' || verdict === 'guessed');
      if (verdict !== 'fine' && !isOfCountry) doubts[verdict].add(fileRow.line, String(phone));
      return made;
    },
    /** What to say of the phones that were seen until then. */
    notes() {
      isOver = true;
      return phoneNotes(doubts, { unread: 'refuse' });
    },
  };
}
