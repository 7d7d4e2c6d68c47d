import { phoneNotes } from '../batch/phone-notes.ts';
import { examplesOf } from '../batch/seen.ts';
import { columnName, plain } from '../tabular/columns.ts';
import { footerNotes } from '../tabular/footer.ts';
import { preambleNotes } from '../tabular/header.ts';
import { firstOf } from '../text/first-of.ts';
import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { type FilterFlags, filterColumns } from './filters.ts';
import type { Mapping, Shape } from './mapping.ts';
import { flagsFor } from './marks.ts';
import { leftOutNote } from './phone-holders.ts';
import type { Plan } from './plan.ts';

/** What a first look at the file has to say, before anything is sent. */
export function planNotes(plan: Plan, shape: Shape, filters: FilterFlags): string[] {
  const { severalEmails } = plan.findings;
  return [
    ...preambleNotes(plan.table),
    ...footerNotes(plan.table.footer),
    ...unusedNotes(plan, shape, filterColumns(filters, plan.table.headers)),
    ...groupNotes(plan),
    ...fullNameNotes(plan),
    ...wholeNameNotes(plan, shape),
    ...(severalEmails.count === 0
      ? []
      : [
          `Of several addresses in a cell the first is taken: ${counted(severalEmails.count, 'row')} (${examplesOf(severalEmails)}).`,
        ]),
    ...phoneNotes(plan.phones, { country: plan.phoneCountry, unread: 'ignore' }),
    ...leftOutNote(plan.holders?.leftOut() ?? [], 'rows'),
    ...markNotes(plan),
    ...plan.repeated.notes(),
    ...(plan.leftOut > 0
      ? [`Left out by --dedupe first: ${counted(plan.leftOut, 'row')} with an email of an earlier one.`]
      : []),
    ...mergedNotes(plan, shape),
  ];
}

/** As the updates that they would have been by themselves; a list import does not tell those apart. */
function mergedNotes({ merged }: Plan, { isFoundByPhone }: Shape): string[] {
  if (merged === 0) return [];
  const counting = isFoundByPhone ? '' : ', counted as updated';
  return [`Merged by --dedupe merge: ${counted(merged, 'row')} into an earlier one with the same email${counting}.`];
}

/** Google's own groups begin with a star; a tag of one would only be in the way, and cannot be taken off again. */
const groupNotes = ({ findings: { systemGroups } }: Plan): string[] =>
  systemGroups.size === 0
    ? []
    : [
        `Not sent as tags: ${[...systemGroups].map((group) => `"${sanitize(group)}"`).join(', ')}, groups of the program that wrote the file.`,
      ];

const mostNames = 12;

/** A column by which rows are left out was not forgotten. */
function unusedNotes({ mapping, table }: Plan, shape: Shape, filtering: ReadonlySet<number>): string[] {
  const unused = mapping.unused.filter(({ index }) => !filtering.has(index));
  if (unused.length === 0) return [];
  const names = unused.map(({ header }) => sanitize(header));
  const notes = [`Columns that are not sent: ${firstOf(names, mostNames)}.`];
  const isTags = (header: string) => !shape.fields.includes('tags') && /^(?:tags?|labels?)$/iu.test(header);
  const tags = unused.find(({ header }) => isTags(header));
  if (tags) notes.push(`"${sanitize(tags.header)}" is ignored: a list import takes no tags; svc contacts sync does.`);
  const prefix = unused.find(({ header }) => lastNamePrefix.test(header.trim()));
  if (prefix)
    notes.push(
      `"${sanitize(prefix.header)}" belongs before the last name, and svc joins no columns: put both into one column of the file first.`,
    );
  const other = unused.find((column) => column !== tags);
  if (other) {
    const name = columnName(table.headers, other.index);
    notes.push(`To send a column as own data: --map "${name}=metadata.${keyOf(other.header)}"`);
  }
  return notes;
}

