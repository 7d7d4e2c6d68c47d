import type { Group, Likeness } from '../../answers/duplicates.ts';
import { atMost, wholeListFlags } from '../../command/at-most.ts';
import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param, withFallback } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import type { Column } from '../../output/view.ts';
import { nearHint } from '../../text/near.ts';
import { counted } from '../../text/number.ts';

const columns: readonly Column[] = [
  { path: 'ids', header: 'Contacts', rank: 1, as: 'id' },
  { path: 'by', header: 'Same', rank: 3, as: 'whole' },
  {
    path: 'same',
    header: 'Value',
    rank: 2,
    see: ({ same }: Group) => [...new Set(Object.values(same))].join(' · '),
  },
  { path: 'differs', header: 'Differs in', rank: 4, see: ({ differs }: Group) => Object.keys(differs) },
];

/** Written here too: the start of `contacts` loads nothing of the copy. */
const known = ['email', 'phone', 'name'] as const satisfies readonly Likeness[];

const fields = ['by', 'same', 'ids', 'differs', 'contacts'];

export const duplicateContacts = defineCommand({
  name: 'duplicates',
  summary: 'Contacts that look like one person, from the local copy',
  details:
    'Groups of records with the same email in any letter case, the same phone, or the same name and company, and the fields in which ' +
    'they differ; --json has the records too. The service cannot merge contacts: do that in the product.',
  flags: {
    by: withFallback(
      param.text('What to compare (default: email,phone,name)', {
        placeholder: 'FIELD,FIELD',
        commas: true,
        offers: known,
      }),
      'email,phone,name',
    ),
    ...wholeListFlags(),
    ...dbFlag,
  },
  needs: 'a copy of the account: svc mirror pull',
  prints: async () => fields,
  examples: ['svc contacts duplicates', 'svc contacts duplicates --by email --json'],
  async run(ctx, { flags, settings }) {
    const [{ askCopy }, { duplicates, likenesses }] = await Promise.all([
      import('../../answers/copy.ts'),
      import('../../answers/duplicates.ts'),
    ]);
    const by = likenessesIn(flags.by, likenesses);
    const asked = { db: flags.db, kinds: ['contacts'] as const };
    const { value, notes } = await askCopy(ctx, settings, asked, (sql, account) => duplicates(sql, account, by));
    const shown = atMost(value, flags.limit);
    return {
      data: {
        shape: 'list',
        records: shown.records,
        columns,
        fields,
        empty: 'No two contacts of the copy look like one person.',
      },
      read: true,
      notes:
        value.length === 0 ? notes : [`${counted(value.length, 'group')}. ${cannotMerge}`, ...shown.notes, ...notes],
    };
  },
});

const cannotMerge = 'The service cannot merge contacts: do that in the product.';

function likenessesIn(text: string, known: readonly Likeness[]): Likeness[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => !known.some((one) => one === name));
  if (unknown === undefined) return known.filter((one) => names.includes(one));
  throw new Failure('usage', `--by: contacts cannot be compared by "${unknown}".`, {
    hint: nearHint(unknown, known) ?? `By ${known.join(', ')}; several with commas.`,
  });
}
