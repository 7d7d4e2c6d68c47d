import * as v from 'valibot';
import { describe, expect, test, vi } from 'vitest';
import { createContacts, listContacts } from '../../src/api/contacts.ts';
import { createContactList } from '../../src/api/lists.ts';
import { getTicket, listTickets } from '../../src/api/tickets.ts';
import { judgeAnswer, looksLikeHtml, readError } from '../../src/http/exchange/answer.ts';
import { type Body, isOwnError, readBody } from '../../src/retry/own-word.ts';
import { parseExactly } from '../../src/text/exact-json.ts';
import { jsonIn } from '../../src/text/json.ts';
import { fieldsIn } from '../../src/text/record.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('a body', () => {
  test('is JSON, or is none', () => {
    expect(readBody('{"a":1}')).toEqual({ form: 'json', json: { a: 1 } });
    expect(readBody('null')).toEqual({ form: 'json', json: null });
    for (const text of ['', '{"a":', '<html>', '\ufeff{}']) expect(readBody(text)).toEqual({ form: 'none' });
  });

  test('of 200 levels is read, and of one more is too deep', () => {
    expect(readBody(nested(200)).form).toBe('json');
    expect(readBody(nested(201))).toEqual({ form: 'deep' });
  });

  test('of millions of levels is never parsed: its depth is told from its text', () => {
    const parse = vi.spyOn(JSON, 'parse');
    expect(readBody(nested(3_000_000))).toEqual({ form: 'deep' });
    expect(readBody(`{"a":${nested(3_000_000)}}\n`)).toEqual({ form: 'deep' });
    expect(readBody('['.repeat(3_000_000))).toEqual({ form: 'none' });
    expect(jsonIn(nested(3_000_000))).toBe(undefined);
    expect(() => parseExactly(nested(3_000_000))).toThrow(SyntaxError);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test('of any size is read where it only looks deep: brackets in strings, and many values side by side', () => {
    for (const value of [{ a: '[{"\\\\'.repeat(5_000) }, Array(5_000).fill([{ '[': '\\"[' }])])
      expect(readBody(JSON.stringify(value))).toEqual({ form: 'json', json: value });
  });

  test.each([
    ['<!doctype html><p>', true],
    ['<!DOCTYPE HTML>', true],
    [' \n<html lang="en">', true],
    ['<head>', true],
    ['<body class="x">', true],
    ['<xml>', false],
    ['<bodyguard>', false],
    ['{"a":"<html>"}', false],
    ['', false],
  ])('%j: a web page? %s', (text, isPage) => {
    expect(looksLikeHtml(text)).toBe(isPage);
  });
});

describe('what an error says', () => {
  const nothing = { code: undefined, description: undefined, text: undefined, fields: undefined };

  test.each<[unknown, object]>([
    [{ error: 'forbidden' }, { code: 'forbidden', text: 'forbidden' }],
    [
      { error: 'x', error_description: 'y', message: 'z' },
      { code: 'x', description: 'y', text: 'x' },
    ],
    [{ message: 'm', detail: 'd', title: 't' }, { text: 'm' }],
    [{ detail: 'd', title: 't' }, { text: 't: d' }],
    [{ title: 't' }, { text: 't' }],
    [{ detail: 'd', title: 'A.B:' }, { text: 'A.B: d' }],
    [
      {
        errors: [
          { pointer: '/contact/email', detail: 'x' },
          { pointer: 'a/b', detail: 'y' },
        ],
      },
      { fields: { 'contact.email': ['x'], 'a.b': ['y'] } },
    ],
    [{ error: 7, message: ['m'] }, {}],
    [
      { message: 'm', errors: { email: ['a', 'b'] } },
      { text: 'm', fields: { email: ['a', 'b'] } },
    ],
    [{ errors: { email: 'one', age: { min: 1 } } }, { fields: { email: ['one'], age: ['{"min":1}'] } }],
    [{ errors: { 'x.y': [null, 'z'] } }, { fields: { 'x.y': ['null', 'z'] } }],
    [{ errors: {} }, {}],
    [{ errors: 'wrong' }, {}],
    [{ errors: null }, {}],
    [[], {}],
  ])('%j', (json, said) => {
    expect(readError(json)).toEqual({ ...nothing, ...said });
  });

  test.each([null, undefined, 'text', 7])('%j says nothing', (json) => {
    expect(readError(json)).toEqual({});
  });
});

describe('an error is the service’s own', () => {
  const json = (value: unknown): Body => ({ form: 'json', json: value });
  const own = { error: 'x' };
  const problem = 'application/problem+json; charset=utf-8';

  test.each<[number, Body, boolean, string?]>([
    [400, json(own), true],
    [404, json(own), true],
    [422, json({ message: 'x' }), true],
    [500, json(own), true],
    [500, json({ error: '' }), true],
    [500, json({ ...own, timestamp: '2026-01-01', status: 500, path: '/tickets' }), false],
    [500, json({ ...own, message: 'x' }), false],
    [500, json({ error: { code: 1 } }), false],
    [501, json(own), false],
    [505, json(own), false],
    [520, json(own), false],
    [524, json(own), false],
    [529, json(own), false],
    [599, json(own), false],
    [408, json(own), false],
    [499, json(own), false],
    [408, json({ title: 'x' }), false, 'application/problem+json'],
    [500, json({ message: 'x' }), false],
    [502, json(own), false],
    [503, json(own), false],
    [504, json(own), false],
    [200, json(own), false],
    [302, json(own), false],
    [399, json(own), false],
    [400, json({ error: { code: 1 } }), false],
    [400, json({ detail: 'x' }), false],
    [400, json({ detail: 'x' }), false, 'application/json'],
    [400, json({ detail: 'x' }), true, problem],
    [400, json({ title: 'x' }), true, problem],
    [400, json({ title: 'x' }), true, 'APPLICATION/PROBLEM+JSON'],
    [400, json({ title: 'x' }), false, 'x-application/problem+json'],
    [400, json({ title: 7, detail: null }), false, problem],
    [500, json({ title: 'x' }), false, problem],
    [400, json(null), false],
    [400, json('error'), false],
    [400, { form: 'none' }, false],
    [400, { form: 'deep' }, false],
  ])('%i %j: %s (%s)', (status, body, isOwn, type) => {
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    expect(isOwnError({ status, headers, body: '' }, body)).toBe(isOwn);
  });
});

