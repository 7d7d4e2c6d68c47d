import { placeIn } from '../../batch/places.ts';
import { type Body, columnNames, fieldsOfRow, nameKey, type RowOf } from '../../command/row.ts';
import { columnName, plain } from '../../tabular/columns.ts';
import { fieldOf } from '../../tabular/header-names.ts';
import { firstOf } from '../../text/first-of.ts';
import { listed } from '../../text/listed.ts';
import { nearest } from '../../text/near.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Template } from '../../text/template.ts';
import type { Columns } from './columns.ts';
import { namesSomebody, withRequester } from './requesters.ts';

/** What other systems call a field, the most telling first, as `plain` writes it. */
const words: Readonly<Record<string, readonly string[]>> = {
  subject: ['ticketsubject', 'title', 'summary', 'betreff', 'objet', 'asunto'],
  title: ['subject', 'name', 'headline'],
  description: ['ticketdescription', 'body', 'message', 'details', 'content', 'comment', 'beschreibung'],
  content: ['body', 'text', 'description', 'notes'],
  body: ['message', 'text', 'comment', 'reply', 'answer', 'response', 'note', 'content', 'description'],
  priority: ['prio', 'ticketpriority', 'urgency', 'prioritat'],
  status: ['ticketstatus', 'state', 'stage'],
  due_at: ['duedate', 'duebytime', 'dueby', 'due', 'dueon', 'duetime', 'deadline', 'fallig', 'falligam'],
  published_at: ['releasedate', 'publishdate', 'publishedon', 'date'],
};

/** A column that is called as what is written, `note`, holds that before any other: `answer` went to the customer. */
function wordsFor(field: string, { operation, text }: RowOf): readonly string[] {
  const all = words[field] ?? [];
  const [, name] = operation.command;
  return field === text && all.includes(name) ? [name, ...all.filter((word) => word !== name)] : all;
}

/** Words before the name of a field of the person who asks. */
const ofRequester = /^(?:requester|requestor|requestedby|reporter|customer|contact|sender|from)/u;

/** A column that nothing takes, and the field that it would fill. */
type Fit = { readonly at: number; readonly field: string };

/** Of columns that are not sent: which would fill a field that no column fills, by what other systems call it. */
function fitting(columns: Columns, { row, given }: Beside): readonly Fit[] {
  const later = laterFields(row);
  const own = Object.keys(fieldsOfRow(row)).flatMap((field): readonly Fit[] => {
    if (later.has(field)) return [];
    const named = wordsFor(field, row).map((word) => columns.names.findIndex((name) => plain(name) === word));
    const at = named.find((one) => one >= 0 && !columns.targets[one] && !isOfAddress(columns.names[one], columns));
    return at === undefined || field in (row.fixed ?? {}) ? [] : [{ at, field }];
  });
  const filled = filledBy(columns);
  const person = row.requester !== undefined && row.requester in given ? [] : personIn(columns, row);
  return [...own, ...person].filter(({ field }) => !filled.has(field));
}

/** In an address `State` is a part of the country. */
const isOfAddress = (name: string | undefined, { names }: Columns): boolean =>
  plain(name ?? '').endsWith('state') && names.some((other) => addressWord.test(plain(other)));

const addressWord =
  /(?:^|address|billing|shipping|mailing|home|work|company|contact)(?:city|town|zip|zipcode|postcode|postalcode|street|streetaddress|address1|addressline1|country|countrycode)$/u;

const filledBy = ({ targets }: Columns): ReadonlySet<string> =>
  new Set(targets.flatMap((target) => target?.field?.path ?? []));

const inPlace = ['email', 'name', 'last_name', 'phone', 'company', 'website', 'country'];

/** The requester of a ticket, or the fields of a contact itself; the email first. */
function personIn(columns: Columns, row: RowOf): readonly Fit[] {
  const { names, targets } = columns;
  const isOfTicket = row.requester !== undefined;
  const paths = new Set(columnNames(isOfTicket ? withRequester(row) : row).values());
  const ranked = names.flatMap((name, at) => {
    const match = targets[at] ? undefined : (isOfTicket ? fieldOfRequester : fieldOf)(name, names);
    const field = `${isOfTicket ? 'contact.' : ''}${match?.field}`;
    return match && paths.has(field) ? [{ at, field, rank: match.rank }] : [];
  });
  const inOrder = ranked.sort((a, b) => a.rank - b.rank);
  const fits = inPlace.flatMap((name) => inOrder.find(({ field }) => field.replace('contact.', '') === name) ?? []);
  const filled = filledBy(columns);
  if (!isOfTicket) return fits;
  if (row.requester !== undefined && filled.has(row.requester)) return [];
  // Nobody is found by a name alone.
  return filled.has('contact.email') || fits[0]?.field === 'contact.email' ? fits : [];
}

/** `Requester email` is an email, and `Requester` alone is a name. */
function fieldOfRequester(name: string, names: readonly string[]) {
  const rest = plain(name).replace(ofRequester, '');
  return fieldOf(rest === '' ? 'full name' : rest, names);
}

const mostNames = 12;