/** `van den` of `van den Berg`, in a column of its own. */
const lastNamePrefix =
  /^(?:tussenvoegsels?|voorvoegsels?|(?:last|sur)[ _-]?name[ _-]?prefix|namenszusatz|namensvorsatz)$/iu;

const keyOf = (header: string): string =>
  header
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/gu, '') || 'key';

/** In French, "Nom" is the last name beside "Prénom", and without it often both. */
function fullNameNotes({ mapping: { columns }, table }: Plan): string[] {
  const column = columns.find(({ to, header }) => to === 'last_name' && plain(header) === 'nom');
  if (!column || columns.some(({ to }) => to === 'name')) return [];
  const example = table.examples.map((cells) => cells[column.index]?.trim() ?? '').find((text) => text.includes(' '));
  if (example === undefined) return [];
  const name = columnName(table.headers, column.index);
  return [`"${name}" is sent as the last name ("${sanitize(example)}"). If it is the whole name: --map "${name}=name"`];
}

const saysWhole = /full|whole|complet|vollst|volledig/iu;

/** A program that has whole names in one column: the service keeps the two apart, and nothing fills the last name. */
function wholeNameNotes({ mapping: { columns, fallbacks }, table }: Plan, shape: Shape): string[] {
  const column = columns.find(({ to }) => to === 'name');
  const hasLast = [...columns, ...fallbacks].some(({ to }) => to === 'last_name');
  if (!column || hasLast || !shape.fields.includes('last_name')) return [];
  const names = table.examples.map((cells) => cells[column.index]?.trim() ?? '').filter((text) => text !== '');
  const whole = names.filter((text) => /\p{L},?[ \u00A0]+\p{L}/u.test(text));
  const isSaid = whole.length > 0 && saysWhole.test(column.header);
  if (!isSaid && whole.length * 2 <= names.length) return [];
  const name = columnName(table.headers, column.index);
  return [
    `"${name}" seems to hold whole names ("${sanitize(whole[0] ?? '')}"): all of each goes into the first name, and the last name stays blank. To have the two apart, split the column in the file.`,
  ];
}

const markNotes = ({ marks, table: { headers } }: Plan): string[] =>
  marks.map((mark) => {
    const name = sanitize(headers[mark.index]?.trim() ?? '');
    const values = mark.isAnyValue
      ? 'filled'
      : mark.values
          .slice(0, 3)
          .map((value) => `"${sanitize(value)}"`)
          .join(', ') + (mark.values.length > 3 ? ', …' : '');
    const rows = counted(mark.rows, 'row');
    const flags = flagsFor(mark, headers);
    const how = flags === undefined ? 'They are sent unless the file leaves them out.' : `To leave them out: ${flags}`;
    return `"${name}" marks people who unsubscribed or cannot be reached: ${values} in ${rows}. ${how}`;
  });

/** Where sending would guess at tags, which this API cannot take off again. */
export function tagsQuestion({
  findings: { doubtfulTags },
  mapping,
}: Plan): { fact: string; hint: string } | undefined {
  if (doubtfulTags.size === 0) return undefined;
  const most = [...doubtfulTags].toSorted(([, a], [, b]) => b.count - a.count);
  const held = most.map(([separator, seen]) => `"${separator}" in ${counted(seen.count, 'row')} (${examplesOf(seen)})`);
  const ways = [...doubtfulTags.keys()].map((one) => `--tag-separator "${one}"`);
  return {
    fact: `${tagColumns(mapping)} holds ${held.join(', and ')}: one tag, or several?`,
    hint: `Tags cannot be taken off again. To split them: ${sanitize(ways.join(', or '))}. To keep each cell as one tag: --tag-separator none`,
  };
}

const tagColumns = ({ columns }: Mapping): string =>
  columns
    .filter(({ to }) => to === 'tags')
    .map(({ header, index }) => `"${sanitize(header) || `#${index + 1}`}"`)
    .join(', ');
