import { type TypedFlag, typedFlags } from '../command/typed-flags.ts';
import { Failure, orElse } from '../errors.ts';
import { listed } from '../text/listed.ts';
import { beginning } from '../text/short.ts';
import type { Invocation } from './invocation.ts';

/**
 * A flag that stands there twice: lists in commas become one, with each word once, and of two values that differ none is lost in silence.
 * `words`: the line as it was typed, with what an alias has to yield taken out.
 */
export function withoutTwice(words: readonly string[], invocation: Invocation): Invocation {
  const { command, argTexts, flagTexts, globals } = invocation;
  // Behind its first argument everything is the other program's.
  const theirs = command.passThrough ? Object.values(argTexts).flat().length : 0;
  const given = new Map<string, Pick<TypedFlag, 'name' | 'param'> & { isList: boolean; values: Set<string> }>();
  for (const { key, name, value, param } of typedFlags(words.slice(0, words.length - theirs), command)) {
    if (value === undefined || key === undefined || param?.many) continue;
    const isList = param?.commas ?? key === '--fields';
    const { values } = given.get(key) ?? { values: new Set<string>() };
    given.set(key, { name, param, isList, values: values.add(value) });
  }
  const joined: Record<string, string> = {};
  for (const [key, { name, param, isList, values }] of given) {
    if (values.size < 2) continue;
    const each = isList ? [...values].flatMap((value) => value.split(',')).map((value) => value.trim()) : [];
    if (isList) joined[key] = [...new Set(each)].join(',');
    else if (new Set([...values].map((value) => meant(value, param))).size > 1) throw contradiction(name, [...values]);
  }
  const { '--fields': fields = globals.fields, ...own } = joined;
  const lists = Object.entries(own).map(([key, text]) => [key, [text]]);
  return { ...invocation, globals: { ...globals, fields }, flagTexts: { ...flagTexts, ...Object.fromEntries(lists) } };
}

/** `get` and `GET` are one method. What cannot be read is judged as it was typed, and so is what is more than a word. */
function meant(text: string, param: TypedFlag['param']): unknown {
  const value = orElse(() => param?.parse([text], ''), text);
  return typeof value === 'object' ? text : (value ?? text);
}

const contradiction = (name: string, values: readonly string[]): Failure =>
  new Failure('usage', `${name} takes one value, and was given ${listed(values.map(shown))}.`, {
    hint: 'Give one of them.',
  });

/** It may be a whole text. */
const shown = (value: string): string => `"${beginning(value, 60)}"`;
