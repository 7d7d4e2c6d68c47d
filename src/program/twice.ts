import { typedFlags } from '../command/typed-flags.ts';
import { Failure } from '../errors.ts';
import { listed } from '../text/listed.ts';
import type { Invocation } from './invocation.ts';

/**
 * A flag that stands there twice: lists in commas become one, and of two values that differ none is lost in silence.
 * `words`: the line as it was typed, with what an alias has to yield taken out.
 */
export function withoutTwice(words: readonly string[], invocation: Invocation): Invocation {
  const { command, argTexts, flagTexts, globals } = invocation;
  // Behind its first argument everything is the other program's.
  const theirs = command.passThrough ? Object.values(argTexts).flat().length : 0;
  const given = new Map<string, { readonly name: string; readonly isList: boolean; readonly values: Set<string> }>();
  for (const { key, name, value, param } of typedFlags(words.slice(0, words.length - theirs), command)) {
    if (value === undefined || key === undefined || param?.many) continue;
    const isList = param?.commas ?? key === '--fields';
    const { values } = given.get(key) ?? { values: new Set<string>() };
    given.set(key, { name, isList, values: values.add(value) });
  }
  const joined: Record<string, string> = {};
  for (const [key, { name, isList, values }] of given) {
    if (values.size < 2) continue;
    if (!isList) throw contradiction(name, [...values]);
    joined[key] = [...values].join(',');
  }
  const { '--fields': fields = globals.fields, ...own } = joined;
  const lists = Object.entries(own).map(([key, text]) => [key, [text]]);
  return { ...invocation, globals: { ...globals, fields }, flagTexts: { ...flagTexts, ...Object.fromEntries(lists) } };
}

const contradiction = (name: string, values: readonly string[]): Failure =>
  new Failure('usage', `${name} takes one value, and was given ${listed(values.map(shown))}.`, {
    hint: 'Give one of them.',
  });

/** It may be a whole text. */
const shown = (value: string): string => `"${value.length > 60 ? `${value.slice(0, 59)}…` : value}"`;
