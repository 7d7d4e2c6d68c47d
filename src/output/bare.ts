import type { View } from './view.ts';

/** One value or one text, as people take it into `$(…)` or a file; the record is for those who ask for JSON. */
export const bare = (record: unknown, text: string): View => ({
  data: { shape: 'record', record },
  read: true,
  isBare: true,
  human: () => text,
  plain: () => text,
});