/** What a row gets from elsewhere. */
type Beside = {
  readonly row: RowOf;
  /** By flags, for every row. */
  readonly given: Body;
  /** What takes its text from the row. */
  readonly template: Template | undefined;
  /** --create-contacts is given. */
  readonly createsContacts: boolean;
};

/**
 * What becomes of the columns that fill nothing. Where some of them fit a field, the flags for those, as they can be typed.
 */
export function columnNotes(columns: Columns, beside: Beside): string[] {
  const open = openFields(columns, beside);
  const { unused: all, names } = columns;
  const taken = new Set(beside.template?.placeholders.map((name) => names[placeIn(names, name)]));
  const unused = all.filter((name) => !taken.has(name));
  const fits = open.length === 0 ? [] : fitting(columns, beside).filter(({ at }) => unused.includes(names[at] ?? ''));
  if (unused.length === 0) return [];
  const shown = unused.map((name) => sanitize(name) || '(no name)');
  const left = `Columns that are not sent: ${firstOf(shown, mostNames)}.`;
  const nobody = namesNobody(columns, beside) ? [noEmail] : [];
  if (fits.length > 0) return [left, ...hintFor(fits, names, beside).split('\n'), ...nobody];
  if (nobody.length > 0) return [left, ...nobody];
  const isUnused = (name: string, place: number) => unused.includes(name) && !columns.targets[place];
  // Any word may head a column: `seats` is no slip of `status`.
  const near = names.flatMap((name, place) => {
    const field = isUnused(name, place) ? nearest(nameKey(name), open, 1) : undefined;
    return field === undefined ? [] : [{ place, field }];
  });
  const [slip] = near;
  return [slip ? `${left} To send one: --map "${columnName(names, slip.place)}=${slip.field}"` : left];
}

/** A column may hold how a record was, and no wish. */
export function followNotes({ names, follow }: Columns): string[] {
  if (follow.length === 0) return [];
  const called = follow.map((at) => sanitize(names[at] ?? ''));
  const flags = follow.map((at) => `--map "${columnName(names, at)}=ignore"`);
  const isOne = follow.length === 1;
  return [
    `The ${isOne ? 'column' : 'columns'} ${listed(called)} ${isOne ? 'is' : 'are'} sent too, after the row itself. To leave ${isOne ? 'it' : 'them'} out: ${flags.join(' ')}`,
  ];
}

const noEmail =
  'Nobody is found without an email, so these tickets get no requester. With a column for it: --map "COLUMN=contact.email" --create-contacts';

/** Columns tell who asks, and none of them by what a contact is found by. */
function namesNobody({ names, targets }: Columns, { row, given }: Beside): boolean {
  const { requester } = row;
  if (requester === undefined || requester in given || namesSomebody(row, targets)) return false;
  const told = names.flatMap((name, at) => {
    const match = targets[at] || !ofRequester.test(plain(name)) ? undefined : fieldOfRequester(name, names);
    return match ? [match.field] : [];
  });
  return told.length > 0 && !told.includes('email');
}

/** What a column could still fill; of a reply with a template that is nothing. */
function openFields(columns: Columns, { row, given, template }: Beside): readonly string[] {
  const filled = filledBy(columns);
  const isOpen = (field: string) => !filled.has(field) && !(field in given) && !(field in (row.fixed ?? {}));
  // What may follow is named by whoever wants it: a column of another system is no order to change the ticket.
  const later = laterFields(row);
  return Object.keys(fieldsOfRow(row)).filter(
    (field) => isOpen(field) && !later.has(field) && !(template && field === row.text),
  );
}

function hintFor(fits: readonly Fit[], names: readonly string[], { createsContacts }: Beside): string {
  const isOfPerson = ({ field }: Fit) => field.startsWith('contact.');
  // Where a column has the email, the requester is known already.
  const isKnown = !fits.some(({ field }) => field === 'contact.email');
  const nameOf = ({ field }: Fit) =>
    isKnown ? field.replace('contact.', "the requester's ").replace('last_name', 'last name') : 'the requester';
  const fields = [...new Set(fits.map((fit) => (isOfPerson(fit) ? nameOf(fit) : fit.field)))];
  // With --create-contacts a column that is called as the field fills it by itself.
  const unnamed = fits.filter(({ at, field }) => names[at] !== field);
  const flags = unnamed.map(({ at, field }) => `--map "${columnName(names, at)}=${field}"`);
  if (fits.some(isOfPerson) && !createsContacts) flags.push('--create-contacts');
  // A line for each, so that no terminal breaks one inside of its quotes.
  const last = fields.pop();
  const named = fields.length === 0 ? last : `${fields.join(', ')} or ${last}`;
  const email = createsContacts ? undefined : fits.find(({ field }) => field === 'contact.email');
  const known = email && `\nWhere each of them is a contact already: --map "${columnName(names, email.at)}=contact"`;
  return `No column fills ${named} yet. To send what fits, add:\n  ${flags.join(' \\\n  ')}${known ?? ''}`;
}

const laterFields = ({ follows = [] }: RowOf): ReadonlySet<string> => new Set(follows.flatMap(({ fields }) => fields));
