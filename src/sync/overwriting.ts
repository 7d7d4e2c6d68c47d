import { updateContact } from '../api/contacts.ts';
import { columnNames, nameKey } from '../command/row.ts';
import { typeable } from '../config/advice.ts';
import { columnName } from '../tabular/columns.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Wish } from './flags.ts';
import type { Plan } from './plan.ts';

/**
 * The command that overwrites what contacts had already, as it can be typed: with the columns that were sent, and no
 * others. Its help where it would send other rows or other texts, or cannot read the file again.
 */
export function overwriting(plan: Plan, { file, flags, settings }: Wish): string {
  const { skip, only, dedupe } = flags;
  const isOther = skip.length > 0 || only.length > 0 || dedupe !== undefined || hasOtherTexts(plan);
  if (file === '-' || isOther) return 'svc contacts update --help';
  const { delimiter, encoding, skip_lines: skipLines, no_header: noHeader } = flags;
  const words = [
    `svc contacts update --from ${shellWord(file.startsWith('-') ? `./${file}` : file)} --match email`,
    ...(delimiter === undefined ? [] : ['--delimiter', delimiter === '\t' ? 'tab' : shellWord(delimiter)]),
    ...(encoding === undefined ? [] : ['--encoding', shellWord(encoding)]),
    ...(skipLines === undefined ? [] : ['--skip-lines', String(skipLines)]),
    ...(noHeader ? ['--no-header'] : []),
  ];
  // A line for each, so that no terminal breaks one inside of its quotes.
  return typeable([words.join(' '), ...mapsOf(plan)].join(' \\\n  '), settings.carried);
}

/** The rows of a file send their cells as they are, and one with a phone that cannot be read is refused. */
function hasOtherTexts({ phones, findings: { phonesRead, severalEmails, textsMoved } }: Plan): boolean {
  const { ignored, national, guessed, doubtful } = phones;
  const doubted = ignored.count + national.count + guessed.count + doubtful.count;
  return phonesRead + severalEmails.count + textsMoved + doubted > 0;
}

function mapsOf({ mapping: { columns, fallbacks, unused }, table: { headers } }: Plan): string[] {
  const known = columnNames({ operation: updateContact });
  const isKnown = (header: string) => known.has(nameKey(header));
  // A name of a column has nothing in it that a shell reads; a field of metadata may have been typed in any way.
  const map = (index: number, to: string) => {
    const wish = `${columnName(headers, index)}=${to}`;
    return `--map ${/^[\w.-]+$/u.test(to) ? `"${wish}"` : shellWord(wish)}`;
  };
  const sent = columns.flatMap(({ index, header, to }) => {
    // They are only added, so none was kept.
    if (to === 'tags') return isKnown(header) ? [map(index, 'ignore')] : [];
    return nameKey(header) === nameKey(to) || header === to ? [] : [map(index, to)];
  });
  const others = [...fallbacks, ...unused].filter(({ header }) => isKnown(header));
  return [...sent, ...others.map(({ index }) => map(index, 'ignore'))];
}
