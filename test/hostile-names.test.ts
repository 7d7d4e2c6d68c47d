// Names that others choose and that every JavaScript object has a member of: they are names like any other.
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { nameOf } from '../src/answers/report-words.ts';
import { check } from '../src/api/check.ts';
import { operations } from '../src/api/index.ts';
import { changes } from '../src/command/changes.ts';
import { Failure } from '../src/errors.ts';
import { isSameValue } from '../src/http/look/agree.ts';
import { answeredOtherwise } from '../src/http/look/answered-otherwise.ts';
import { shownOtherwise } from '../src/http/look/shown-otherwise.ts';
import { failureAnswer } from '../src/mcp/failure.ts';

const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

/** As JSON has it: with `__proto__` as a field. */
const holding = <T>(name: string, value: T): Record<string, T> => Object.fromEntries([[name, value]]);

test.each(names)('a failure whose field is named %s is told to an assistant', (name) => {
  const fields = holding(name, ['is not known', 'is odd']);
  const { structuredContent, content } = failureAnswer(new Failure('rejected', 'No.', { fields }), { boundary: 'b' });
  expect(structuredContent).toMatchObject({ error: { kind: 'rejected' } });
  expect(JSON.stringify(structuredContent)).toContain(`"fields":{"${name}":["is not known","is odd"]}`);
  expect(content[0]?.text).toContain(`- ${name}: is not known`);
});

test.each(names.slice(0, -1))('a key of own data named %s is judged', (name) => {
  const checked = check(v.record(v.string(), v.pipe(v.string(), v.maxLength(1, 'is too long'))), { [name]: 'long' });
  // Valibot leaves out what every object has; what it does judge is told.
  expect(checked.ok ? [] : checked.fields[name]).toEqual(name === 'constructor' ? [] : ['is too long']);
});

test.each(names)('a write that sent a field named %s is compared by what its answer holds', (name) => {
  const sent = { subject: 'Export fails', ...holding(name, 'x') };
  const ticket = { id: 7, subject: 'Export fails' };
  expect(answeredOtherwise({ ...operations.createTicket, asMade: {} }, sent, { ticket })).toBe(false);
  expect(shownOtherwise(operations.updateTicket, sent, { ticket })).toBeUndefined();
  const other = { ticket: { ...ticket, ...holding(name, 'y') } };
  expect(answeredOtherwise({ ...operations.createTicket, asMade: {} }, sent, other)).toBe(true);
  expect(shownOtherwise(operations.updateTicket, sent, other)).toBe(`${name} "y"`);
});

test.each(names)('own data without %s is the same as with an empty one', (name) => {
  expect(isSameValue({}, holding(name, ''))).toBe(true);
  expect(isSameValue({}, holding(name, 'x'))).toBe(false);
});

test.each(names)('a field named %s is told as changed', (name) => {
  expect(changes(holding(name, 'x'))).toMatch(/ is x$/u);
});

test.each(names)('a way of handling named %s stands in a report', (name) => {
  expect(nameOf('conversations_by_handling', { key: name, value: 1, before: 0 })).toBe(name);
});
