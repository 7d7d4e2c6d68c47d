import type { Operation } from '../../api/operation.ts';
import { type Fields, fieldsIn, isRecord, ownOf } from '../../text/record.ts';
import { short } from '../../text/short.ts';
import {
  isSameEmail,
  isSameLabels,
  isSameRendered,
  isSameText,
  isSameTime,
  isSameUrl,
  isSameValue,
  momentOf,
} from './agree.ts';
import { rowsSent } from './agree-contact.ts';
import { isCount } from './page-meta.ts';

type About = Pick<Operation, 'safety' | 'answer' | 'makes' | 'rows' | 'counts' | 'asMade'>;
type IsSame = (shown: unknown, sent: unknown, record: Fields) => boolean;

/** Fields whose value the service may write in another way. The content of an entry comes back as HTML: only a look compares it. */
export const waysToAgree: Readonly<Record<string, IsSame>> = {
  email: isSameEmail,
  target_url: isSameUrl,
  website: isSameUrl,
  due_at: isSameTime,
  // Of a draft there is none (service.md#changelog). Taken away, it is the time of publishing: of a published entry now.
  published_at: (shown, sent, { status, updated_at }) =>
    (shown === null && status === 'draft') || (sent === null ? isNow(shown, updated_at) : isSameTime(shown, sent)),
  labels: isSameLabels,
  body: isSameRendered,
  description: isSameRendered,
};

/** None, or the moment at which the record was changed; where it does not say when that was, nobody knows. */
const isNow = (shown: unknown, changed: unknown): boolean =>
  shown === null || typeof changed !== 'string' || Math.abs(momentOf(shown) - momentOf(changed)) <= 60_000;

/**
 * Whether a success surely answers another write than this one: a field that was sent has another value in it, one that
 * was not is otherwise than the service makes it, it has more or fewer records than were sent, or counts that cannot be. What an answer does not show is not compared. After an
 * update a record may hold what somebody else wrote a moment later: there the id counts (`showsOther`), and a value that is
 * another one is read once more (`shownOtherwise`).
 */
export function answeredOtherwise(operation: About, body: unknown, json: unknown): boolean {
  const { safety, counts, asMade } = operation;
  if (counts) return !areCountsOf(rowsSent(fieldsIn(body)).length, fieldsIn(json));
  if (safety !== 'verify' && safety !== 'once') return false;
  const { sent, records } = inTurn(operation, body, json);
  if (records.length !== sent.length) return true;
  return sent.some(
    (fields, at) => otherField(records[at] ?? {}, fields) !== undefined || isNotAsMade(asMade, records[at], fields),
  );
}

/** What an answer shows otherwise than it was sent, as `due_at "2027-01-02T00:00:00Z"`: the first field; undefined where none. */
export function otherThanSent(operation: About, body: unknown, json: unknown): string | undefined {
  const { sent, records } = inTurn(operation, body, json);
  for (const [at, fields] of sent.entries()) {
    const shown = records[at] ?? {};
    const name = otherField(shown, fields);
    if (name !== undefined) return `${name} ${short(JSON.stringify(shownValue(shown, name)))}`;
  }
  return undefined;
}

/** The records that were sent, and those that the answer shows, each in the place of its own. */
function inTurn({ answer, makes, rows }: About, body: unknown, json: unknown) {
  // A message stands beside how its conversation is handled, so there the answer has no key of its own.
  const key = answer.key ?? (makes && makes.length > 1 ? makes[0] : undefined);
  const shown = key === undefined ? json : fieldsIn(json)[key];
  return { sent: rows ? rowsSent(fieldsIn(body)) : [fieldsIn(body)], records: [shown].flat().map(fieldsIn) };
}

/** Of fields that were not sent. */
function isNotAsMade(asMade: Operation['asMade'] = {}, shown: Fields = {}, sent: Fields): boolean {
  return Object.entries(asMade).some(([name, made]) => {
    const there = shown[name];
    if (there === undefined || (sent[name] ?? undefined) !== undefined) return false;
    return 'is' in made ? there !== made.is : made.isNone.some((one) => one === there);
  });
}

/** What an answer shows as a record of its own where its id was sent. */
const shownInside: Readonly<Record<string, (shown: Fields) => unknown>> = {
  contact_id: ({ contact }) => (contact === null ? null : fieldsIn(contact).contact_id),
  category_id: ({ category }) => (category === null ? null : fieldsIn(category).id),
};

/** The value of a field as an answer shows it; undefined where it does not. */
export const shownValue = (shown: Fields, name: string): unknown =>
  ownOf(shown, name) ?? ownOf(shownInside, name)?.(shown);

function otherField(shown: Fields, sent: Fields): string | undefined {
  const [name] =
    Object.entries(sent).find(([name, value]) => {
      const there = shownValue(shown, name) ?? undefined;
      if (there === undefined || value === undefined || isRecord(there)) return false;
      const isSame = ownOf(waysToAgree, name) ?? (typeof value === 'string' ? isSameText : isSameValue);
      return !isSame(there, value, shown);
    }) ?? [];
  return name;
}

/** Every row is counted once at most. What the counts leave out is not done; what they add is not ours. */
function areCountsOf(rows: number, { created = 0, updated = 0, errors }: Fields): boolean {
  const named = refusedIn(errors);
  if (!isCount(created) || !isCount(updated) || !named?.every((at) => isCount(at) && at < rows)) return false;
  return created + updated + new Set(named).size <= rows;
}

/** The positions that are refused; undefined where it is no list. PHP answers with an empty object in place of an empty list. */
function refusedIn(errors: unknown): unknown[] | undefined {
  if (Array.isArray(errors)) return errors.map((one) => fieldsIn(one).index);
  const isNone = errors === undefined || errors === null || (isRecord(errors) && Object.keys(errors).length === 0);
  return isNone ? [] : undefined;
}