describe('a success', () => {
  const list = { contacts: [], meta: { current_page: 1, last_page: 1, total: 0 } };
  const judged = (operation: Parameters<typeof judgeAnswer>[0], json: unknown) =>
    judgeAnswer(operation, { form: 'json', json });

  test('that agrees lacks nothing, and fields that nobody knows are no trouble', () => {
    expect(judged(listContacts, { ...list, extra: 1 })).toMatchObject({ missing: [] });
    expect(judged(createContactList, { contact_list_id: 7 })).toMatchObject({ missing: [] });
  });

  test('lacks nothing where a text that need not be given is null; a name, a subject or a title is given always', () => {
    const missingOf = (operation: Parameters<typeof judgeAnswer>[0], json: unknown) =>
      fieldsIn(judged(operation, json)).missing;
    const person = { contact_id: 7, name: null, last_name: null, email: null, phone: null };
    const missing = missingOf(getTicket, { ticket: { id: 7, subject: null, description: null, contact: person } });
    expect(missing).toEqual(expect.arrayContaining(['ticket.subject', 'ticket.contact.name']));
    for (const path of ['ticket.description', 'ticket.contact.last_name', 'ticket.contact.email'])
      expect(missing).not.toContain(path);
    expect(missingOf(getTicket, { ticket: { id: 7 } })).toContain('ticket.description');
    expect(missingOf(getTicket, { ticket: { id: 7, description: 7 } })).toContain('ticket.description');
  });

  test('is used though a promised field is missing or of another type; each is named once', () => {
    expect(judged(listContacts, { ...list, meta: { ...list.meta, total: 'many' } })).toMatchObject({
      missing: ['meta.total'],
    });
    expect(judged(listContacts, { contacts: [] })).toMatchObject({ missing: ['meta'] });
    const judgement = judged(getTicket, { ticket: { id: 7 } });
    expect(judgement).toMatchObject({ missing: expect.arrayContaining(['ticket.subject', 'ticket.messages']) });
    expect(judgement).not.toMatchObject({ missing: expect.arrayContaining(['ticket.id']) });
  });

  test('with a list in the place of an object is used, and the place named; an empty one is no trouble', () => {
    const response = v.object({
      ticket: v.object({ id: v.number(), meta: v.object({ note: v.optional(v.string()) }) }),
    });
    const missingOf = (meta: unknown) => judged({ ...getTicket, response }, { ticket: { id: 7, meta } });
    expect(missingOf([{ note: 'x' }])).toMatchObject({ missing: ['ticket.meta'] });
    expect(missingOf([])).toMatchObject({ missing: [] });
    expect(missingOf({})).toMatchObject({ missing: [] });
  });

  test.each<[unknown, string]>([
    [null, 'null'],
    [[{}], 'a list'],
    [[1, {}], 'a list of other things than records'],
    [[null], 'a list of other things than records'],
    ['text', 'a text'],
    [7, 'a number'],
    [true, 'true or false'],
    [{}, 'an object without "contacts"'],
    [{ contacts: {} }, 'an object as "contacts"'],
    [{ contacts: 'x' }, 'a text as "contacts"'],
    [{ contacts: null }, 'null as "contacts"'],
    [{ contacts: [[]] }, 'a list of other things than records as "contacts"'],
    [{ contacts: [{}, 1] }, 'a list of other things than records as "contacts"'],
  ])('of a list that is %j is none', (json, other) => {
    expect(judged(listContacts, json)).toEqual({ other });
  });

  test.each<[unknown, string]>([
    [{ ticket: [] }, 'a list as "ticket"'],
    [{ ticket: [{ id: 7 }] }, 'a list as "ticket"'],
    [{ ticket: {} }, 'an empty "ticket"'],
    [{ ticket: { other: 1 } }, 'an empty "ticket"'],
    [{ ticket: 7 }, 'a number as "ticket"'],
    [{ tickets: {} }, 'an object without "ticket"'],
  ])('of a record that is %j is none', (json, other) => {
    expect(judged(getTicket, json)).toEqual({ other });
  });

  test('may hold either where the service answers with either', () => {
    const contact = { contact_id: 7, name: 'Ada' };
    expect(judged(createContacts, { contacts: contact })).toMatchObject({ missing: [] });
    expect(judged(createContacts, { contacts: [contact] })).toMatchObject({ missing: [] });
    expect(judged(createContacts, { contacts: 7 })).toEqual({ other: 'a number as "contacts"' });
  });

  test('without a record of its own has at least one of its fields', () => {
    expect(judged(createContactList, { status: 'up' })).toEqual({ other: 'an object with none of its fields' });
    expect(judged(createContactList, [])).toEqual({ other: 'a list' });
  });

  test('that is no JSON or too deep is none', () => {
    expect(judgeAnswer(listTickets, { form: 'none' })).toEqual({ other: 'no JSON' });
    expect(judgeAnswer(listTickets, { form: 'deep' })).toEqual({
      other: 'JSON that is nested more than 200 levels deep',
    });
  });
});
