import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type { Schema } from '../api/operation.ts';
import { fieldsIn, isRecord, ownOf } from '../text/record.ts';
import { meanings } from './meanings.ts';

export type { JsonSchema };

export type References = {
  /** Schemas that are referred to instead of repeated. */
  readonly named: Readonly<Record<string, Schema>>;
  /** How a reference is written. */
  readonly path: (name: string) => string;
};

/**
 * A schema of the table as JSON Schema 2020-12. Our own checks carry their limits as metadata, which the converter
 * copies; a pattern is taken over as it is, and a check that has no JSON Schema form is left to the service.
 */
export function jsonSchemaOf(schema: Schema, references?: References): JsonSchema {
  const {
    $schema: _,
    $defs: __,
    ...converted
  } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    // What the service takes, not what a default would make of it.
    typeMode: 'input',
    definitions: references ? { ...references.named } : undefined,
    overrideRef: references && (({ referenceId }) => references.path(referenceId)),
    overrideAction({ valibotAction, jsonSchema }) {
      if (valibotAction.type === 'regex') return { ...jsonSchema, ...patternOf(fieldsIn(valibotAction)) };
      return valibotAction.type === 'check' || valibotAction.type === 'raw_check' ? jsonSchema : undefined;
    },
  });
  // What is tidied stays a schema, which a walk through JSON of any kind does not show.
  return tidy(converted) as JsonSchema;
}

/** For whoever refuses a field that is not described, at every depth; own data may have any key. */
export function closed(schema: JsonSchema): JsonSchema {
  const inner = (one: JsonSchema | boolean) => (typeof one === 'object' ? closed(one) : one);
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)])),
      additionalProperties: schema.additionalProperties ?? false,
    }),
    ...(items !== undefined && !Array.isArray(items) && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
  };
}

/**
 * As a person would have written it: no empty `required`, null as a second type where that is enough, a type beside
 * every constant (generators make `unknown` of one without), and a description of every field.
 */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (!isRecord(value)) return value;
  const schema = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, key === 'properties' ? tidyFields(each) : tidy(each)]),
  );
  if ('const' in schema) schema.type ??= typeof schema.const;
  if (Array.isArray(schema.enum)) schema.type ??= 'string';
  if (Array.isArray(schema.required) && schema.required.length === 0) delete schema.required;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
  const [only, nothing, ...more]: JsonSchema[] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  const isPlain = only && nothing?.type === 'null' && more.length === 0 && typeof only.type === 'string';
  if (!isPlain || only.type === 'object' || only.enum) return schema;
  const { anyOf: _, ...rest } = schema;
  return { ...only, ...rest, type: [only.type, 'null'] };
}

const tidyFields = (fields: unknown): unknown =>
  Object.fromEntries(Object.entries(fieldsIn(fields)).map(([name, field]) => [name, described(name, tidy(field))]));

function described(name: string, field: unknown): unknown {
  const about = ownOf(meanings, name);
  if (!isRecord(field) || about === undefined || '$ref' in field || 'description' in field) return field;
  return { ...field, description: about };
}

/** JSON Schema knows no flags: it reads every pattern as Unicode, and one that ignores case says so in its metadata. */
function patternOf({ requirement }: Readonly<Record<string, unknown>>): { pattern?: string } {
  if (!(requirement instanceof RegExp)) return {};
  return requirement.flags.includes('i') ? {} : { pattern: requirement.source };
}
