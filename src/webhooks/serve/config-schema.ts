import * as v from 'valibot';
import { webhookEvents } from '../../api/webhooks.ts';
import { kindOfPlace, placeHint } from '../../database/place.ts';
import { listed } from '../../text/listed.ts';
import { nearest } from '../../text/near.ts';
import type { Fields } from '../../text/record.ts';
import { sinkChoiceEntries, sinkKindNames, text } from '../deliver/kinds.ts';
import { accountName } from '../event/account.ts';
import { defaultConnections } from '../receive/listening.ts';

/** The variable that holds the signing secrets where the file names no other. */
export const usualSecret = 'SVC_WEBHOOK_SECRET';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const whole = (min: number, max: number) => {
  const said = `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.number(said),
    v.check((value) => Number.isInteger(value) && value >= min && value <= max, said),
  );
};

const duration = (minMs: number, maxMs: number, example: string) => {
  const said = `must be a time like ${example}`;
  const msOf = (value: string | number): number => {
    if (typeof value === 'number') return value * 1_000;
    const [, count, unit = 's'] = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)?$/u.exec(value.trim()) ?? [];
    return count === undefined ? Number.NaN : Number(count) * (units[unit] ?? Number.NaN);
  };
  return v.pipe(
    v.union([v.string(), v.number()], said),
    v.transform(msOf),
    v.check((ms) => ms >= minMs && ms <= maxMs, `${said}, from ${told(minMs)} to ${told(maxMs)}`),
  );
};

function told(ms: number): string {
  const [unit = 'ms', size = 1] =
    Object.entries(units)
      .reverse()
      .find(([, one]) => ms >= one && ms % one === 0) ?? [];
  return `${ms / size}${unit}`;
}

const port = whole(0, 65_535);

const sinkName = v.pipe(text, v.regex(/^[\w.-]{1,64}$/u, 'must be 1 to 64 letters, digits, ".", "-" or "_"'));

function wrongEvent({ input }: { readonly input: unknown }): string {
  const near = typeof input === 'string' ? nearEvents(input) : [];
  const meant = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `. Events: ${webhookEvents.join(', ')}`;
  return `is ${JSON.stringify(input) ?? 'nothing'}, which is no event${meant}`;
}

/** By letters, or by the record or the verb that it names. */
function nearEvents(typed: string): readonly string[] {
  const one = nearest(typed, webhookEvents);
  if (one !== undefined) return [one];
  const parts = typed.toLowerCase().split(/[._-]/u);
  return webhookEvents.filter((event) => parts.includes(event.split('.')[0] ?? ''));
}

const sink = v.pipe(
  v.strictObject({
    name: sinkName,
    events: v.optional(
      v.pipe(
        v.array(v.picklist(webhookEvents, wrongEvent), 'must be a list of events'),
        v.minLength(1, 'is an empty list: leave it out for every event'),
      ),
    ),
    filter: v.optional(text),
    timeout: v.optional(duration(100, 3_600_000, '30s'), '30s'),
    concurrency: v.optional(whole(1, 256), 1),
    ...sinkChoiceEntries,
  }),
  v.check(
    (sink) => sinkKindNames.filter((kind) => sink[kind] !== undefined).length === 1,
    `needs exactly one of ${listed(sinkKindNames)}`,
  ),
  v.forward(
    v.check(
      (sink) => sink.concurrency === 1 || sink.file === undefined,
      'is for sinks that take one event at a time: a file takes up to 100 at once',
    ),
    ['concurrency'],
  ),
);

const pathText = v.pipe(text, v.regex(/^\/[^\s?#]*$/u, 'must begin with / and have no query'));

/** It may be a secret that somebody put in the wrong place, so it is not repeated. */
const variable = v.pipe(text, v.regex(/^[A-Za-z_]\w*$/u, 'must be the name of a variable: letters, digits and "_"'));

/** One of several accounts. Its secrets are those of its variables and, with a profile, those that svc has stored for it. */
const account = v.pipe(
  v.strictObject({
    name: v.pipe(
      text,
      v.regex(accountName, 'must be 1 to 63 letters, digits, "-" or "_", and begin with a letter or a digit'),
    ),
    path: pathText,
    profile: v.optional(text),
    secrets: v.optional(v.strictObject({ env: v.optional(v.array(variable, 'must be a list of names'), []) }), {}),
  }),
  v.check(
    ({ profile, secrets }) => profile !== undefined || secrets.env.length > 0,
    'needs a profile, secrets.env, or both: without a secret nothing could be verified',
  ),
);

type Account = v.InferOutput<typeof account>;

/** Whatever must be each one's own. */
const ownOf = <One extends Fields>(noun: string, key: keyof One & string) =>
  v.rawCheck<One[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: input } = dataset;
    for (const at of secondNames(input.map((one) => one[key]))) {
      const one = input[at];
      const path = [
        { type: 'array', origin: 'value', input, key: at, value: one },
        { type: 'object', origin: 'value', input: { ...one }, key, value: one?.[key] },
      ] as const;
      addIssue({ message: `is ${one?.[key]} again: each ${noun} needs a ${key} of its own`, path: [...path] });
    }
  });

const inbox = v.pipe(
  text,
  v.check(
    (value) => kindOfPlace(value) !== 'neither',
    // It may hold a password, so it is not repeated.
    ({ input }) => `must be a folder or a postgres:// URL. ${placeHint(input).replace(/\.$/u, '')}`,
  ),
);

