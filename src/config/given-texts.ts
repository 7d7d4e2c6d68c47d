import { Failure } from '../errors.ts';

/** The first of several texts that is given; an empty one counts as absent, as a variable set to nothing does. `by`: what gave it, for messages. */
export type Named = { readonly text: string; readonly by: string };

/** Profile names become part of file and keyring entry names, and are typed after `--profile`. */
export function profileName({ text, by }: Named): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/u.test(text)) return text;
  throw new Failure('usage', `${by}: "${text}" is not a profile name.`, {
    hint: 'Use 1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or a digit.',
  });
}

export function partnerSegment(text: string): string {
  if (/^[A-Za-z0-9._~-]+$/u.test(text) && !/^\.+$/u.test(text)) return text;
  throw new Failure('usage', `SVC_PARTNER_SEGMENT must be one segment of a path, not "${text}".`);
}

export function splitFields(text: string): readonly string[] {
  const fields = text.split(',').map((field) => field.trim());
  if (fields.every((field) => field !== '')) return fields;
  throw new Failure('usage', `--fields takes names separated by commas, not "${text}".`);
}

/** For people's own variables; `CI` and `NO_COLOR` follow the conventions of others. */
export function toggle(named: Named | undefined): boolean {
  if (!named) return false;
  const text = named.text.toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(text)) return true;
  if (['0', 'false', 'no', 'off'].includes(text)) return false;
  throw new Failure('usage', `${named.by} must be 1 or 0, not "${named.text}".`);
}

export const isCi = (text: string | undefined): boolean => !['', '0', 'false'].includes((text ?? '').toLowerCase());

/** Timers hold 31 bits of milliseconds. */
export const mostSeconds = 2_000_000;

export function seconds({ text, by }: Named, min: number): number {
  const value = /^\d+(\.\d+)?$/u.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= mostSeconds) return Math.ceil(value * 1000);
  if (value > mostSeconds) {
    throw new Failure('usage', `${by} must be at most ${mostSeconds} seconds (23 days), not "${text}".`);
  }
  throw new Failure('usage', `${by} takes a number of seconds${min > 0 ? ' above 0' : ''}, not "${text}".`);
}

export const holdMs = (text: string, by: string): number => seconds({ text, by }, 0);
