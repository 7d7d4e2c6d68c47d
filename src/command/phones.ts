import { northAmericanPattern } from '../api/fields.ts';
import type { Shape } from '../api/shape.ts';
import { Failure } from '../errors.ts';
import { capital } from '../text/capital.ts';

/** Whether the field takes numbers of North America only, as creating a contact does (service.md#contacts-2). */
export const isNorthAmerican = ({ pattern }: Pick<Shape, 'pattern'>): boolean => pattern === northAmericanPattern;

/** What people write between the digits. */
const between = /[\s().\-\u2010-\u2015\u00a0]/gu;

/** A number with its country code, without what people write between its digits; else what is wrong, and the way out. */
export function phoneIn(
  text: string,
): { readonly value: string } | { readonly problem: string; readonly way?: string } {
  const value = text.replaceAll(between, '');
  if (/^\+1\d{10}$/u.test(value)) return { value };
  const problem = 'must be +1 followed by ten digits';
  const [, national] = /^1?([2-9]\d{9})$/u.exec(value) ?? [];
  if (national !== undefined) return { problem, way: `in North America that is +1${national}` };
  if (/^(?:\+(?!1)|00)\d/u.test(value))
    return { problem, way: 'a contact with a number of another country is made with: svc contacts sync' };
  return { problem };
}

/** The same of a flag. Throws a usage Failure. */
export function phoneOfFlag(text: string, flag: string): string {
  const read = phoneIn(text);
  if ('value' in read) return read.value;
  const hint = read.way && `${capital(read.way)}${read.way.includes(': svc') ? ' FILE' : '.'}`;
  throw new Failure('usage', `${flag} ${read.problem}, not "${text}".`, { hint });
}
