import * as v from 'valibot';
import { sendModes } from '../config/settings.ts';
import { isZone } from '../text/own-zone.ts';
import { isRecord } from '../text/record.ts';

const time = v.pipe(v.string(), v.regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, 'must be a time like 20:00'));
const zone = v.pipe(v.string(), v.check(isZone, 'must be a time zone like Europe/Berlin'));

export const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const Quiet = v.pipe(
  v.strictObject({
    from: v.optional(time),
    to: v.optional(time),
    zone: v.optional(zone),
    days: v.optional(v.array(v.picklist(days, `must be one of ${days.join(', ')}`))),
  }),
  v.check(({ from, to }) => (from === undefined) === (to === undefined), 'needs both from and to'),
  v.check(({ from, days: named }) => from !== undefined || (named ?? []).length > 0, 'needs from and to, or days'),
);

/** A key that svc does not know may be a rule that is misspelt, so it is refused. */
const PolicyFile = v.strictObject({
  sends: v.pipe(
    v.custom<Record<string, unknown>>(isRecord, 'must have its rules by name'),
    v.strictObject({
      mode: v.optional(v.picklist(sendModes, `must be one of ${sendModes.join(', ')}`)),
      max_per_hour: v.optional(
        v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be from 0')),
      ),
      quiet: v.optional(Quiet),
      allow: v.optional(v.string()),
      deny: v.optional(v.string()),
    }),
    // A file that was cut to nothing must not mean that all is allowed.
    v.check((rules) => Object.values(rules).some((rule) => rule !== undefined), 'has no rule'),
  ),
});

/** Here, and not where the file is read: an `import()` of the library itself would bring all of it into every command. */
export const checkedPolicy = (read: unknown): v.SafeParseResult<typeof PolicyFile> => v.safeParse(PolicyFile, read);

export type Quiet = v.InferOutput<typeof Quiet>;

export type Policy = {
  /** The file that it is from, for messages. */
  readonly path: string;
  readonly sends: v.InferOutput<typeof PolicyFile>['sends'];
};
