import * as v from 'valibot';
import { webhookEvents } from '../../api/webhooks.ts';
import { defaultConnections } from '../receiving/listening.ts';

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

const text = v.pipe(
  v.string('must be a text'),
  v.check((value) => value.trim() !== '', 'is empty'),
);
const port = whole(0, 65_535);

const url = v.pipe(
  text,
  v.check(
    (value) => URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol),
    'must be an http:// or https:// URL',
  ),
);

const sinkName = v.pipe(
  text,
  v.check((value) => /^[\w.-]{1,64}$/u.test(value), 'must be 1 to 64 letters, digits, ".", "-" or "_"'),
);

const sink = v.pipe(
  v.strictObject({
    name: sinkName,
    events: v.optional(
      v.pipe(
        v.array(v.picklist(webhookEvents, `must be one of ${webhookEvents.join(', ')}`), 'must be a list of events'),
        v.minLength(1, 'is an empty list: leave it out for every event'),
      ),
    ),
    filter: v.optional(text),
    timeout: v.optional(duration(100, 3_600_000, '30s'), '30s'),
    http: v.optional(v.strictObject({ url })),
    exec: v.optional(
      v.strictObject({
        command: v.pipe(v.array(text, 'must be a list: the program and its arguments'), v.minLength(1, 'is empty')),
      }),
    ),
    file: v.optional(v.strictObject({ path: text })),
  }),
  v.check(
    ({ http, exec, file }) => [http, exec, file].filter(Boolean).length === 1,
    'needs exactly one of http, exec and file',
  ),
);

const firstTwice = (names: readonly string[]): string | undefined =>
  names.find((name, at) => names.indexOf(name) !== at);

/** `svc-webhooks.yaml`, as a person writes it. Times become milliseconds. */
export const configSchema = v.strictObject({
  listen: v.optional(
    v.strictObject({
      host: v.optional(text, '127.0.0.1'),
      port: v.optional(port, 8977),
      path: v.optional(
        v.pipe(
          text,
          v.check((value) => /^\/[^\s?#]*$/u.test(value), 'must begin with / and have no query'),
        ),
        '/',
      ),
      max_connections: v.optional(whole(1, 100_000), defaultConnections),
    }),
    {},
  ),
  admin: v.optional(v.strictObject({ host: v.optional(text, '127.0.0.1'), port })),
  inbox: v.optional(text),
  keep: v.optional(whole(1, 10_000_000), 100_000),
  secrets: v.optional(
    v.strictObject({
      store: v.optional(v.boolean('must be true or false'), true),
      env: v.optional(v.array(text, 'must be a list of names'), []),
    }),
    { env: ['SVC_WEBHOOK_SECRET'] },
  ),
  sinks: v.pipe(
    v.array(sink, 'must be a list of sinks'),
    v.check(
      (sinks) => firstTwice(sinks.map(({ name }) => name)) === undefined,
      ({ input }) => `names ${firstTwice(input.map(({ name }) => name))} twice`,
    ),
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
