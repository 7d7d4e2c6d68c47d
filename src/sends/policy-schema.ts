import * as v from 'valibot';
import { sendModes } from '../config/settings.ts';
import { isZone } from '../text/own-zone.ts';
import { isRecord } from '../text/record.ts';

const time = v.pipe(v.string(), v.regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, 'must be a time like 20:00'));
const zone = v.pipe(v.string(), v.check(isZone, 'must be a time zone like Europe/Berlin'));

export const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const QuietKeys = v.strictObject({
  from: v.optional(time),
  to: v.optional(time),
  zone: v.optional(zone),
  days: v.optional(v.array(v.picklist(days, `must be one of ${days.join(', ')}`))),
});

const Quiet = v.pipe(
  QuietKeys,
  v.check(({ from, to }) => (from === undefined) === (to === undefined), 'needs both from and to'),
  v.check(({ from, days: named }) => from !== undefined || (named ?? []).length > 0, 'needs from and to, or days'),
);

const Rules = v.strictObject({
  mode: v.optional(v.picklist(sendModes, `must be one of ${sendModes.join(', ')}`)),
  max_per_hour: v.optional(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be from 0'))),
  quiet: v.optional(Quiet),
  allow: v.optional(v.string()),
  deny: v.optional(v.string()),
});

/** A key that svc does not know may be a rule that is misspelt, so it is refused. */
const PolicyFile = v.strictObject({
  sends: v.pipe(
    v.custom<Record<string, unknown>>(isRecord, 'must have its rules by name'),
    Rules,
    // A file that was cut to nothing must not mean that all is allowed.
    v.check((rules) => Object.values(rules).some((rule) => rule !== undefined), 'has no rule'),
  ),
});

/** The keys that are known, by where they stand. */
const known: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(PolicyFile.entries),
  sends: Object.keys(Rules.entries),
  'sends.quiet': Object.keys(QuietKeys.entries),
};

export type Quiet = v.InferOutput<typeof Quiet>;

export type Policy = {
  /** The file that it is from, for messages. */
  readonly path: string;
  readonly sends: v.InferOutput<typeof PolicyFile>['sends'];
};

/**
 * Its rules, or what is wrong with it. Here, and not where the file is read: an `import()` of the library itself would bring
 * all of it into every command.
 */
export function checkedPolicy(read: unknown): Pick<Policy, 'sends'> | { readonly problem: string } {
  const checked = v.safeParse(PolicyFile, read);
  if (checked.success) return checked.output;
  // A misspelt key says more than the one that is therefore missing.
  const issue = checked.issues.find(({ expected }) => expected === 'never') ?? checked.issues[0];
  return { problem: issueInWords(issue) };
}

const nouns: Readonly<Record<string, string>> = {
  number: 'a number',
  string: 'a text',
  array: 'a list',
  object: 'keys with values',
  strict_object: 'keys with values',
};

/** What is wrong in a policy, for whoever wrote it: `sends.max_per_hr is not known here; known are mode, …`. */
function issueInWords({ path, type, kind, expected, received, message }: v.BaseIssue<unknown>): string {
  const keys = path?.map(({ key }) => String(key)) ?? [];
  const name = keys.length === 0 ? 'the file' : keys.join('.');
  const here = known[keys.slice(0, -1).join('.')];
  if (type === 'strict_object' && expected === 'never' && here)
    return `${name} is not known here; known ${here.length === 1 ? 'is' : 'are'} ${here.join(', ')}`;
  if (received === 'undefined') return `${name} is not there`;
  const noun = kind === 'schema' && message.startsWith('Invalid ') ? nouns[type] : undefined;
  // The text may be anything, also a secret that stands in the wrong place.
  const is = received?.startsWith('"') ? 'a text' : received;
  return noun === undefined ? `${name}: ${message}` : `${name} must be ${noun}, and is ${is}`;
}
