import * as v from 'valibot';
import { expect, test } from 'vitest';
import { check } from '../../src/api/check.ts';
import { described, metadata, tags, text, time } from '../../src/api/fields.ts';
import { operations } from '../../src/api/index.ts';
import { fieldsOf, shapeOf } from '../../src/api/shape.ts';

/** The parts that people read; the schema itself is looked at below. */
const told = (schema: v.GenericSchema) => {
  const { type, required, nullable, description, choices, format } = shapeOf(schema);
  return { type, required, nullable, description, choices, format };
};

const plain = { required: true, nullable: false, description: undefined, choices: undefined, format: undefined };

test.for<[name: string, schema: v.GenericSchema, told: object]>([
  ['text', text(1, 5), { ...plain, type: 'text' }],
  ['a number', v.number(), { ...plain, type: 'number' }],
  ['a whole number', v.pipe(v.number(), v.integer(), v.minValue(1)), { ...plain, type: 'integer' }],
  ['a switch', v.boolean(), { ...plain, type: 'boolean' }],
  ['a choice', v.picklist(['a', 'b']), { ...plain, type: 'text', choices: ['a', 'b'] }],
  ['pairs', metadata, { ...plain, type: 'pairs' }],
  ['a union', v.union([v.string(), v.number()]), { ...plain, type: 'unknown' }],
  ['optional text', v.optional(v.string()), { ...plain, type: 'text', required: false }],
  ['nullable text', v.nullable(v.string()), { ...plain, type: 'text', nullable: true }],
  [
    'an optional, nullable, described time',
    v.optional(v.nullable(described('When', time))),
    { type: 'text', required: false, nullable: true, description: 'When', choices: undefined, format: 'date-time' },
  ],
  [
    'a description around the nullable',
    described('When', v.nullable(time)),
    { type: 'text', required: true, nullable: true, description: 'When', choices: undefined, format: 'date-time' },
  ],
  [
    'the outer of two descriptions',
    described('outer', described('inner', v.string())),
    { ...plain, type: 'text', description: 'outer' },
  ],
])('%s is recognised', ([, schema, expected]) => {
  expect(told(schema)).toEqual(expected);
});

test('a list tells what its items are', () => {
  expect(shapeOf(tags)).toMatchObject({ type: 'list', item: { type: 'text' } });
  expect(shapeOf(operations.syncContacts.body)).toMatchObject({
    fields: { contacts: { type: 'list', item: { type: 'object', fields: { email: { type: 'text' } } } } },
  });
});

test('the fields of a body come in the order of the document', () => {
  expect(Object.keys(fieldsOf(operations.createTicket.body))).toEqual([
    'subject',
    'description',
    'priority',
    'contact_id',
    'due_at',
  ]);
  expect(Object.keys(fieldsOf(operations.updateChangelogEntry.body))).toContain('labels');
  expect(fieldsOf(undefined)).toEqual({});
});

test("a field's own schema judges a value that is there, without the optional and nullable around it", () => {
  const fields = fieldsOf(operations.updateChangelogEntry.body);
  const version = fields.version?.schema as v.GenericSchema;
  expect(check(version, '1.0').ok).toBe(true);
  expect(check(version, 'x'.repeat(51)).ok).toBe(false);
  expect(check(version, null).ok).toBe(false);
  expect(check(version, undefined).ok).toBe(false);
  expect(check(shapeOf(described('When', v.nullable(time))).schema, null).ok).toBe(false);
});

test('a check around an optional schema is kept', () => {
  const schema = v.pipe(
    v.optional(v.string()),
    v.check((value) => value !== 'no', 'not that'),
  );
  expect(check(shapeOf(schema).schema, 'no').ok).toBe(false);
});
