import { check } from '../api/check.ts';
import { fieldsOf } from '../api/shape.ts';
import { operationOf, type Param } from '../command/command.ts';
import { longName } from '../command/flag-words.ts';
import { globalFlags } from '../command/global-flags.ts';
import { argName, flagName } from '../command/param.ts';
import { columnNames, fieldsOfRow, nameKey } from '../command/row.ts';
import { Failure } from '../errors.ts';
import type { Invocation } from './invocation.ts';

/** Refuses what is empty or blank, and a list of commas alone: a variable that is not set leaves such a text, and it would say something else. */
export function refuseNoValue({ command, argTexts, flagTexts, globals }: Invocation): void {
  const given = Object.fromEntries(Object.entries(globals));
  for (const [term] of globalFlags) {
    const name = longName(term).slice(2);
    const text = given[name.replaceAll(/-[a-z]/gu, (letters) => letters.slice(1).toUpperCase())];
    if (typeof text === 'string') refuse(`--${name}`, {}, [text]);
  }
  const args = Object.entries<Param<unknown>>(command.args);
  for (const [key, param] of args) refuse(argName(key, param), param, argTexts[key]);
  for (const [key, param] of Object.entries<Param<unknown>>(command.flags)) {
    const label = `--${flagName(key, param)}`;
    if (flagTexts[key]?.at(-1) === '' && empties(command, key)) continue;
    refuse(label, param, flagTexts[key], () => {
      const { choices = [] } = command.flags.clear ?? {};
      return choices.includes(key) ? `To empty the field: --clear ${key}` : undefined;
    });
  }
}

type Taking = Pick<Param<unknown>, 'takesEmpty' | 'takesBlanks' | 'isLine' | 'offers' | 'commas' | 'many' | 'choices'>;

/** A list of nothing, or one of some words that is none. What an account calls its own statuses, svc does not know. */
const namesNothing = (text: string, label: string, { isLine, commas, many, choices }: Taking): boolean =>
  !isLine &&
  (commas === true || many === true || choices !== undefined || label === '--status') &&
  /^[\s,]*$/u.test(text);

function isTaken(text: string, label: string, taking: Taking): boolean | undefined {
  if (text === '') return taking.takesEmpty;
  return text.trim() === '' ? taking.takesBlanks : !namesNothing(text, label, taking);
}

function refuse(
  label: string,
  taking: Taking,
  texts: readonly string[] = [],
  way: () => string | undefined = () => undefined,
): void {
  const { isLine, offers } = taking;
  for (const text of isLine ? texts.slice(0, 1) : texts) {
    if (isTaken(text, label, taking)) continue;
    const isBlank = text.trim() === '';
    const others = Array.isArray(offers) ? `It also takes ${offers.join(', ')}.` : undefined;
    throw new Failure('usage', `${label} ${isBlank ? 'is empty' : 'holds nothing but commas'}.`, {
      hint: ['If a variable stands there, it has no value.', way() ?? others].filter(Boolean).join('\n'),
    });
  }
}

/** Whether the field of a record may be that: a record is made without it, or an update makes it empty. The service keeps no phone that is none. */
function empties(command: Invocation['command'], key: string): boolean {
  const { row } = command;
  const operation = operationOf(command);
  if (operation?.method === 'GET') return false;
  const path = row && columnNames(row).get(nameKey(key));
  const shape = row ? fieldsOfRow(row)[path ?? '']?.shape : fieldsOf(operation?.body)[key];
  const isUpdate = row?.needsChange ?? operation?.method === 'PUT';
  const mayBeMissing = isUpdate || shape?.required === false;
  return shape?.type === 'text' && mayBeMissing && !shape.known && key !== 'phone' && check(shape.schema, '').ok;
}