/** Where a name stands that stood above already. */
const secondNames = (names: readonly unknown[]): number[] =>
  [...names.keys()].filter((at) => names[at] !== undefined && names.indexOf(names[at]) !== at);

/** `svc-webhooks.yaml`, as a person writes it. Times become milliseconds. */
export const configSchema = v.strictObject({
  listen: v.optional(
    v.strictObject({
      host: v.optional(text, '127.0.0.1'),
      port: v.optional(port, 8977),
      path: v.optional(pathText, '/'),
      max_connections: v.optional(whole(1, 100_000), defaultConnections),
    }),
    {},
  ),
  admin: v.optional(v.strictObject({ host: v.optional(text, '127.0.0.1'), port })),
  inbox: v.optional(inbox),
  keep: v.optional(whole(1, 10_000_000), 100_000),
  secrets: v.optional(
    v.strictObject({
      store: v.optional(v.boolean('must be true or false'), true),
      env: v.optional(v.array(text, 'must be a list of names'), [usualSecret]),
    }),
    {},
  ),
  accounts: v.optional(
    v.pipe(
      v.array(account, 'must be a list of accounts'),
      v.minLength(1, 'is an empty list: leave it out where there is one account'),
      ownOf<Account>('account', 'name'),
      ownOf<Account>('account', 'path'),
      ownOf<Account>('account', 'profile'),
      v.check((all) => {
        const names = all.flatMap(({ secrets }) => [...new Set(secrets.env)]);
        return new Set(names).size === names.length;
      }, 'has two accounts with one variable in secrets.env: a delivery of one would be taken for one of the other'),
    ),
  ),
  sinks: v.pipe(
    v.array(sink, 'must be a list of sinks'),
    v.minLength(1, 'is an empty list: name where events are to go'),
    ownOf<v.InferOutput<typeof sink>>('sink', 'name'),
  ),
  retry: v.optional(
    v.strictObject({
      attempts: v.optional(whole(1, 1_000), 8),
      max_age: v.optional(duration(1_000, 365 * 86_400_000, '24h'), '24h'),
      pause: v.optional(duration(1, 1_000, '500ms'), '1s'),
    }),
    {},
  ),
});

export type ServeConfig = v.InferOutput<typeof configSchema>;

export type SinkConfig = ServeConfig['sinks'][number];

export type AccountConfig = NonNullable<ServeConfig['accounts']>[number];
