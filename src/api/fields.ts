import * as v from 'valibot';

/** Ids are integers, stable, never reused (service.md#records-1). */
export const id = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A whole number in an answer. */
export const whole = v.pipe(v.number(), v.integer());

/** Timestamps of answers: ISO 8601 in UTC (service.md#records-2). */
export const when = v.pipe(v.string(), v.metadata({ format: 'date-time' }));

/** Length as the service counts it: code points, so an emoji of one code point is one character. */
export const lengthOf = (text: string): number => {
  let length = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const high = text.charCodeAt(i);
    if (high < 0xd800 || high > 0xdbff) continue;
    const low = text.charCodeAt(i + 1);
    if (low >= 0xdc00 && low <= 0xdfff) {
      length--;
      i++;
    }
  }
  return length;
};

const tooShort = (min: number) => (min === 1 ? 'must not be empty' : `must have at least ${min} characters`);

/**
 * Text of `min` to `max` code points. Where it must not be empty, it must not be blank either. The metadata carries the
 * limits into JSON Schema, which counts the same way.
 */
export const text = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = lengthOf(dataset.value);
      if (length < min) addIssue({ message: tooShort(min) });
      else if (min > 0 && dataset.value.trim() === '') addIssue({ message: 'must not be blank' });
      if (length > max) addIssue({ message: `may have at most ${max} characters, this has ${length}` });
    }),
    v.metadata({
      ...(min > 0 ? { minLength: min } : {}),
      ...(max < Number.POSITIVE_INFINITY ? { maxLength: max } : {}),
    }),
  );

/** Text without a limit that the document names, but not blank. */
export const filled = v.pipe(
  v.string(),
  v.check((value) => value.trim() !== '', 'must not be blank'),
  v.metadata({ minLength: 1 }),
);

/** What nobody sees and Windows copies around a text: marks of direction, spaces without width, soft hyphens. */
export const unseen = String.raw`\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069`;

/** What no part of an address holds. Control characters by their numbers: in the description others read it without classes of Unicode. */
const noPart = String.raw`${unseen}\s\u0000-\u001f\u007f-\u009f@<>,;:"()[\]\\`;

/** Deliberately wide: the service, not this pattern, knows which mailboxes exist. */
export const emailPattern = new RegExp(`^[^${noPart}]+@[^${noPart}.]+(\\.[^${noPart}.]+)+$`, 'u');

export const email = v.pipe(
  v.string(),
  v.regex(emailPattern, 'must be an email address'),
  v.metadata({ format: 'email' }),
);

export const northAmericanPattern = '^\\+1\\d{10}$';

/** On create the service takes nothing but +1 and ten digits (Contact, Phone rules). */
export const northAmericanPhone = v.pipe(
  v.string(),
  v.regex(/^\+1\d{10}$/u, 'must be +1 followed by ten digits'),
  v.metadata({ pattern: northAmericanPattern }),
);

export const hexColor = v.pipe(
  v.string(),
  v.regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/iu, 'must be a hex colour like #1a2b3c'),
  v.metadata({ pattern: '^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$' }),
);

/** URL parsers forgive blanks; an address that holds one is none (RFC 3986). */
const isHttps = (value: string): boolean =>
  !/\s/u.test(value) && URL.canParse(value) && new URL(value).protocol === 'https:';

export const httpsUrl = v.pipe(
  v.string(),
  v.check(isHttps, 'must be an https:// URL'),
  v.metadata({ format: 'uri', pattern: '^https://\\S+$' }),
);

const timePattern = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/iu;

/** `Date.parse` takes 30 February for 2 March, so the day is looked at here. */
const isTime = (value: string): boolean => {
  const [, year, month, day] = timePattern.exec(value) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(value))) return false;
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
};

/** A time that we send. Which formats are taken is not described (service.md#records-2). */
export const time = v.pipe(
  v.string(),
  v.check(isTime, 'must be an ISO 8601 time like 2026-01-31T09:00:00Z'),
  v.metadata({ format: 'date-time' }),
);

/** The caller's own key/value data: merged on update, never replaced. */
export const metadata = v.record(v.string(), v.unknown());

export const tags = v.pipe(v.array(text(1, 50)), v.maxLength(10, 'may hold at most 10 tags'));

export const priority = v.pipe(
  v.number('must be a whole number from 0 to 4'),
  v.integer('must be a whole number from 0 to 4'),
  v.minValue(0, 'must be a whole number from 0 to 4'),
  v.maxValue(4, 'must be a whole number from 0 to 4'),
);

/** Query of every paginated list (Pagination meta). */
export const pageQuery = {
  page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1, 'must be at least 1'))),
  per_page: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1, 'must be from 1 to 100'), v.maxValue(100, 'must be from 1 to 100')),
  ),
};

export const pageMeta = v.looseObject({ current_page: whole, last_page: whole, total: whole });

/** The body of a page of records; `meta` stands beside them. */
export const pageOf = <const Key extends string, Item extends v.GenericSchema>(key: Key, item: Item) =>
  v.looseObject({ ...v.entriesFromList([key], v.array(item)), meta: pageMeta });

/** `description` first, so that a schema reads like a sentence in the tables of fields. */
export const described = <const S extends v.GenericSchema>(description: string, schema: S) =>
  v.pipe(schema, v.description(description));

/** Any text, of which the document names these: others may exist (service.md#records-5). */
export const known = <const S extends v.GenericSchema>(values: readonly string[], schema: S) =>
  v.pipe(schema, v.metadata({ examples: values }));
