import type { Key } from '../../screen/keys.ts';
import { sanitize } from '../../text/sanitize.ts';
import { choicesIn } from '../asking.ts';
import type { Event } from '../event.ts';
import { type KeyEntry, keys } from '../keys.ts';
import type { Model, Over } from '../model.ts';
import { nameOf } from '../row.ts';
import { isOneRow, type Places } from './said.ts';

const key = (name: string, text = ''): Event => ({ is: 'key', key: { name, ctrl: false, alt: false, text } });

const typedKeys = (text: string): Event[] => [...text].map((char) => key(char, char));

/** What a typed line means; a text where it means nothing, which says so. */
export function eventsOf(line: string, model: Model, places: Places): readonly Event[] | string {
  return meant(line, model, places) ?? `There is no answer ${JSON.stringify(line.trim())} here. ? names the keys.`;
}

/** What terminals send for keys that a line has no letter for. */
const sequences: Readonly<Record<string, string>> = { '\u001b[6~': 'pagedown', '\u001b[5~': 'pageup' };

function meant(line: string, model: Model, places: Places): readonly Event[] | string | undefined {
  const typed = line.trim();
  const { over } = model;
  if (over && over.is !== 'help') return eventsInOver(typed, over);
  const left = over ? [key('escape')] : [];
  if (typed === '') return left.length > 0 ? left : [key('enter')];
  if (/^\d+$/u.test(typed)) {
    const at = placeOf(Number(typed), model, places);
    return typeof at === 'string' ? at : [...left, { is: 'select', at }, key('enter')];
  }
  const entry = keys.find((one) => isNamed(one, sequences[typed] ?? typed));
  return entry && [...left, { is: 'key', key: keyOf(entry.keys[0] ?? '') }];
}

/** Where the row stands that the number was said with, or the row at that place; a text where there is none. */
function placeOf(typed: number, { list: { rows, offset, total = 0 } }: Model, places: Places): number | string {
  const meantRow = places.get(typed);
  if (meantRow) {
    const found = rows.findIndex((row) => isOneRow(row, meantRow));
    return found < 0 ? `${sanitize(nameOf(meantRow))} is not in this list any more.` : offset + found;
  }
  if (typed >= 1 && typed <= total) return typed - 1;
  return total === 0 ? 'There is none here.' : `There are ${total}.`;
}

function isNamed({ keys: names, shown, brief, about, act }: KeyEntry, typed: string): boolean {
  if (names.includes(typed)) return true;
  const words = [brief, act, about, shown.toLowerCase(), ...names.filter((name) => name.length > 1)];
  return typed.length > 1 && words.includes(typed.toLowerCase());
}

function keyOf(named: string): Key {
  const isLetter = [...named].length === 1;
  return {
    name: named.replace(/^ctrl-/u, ''),
    ctrl: named.startsWith('ctrl-'),
    alt: false,
    text: isLetter ? named : '',
  };
}

function eventsInOver(typed: string, over: Exclude<Over, { readonly is: 'help' }>): readonly Event[] | undefined {
  if (typed === '') return [key('escape')];
  switch (over.is) {
    case 'prompt':
      return [...[...over.text].map(() => key('backspace')), key('paste', typed), key('enter')];
    case 'question':
      return over.answers.some((answer) => answer.key === typed) || typed === 'n' ? typedKeys(typed) : undefined;
    case 'pick': {
      const choices = choicesIn(over);
      const named = choices.findIndex(({ value, name }) => value === typed || name === typed);
      const place = named < 0 ? Number(typed) - 1 : named;
      if (choices[place]) return [...Array.from({ length: place }, () => key('down')), key('enter')];
      const isTime = over.of === 'snooze';
      return isTime || choicesIn({ ...over, typed }).length > 0 ? [...typedKeys(typed), key('enter')] : undefined;
    }
  }
}
