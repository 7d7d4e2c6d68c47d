/**
 * Scenes are written by hand from the service's description: literal paths, literal JSON. The same scene is played twice: as
 * requests to the sandbox (`against-sandbox.test.ts`) and as answers to the client (`as-client.test.ts`).
 */
export type Scene = {
  /** A fact about the service. */
  readonly title: string;
  readonly seed: 'empty' | 'demo';
  readonly steps: readonly Step[];
};

export type Step = {
  /** The credential: a token of the sandbox's table, or `oauth` and scopes. Default: the key of account 1. */
  readonly as?: string;
  /** Method, path and query. `<name>` stands for an id that an earlier answer made. */
  readonly send: string;
  readonly body?: unknown;
  readonly status: number;
  /** The whole answer: what is not here must not be there. */
  readonly answer: unknown;
  /** A control call instead of a request of the service: for the sandbox alone. */
  readonly control?: true;
  /** svc finds the fault itself and sends nothing, though the service would answer with success. */
  readonly refusedHere?: true;
};

const made = Symbol('made');

/** A value that the service makes: the sandbox may answer any that `fits`, the client is given the sample. */
export type Made = {
  readonly [made]: true;
  readonly sample: unknown;
  readonly fits: (value: unknown) => boolean;
  readonly says: string;
  /** The value is remembered under this name for later steps. */
  readonly name?: string;
};

const make = (says: string, sample: unknown, fits: Made['fits'], name?: string): Made => ({
  [made]: true,
  sample,
  fits,
  says,
  name,
});

const isMade = (value: unknown): value is Made => typeof value === 'object' && value !== null && made in value;

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/u.test(value);

export const id = (name: string, sample: number): Made =>
  make('an id', sample, (value) => isWhole(value) && value !== 0, name);
export const count = (sample: number): Made => make('a whole number', sample, isWhole);
/** ISO 8601 in UTC (service.md#records-2). */
export const time = (sample = '2026-11-20T09:00:00Z'): Made => make('a time in UTC', sample, isTime);
export const text = (sample: string): Made => make('text', sample, (value) => typeof value === 'string');
export const filled = (sample: string): Made =>
  make('text that is not empty', sample, (value) => typeof value === 'string' && value.trim() !== '');
export const like = (pattern: RegExp, sample: string): Made =>
  make(`text like ${pattern}`, sample, (value) => typeof value === 'string' && pattern.test(value));
export const oneOf = (...values: readonly unknown[]): Made =>
  make(`one of ${values.join(', ')}`, values[0], (value) => values.includes(value));
export const flag = (sample: boolean): Made => make('true or false', sample, (value) => typeof value === 'boolean');
export const orNull = (of: Made | object): Made =>
  make('that or null', sampleOf(of), (value) => value === null || fits(of, value));
export const anything = (sample: unknown): Made => make('anything', sample, () => true);
/** At least one, each like this. */
export const listOf = (of: unknown): Made =>
  make(
    'a list of those',
    [sampleOf(of)],
    (value) => Array.isArray(value) && value.length > 0 && value.every((item) => fits(of, item)),
  );
export const anyListOf = (of: unknown): Made =>
  make('a list of those', [sampleOf(of)], (value) => Array.isArray(value) && value.every((item) => fits(of, item)));

/** The three shapes of errors (Errors). */
export const simple = (sample: string) => ({ error: filled(sample) });
export const noScope = (scope: string) => ({
  error: 'insufficient_scope',
  error_description: like(new RegExp(scope), `The token lacks the scope ${scope}.`),
});
export const invalid = (field: string, sample: string) => ({
  message: filled(sample),
  errors: { [field]: listOf(filled(sample)) },
});

export const meta = (total: number, current_page = 1, last_page = 1) => ({ current_page, last_page, total });

const fits = (expected: unknown, actual: unknown): boolean => {
  if (isMade(expected)) return expected.fits(actual);
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual);
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) return false;
  const keys = Object.keys(expected);
  return (
    keys.length === Object.keys(actual).length &&
    keys.every((key) => key in actual && fits(expected[key as never], actual[key as never]))
  );
};

/** What a client is given: every made value is its sample. */
export function sampleOf(expected: unknown): unknown {
  if (isMade(expected)) return expected.sample;
  return mapped(expected, sampleOf);
}

/** `expected` with made values replaced by the actual ones that fit, so that a comparison shows only what differs. */
export function settled(expected: unknown, actual: unknown): unknown {
  if (isMade(expected)) return expected.fits(actual) ? actual : `(${expected.says})`;
  return mapped(expected, (value, key) =>
    settled(value, (actual as Record<string, unknown> | null | undefined)?.[key]),
  );
}

/** The named ids of an answer. */
export function idsIn(expected: unknown, actual: unknown): [name: string, id: unknown][] {
  if (isMade(expected)) return expected.name === undefined ? [] : [[expected.name, actual]];
  if (typeof expected !== 'object' || expected === null) return [];
  return Object.entries(expected).flatMap(([key, value]) =>
    idsIn(value, (actual as Record<string, unknown> | null | undefined)?.[key]),
  );
}

function mapped(value: unknown, change: (value: unknown, key: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item, at) => change(item, String(at)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)]));
}

/** Puts ids in the place of their names, in a path or anywhere in a body (a text that is nothing but `<name>`). */
export function withIds<T>(value: T, ids: ReadonlyMap<string, unknown>): T {
  if (typeof value === 'string') {
    const whole = /^<(\w+)>$/u.exec(value)?.[1];
    if (whole !== undefined && ids.has(whole)) return ids.get(whole) as T;
    return value.replaceAll(/<(\w+)>/gu, (all, name: string) => String(ids.get(name) ?? all)) as T;
  }
  if (isMade(value)) return value;
  return mapped(value, (item) => withIds(item, ids)) as T;
}
