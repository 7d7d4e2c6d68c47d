import { orElse } from '../errors.ts';
import { isTooDeep } from './json-depth.ts';

/** `JSON.parse` of a text that comes from outside. Throws a SyntaxError for what is no JSON, or nests far too deep. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError('it is nested far too deep');
  return JSON.parse(text);
}

/** The value that a text writes in JSON; `otherwise` where it is no JSON. No JSON says undefined, so that tells them apart. */
export const jsonIn = (text: string, otherwise?: unknown): unknown => orElse(() => parseJson(text), otherwise);

/** What a text writes in JSON, where it is such a value; else undefined. */
export function jsonAs<T>(text: string, isSuch: (value: unknown) => value is T): T | undefined {
  const value = jsonIn(text);
  return isSuch(value) ? value : undefined;
}
