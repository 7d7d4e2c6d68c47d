import type { Fields } from '../text/record.ts';
import type { View } from './view.ts';

/** What was done, said in notes alone; programs get it as a record. */
export const onlyNotes = (record: Fields, notes: readonly string[]): View => ({
  data: { shape: 'record', record },
  human: () => '',
  plain: () => '',
  notes,
});
