import { lengthOf } from '../api/fields.ts';
import type { Values } from '../command/command.ts';
import { param } from '../command/param.ts';
import type { Settings } from '../config/settings.ts';
import { Failure } from '../errors.ts';
import { mapFlag, readingFlags } from '../tabular/flags.ts';
import type { Dedupe } from './duplicates.ts';

/** Spelled out here: every command of a group loads its flags, and the rows' rules would come along. */
const dedupes = ['first', 'merge', 'error'] as const satisfies readonly Dedupe[];

/** The flags that `contacts sync` and `lists import` share. */
export const importFlags = {
  ...mapFlag,
  metadata: param.pairs('Own data for every row that lacks the key'),
  skip: param.texts('Leave out rows with that value, for example "Status=unsubscribed"', {
    placeholder: 'COLUMN=VALUE',
  }),
  only: param.texts('Send only rows with that value; several of one column are alternatives', {
    placeholder: 'COLUMN=VALUE',
  }),
  ...readingFlags,
  phone_country: param.text('Read phones without a country code as numbers of this country, for example FR', {
    placeholder: 'COUNTRY',
  }),
  dedupe: param.choice(
    'Rows with one email: send the first, merge them, or report the others (default: all are sent)',
    dedupes,
  ),
  strict_phone: param.toggle('Reject rows whose phone the service would ignore'),
  dry_run: param.toggle('Show what would be sent and every problem; send nothing'),
  concurrency: param.integer('Calls in flight at most (default 4)', { min: 1, max: 32 }),
  restart: param.toggle('Start from scratch instead of resuming an earlier run'),
  report: param.output('Write the report as JSON to a file'),
  rejects: param.output('Write the rejected rows to a CSV file, to be fixed and synced again'),
  annotate: param.choice('Mark the lines of bad rows in a pull request; for a file of the repository', ['github']),
} as const;

/** syncContacts alone takes tags. */
export const tagFlags = {
  tag: { ...param.texts('A tag for every row'), parse: tagsOf },
  tag_separator: param.text('Separates the tags in a cell (default ;), or none: each cell is one tag', {
    takesBlanks: true,
    offers: ['none'],
  }),
} as const;

export type ImportFlags = Values<typeof importFlags> & Partial<Values<typeof tagFlags>>;

/** What was typed. */
export type Wish = { readonly file: string; readonly flags: ImportFlags; readonly settings: Settings };

function tagsOf(texts: readonly string[], flag: string): readonly string[] {
  const tags = texts.map((text) => text.trim());
  for (const tag of tags) {
    if (tag === '') throw new Failure('usage', `${flag} must not be empty.`);
    if (lengthOf(tag) > 50) throw new Failure('usage', `${flag} may have at most 50 characters: "${tag}".`);
  }
  return tags;
}
