import type { Operation } from '../../api/operation.ts';
import { fieldsOf } from '../../api/shape.ts';
import { mayBeCountry } from '../../text/country.ts';
import { type Fields, fieldsIn, isRecord, ownOf } from '../../text/record.ts';
import { short } from '../../text/short.ts';
import { isSameText, isSameUrl, isSameValue, isStoredPhone, lowered } from './agree.ts';
import { shownValue, waysToAgree } from './answered-otherwise.ts';

type About = Pick<Operation, 'safety' | 'answer' | 'deletes' | 'body' | 'sets' | 'namesChanged'>;

/** Where the service may have kept what was sent in its own form. */
const keptOtherwise: typeof waysToAgree = {
  ...waysToAgree,
  website: (shown, sent) =>
    isSameUrl(shown, sent) || isSameUrl(shown, `https://${sent}`) || isSameUrl(shown, `http://${sent}`),
  phone: isStoredPhone,
  country: (shown, sent) => isSameText(lowered(shown), lowered(sent)) || mayBeShownAs(sent, shown),
};

/** `US` may be kept as `United States`, and the other way round. */
const mayBeShownAs = (sent: unknown, shown: unknown): boolean =>
  typeof sent === 'string' && typeof shown === 'string' && mayBeCountry(sent, shown);

/**
 * What the answer to an update shows otherwise than it was sent, as `status "open"`; undefined where nothing. What an
 * answer does not show is not compared, of own data only the keys that were sent.
 */
export function shownOtherwise(
  { safety, answer, deletes, body: schema, sets, namesChanged }: About,
  body: unknown,
  json: unknown,
): string | undefined {
  if (safety !== 'repeatable' || deletes) return undefined;
  if (namesChanged !== undefined) {
    return unsent(sentOf(schema, body), fieldsIn(json)[namesChanged]);
  }
  if (answer.key === undefined) return undefined;
  const shown = fieldsIn(fieldsIn(json)[answer.key]);
  const sent = Object.entries({ ...fieldsIn(body), ...sets });
  const [other] = sent.find(([name, value]) => !isShown(shown, name, value)) ?? [];
  return other === undefined ? undefined : `${other} ${short(JSON.stringify(shownIn(shown, other)))}`;
}

const shownIn = (shown: Fields, name: string): unknown =>
  Object.hasOwn(shown, name) ? shown[name] : shownValue(shown, name);

function isShown(shown: Fields, name: string, value: unknown): boolean {
  const there = shownIn(shown, name);
  if (there === undefined || value === undefined) return true;
  if (isRecord(value)) {
    if (!isRecord(there)) return true;
    return Object.keys(value).every((key) => isSameValue(ownOf(there, key), value[key]));
  }
  if (isRecord(there)) return true;
  const isSame = ownOf(keptOtherwise, name) ?? (typeof value === 'string' ? isSameText : isSameValue);
  return isSame(there, value, shown);
}

/** A field that had the value already is not changed; one that was not sent is another request's. */
function unsent(sent: readonly string[], updated: unknown): string | undefined {
  const named = changedIn(updated);
  return named.some((name) => !sent.includes(topOf(name))) ? `${named.join(', ')} as changed` : undefined;
}

/** Of an update of which the service names what it changed: the fields that were sent and that it did not name. */
export function unnamedIn({ namesChanged, body: schema }: About, body: unknown, json: unknown): readonly string[] {
  if (namesChanged === undefined || !Array.isArray(fieldsIn(json)[namesChanged])) return [];
  const named = changedIn(fieldsIn(json)[namesChanged]).map(topOf);
  return sentOf(schema, body).filter((name) => !named.includes(name));
}

const sentOf = (schema: About['body'], body: unknown): readonly string[] =>
  Object.keys(fieldsIn(body)).filter((name) => Object.hasOwn(fieldsOf(schema), name));

const changedIn = (updated: unknown): readonly string[] => (Array.isArray(updated) ? updated.map(String) : []);

/** `socials.linkedin` is of `socials`. */
const topOf = (name: string): string => name.split('.', 1)[0] ?? name;
