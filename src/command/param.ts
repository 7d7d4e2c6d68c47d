import { idWords, type Resource, type ResourceName, resources } from '../api/resources.ts';
import { Failure } from '../errors.ts';
import { oneOf } from '../text/one-of.ts';
import type { Param } from './command.ts';

type About = Partial<Omit<Param<unknown>, 'description' | 'parse' | 'fallback'>>;

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

/** Builders for the flags and arguments of commands that are written by hand. */
export const param = {
  /** Present or not. */
  toggle: (description: string, about: About = {}): Param<boolean> => ({
    description,
    ...about,
    parse: () => true,
    fallback: false,
  }),

  text: (description: string, about: About = {}): Param<string | undefined> => ({
    ...param.requiredText(description, about),
    required: false,
  }),

  requiredText: (description: string, about: About = {}): Param<string> => ({
    description,
    placeholder: 'TEXT',
    ...about,
    required: true,
    parse: last,
  }),

  texts: (description: string, about: About = {}): Param<readonly string[]> => ({
    description,
    placeholder: 'TEXT',
    ...about,
    many: true,
    parse: (texts) => texts,
    fallback: [],
  }),

  file: (description: string, about: About = {}): Param<string | undefined> =>
    param.text(description, { placeholder: 'FILE', completes: 'files', ...about }),

  /** A file that the command writes. */
  output: (description: string, about: About = {}): Param<string | undefined> => ({
    ...param.file(description, about),
    isWritten: true,
  }),

  integer: (
    description: string,
    { min = 0, max = Number.MAX_SAFE_INTEGER, ...about }: About & { readonly min?: number; readonly max?: number } = {},
  ): Param<number | undefined> => ({
    description,
    placeholder: 'N',
    ...about,
    parse: (texts, flag) => parseInteger(last(texts), flag, { min, max }),
  }),

  /** `list`: the command that shows the ids of what is no record of the service. */
  requiredId: (description: string, record?: ResourceName, list?: string): Param<number> => ({
    description,
    placeholder: 'ID',
    required: true,
    record,
    parse: (texts, flag) => parseId(last(texts), flag, record, list),
  }),

  ids: (description: string, record?: ResourceName, list?: string): Param<readonly number[]> => ({
    description,
    placeholder: 'ID',
    many: true,
    record,
    required: true,
    parse: (texts, flag) => texts.map((text) => parseId(text, flag, record, list)),
  }),

  choice: <const C extends readonly string[]>(
    description: string,
    choices: C,
    about: About = {},
  ): Param<C[number] | undefined> => ({
    // Many or long ones would push every other description aside.
    ...(choices.join('|').length > 24
      ? { description: `${description}: ${choices.join(', ')}`, placeholder: 'NAME' }
      : { description, placeholder: choices.join('|') }),
    ...about,
    choices,
    parse: (texts, flag) => oneOf<C[number]>(choices, { text: last(texts), by: flag }),
  }),

  /** `key=value`, repeatable. */
  pairs: (description: string, about: About = {}): Param<Readonly<Record<string, string>>> => ({
    description,
    placeholder: 'KEY=VALUE',
    ...about,
    many: true,
    parse: (texts, flag) => Object.fromEntries(texts.map((text) => splitPair(text, flag))),
    fallback: {},
  }),
};

/** `dueAt` and `due_at` are typed `--due-at`. */
export const flagName = (key: string, flag: Pick<Param<unknown>, 'name'>): string =>
  flag.name ?? key.replaceAll('_', '-').replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** `-L, --limit <N>`, as commander reads it. */
export const flagTerm = (name: string, { short, placeholder }: Pick<Param<unknown>, 'short' | 'placeholder'>): string =>
  `${short ? `-${short}, ` : ''}--${name}${placeholder ? ` <${placeholder}>` : ''}`;

/** What an argument is called: `ID`. */
export const argName = (key: string, { placeholder = key }: Pick<Param<unknown>, 'placeholder'>): string =>
  placeholder.toUpperCase();

/** The same in a usage, where nothing tells what is required: `[ID]`, `[ID...]`. */
export const argWord = (key: string, arg: Param<unknown>): string => `[${argName(key, arg)}${arg.many ? '...' : ''}]`;

/** Gives a flag a value for when it is absent. */
export const withFallback = <T>(flag: Param<T>, fallback: NonNullable<T>): Param<NonNullable<T>> => ({
  ...flag,
  parse: (texts, name) => flag.parse(texts, name) ?? fallback,
  fallback,
});

/** For what is always written in capitals, like a method or a currency: `eur` can only mean `EUR`. */
export const inCapitals = <T>(flag: Param<T>): Param<T> => ({
  ...flag,
  parse: (texts, name) =>
    flag.parse(
      texts.map((text) => text.toUpperCase()),
      name,
    ),
});

/** Where svc takes another name as well, the refusal says so. `#22` is 22; of a ticket it is looked up before. */
export function parseId(text: string, flag: string, record: ResourceName | undefined, shownBy?: string): number {
  const id = wholeNumber(text.replace(/^#\b/u, ''));
  if (id !== undefined && id >= 1) return id;
  const { noun, otherName, list }: Partial<Resource> = record ? resources[record] : {};
  if (!record || otherName === undefined) return parseInteger(text, flag, { min: 1, list: shownBy ?? list });
  throw new Failure('usage', `${flag} must be the ${idWords(record)} of a ${noun}, not "${text}".`);
}

function wholeNumber(text: string): number | undefined {
  const value = /^[+-]?\d+$/u.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

type Range = { readonly min: number; readonly max?: number; readonly list?: string | undefined };

function parseInteger(text: string, flag: string, { min, max = Number.MAX_SAFE_INTEGER, list }: Range): number {
  const value = wholeNumber(text);
  if (value !== undefined && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
  throw new Failure('usage', `${flag} must be ${range}, not "${text}".`, {
    hint: list && `To see the ids: svc ${list}`,
  });
}

export function splitPair(text: string, flag: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new Failure('usage', `${flag} takes key=value, not "${text}".`);
}
