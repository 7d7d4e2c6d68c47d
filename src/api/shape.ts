import type * as v from 'valibot';
import type { Schema } from './operation.ts';

/** What a field of the table is, for whoever derives something from it: flags, prompts, query strings. */
export type Shape = {
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'list' | 'pairs' | 'object' | 'unknown';
  readonly required: boolean;
  readonly nullable: boolean;
  readonly description?: string;
  readonly choices?: readonly string[];
  /** JSON-Schema format, for example `date-time`. */
  readonly format?: string;
  /** Of a list: its items. */
  readonly item?: Shape;
  /** Of an object: its fields in order. */
  readonly fields?: Readonly<Record<string, Shape>>;
  /** Judges a value of this field, without the optional and nullable around it. */
  readonly schema: Schema;
};

type AnySchema = Schema & {
  readonly wrapped?: Schema;
  readonly pipe?: readonly unknown[];
  readonly item?: Schema;
  readonly entries?: Record<string, Schema>;
  readonly options?: readonly unknown[];
};

type Action = {
  readonly kind: string;
  readonly type: string;
  readonly description?: string;
  readonly metadata?: { readonly format?: string };
};

/** The fields of an object schema, in order; none for anything else. */
export function fieldsOf(schema: Schema | undefined): Readonly<Record<string, Shape>> {
  return (schema && shapeOf(schema).fields) ?? {};
}

/** Read once: every answer of a long run asks again. */
const shapes = new WeakMap<Schema, Shape>();

export function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema) ?? readShape(schema);
  shapes.set(schema, known);
  return known;
}

function readShape(schema: Schema): Shape {
  let inner = schema as AnySchema;
  let required = true;
  let nullable = false;
  let description: string | undefined;
  let format: string | undefined;
  let whole = false;
  // Walk in through optional(), nullable() and pipe(), picking up what each says.
  for (;;) {
    for (const step of (inner.pipe ?? []).slice(1) as Action[]) {
      if (step.type === 'description') description ??= step.description;
      if (step.type === 'metadata') format ??= step.metadata?.format;
      if (step.type === 'integer') whole = true;
    }
    if (inner.wrapped) {
      if (inner.type === 'optional') required = false;
      if (inner.type === 'nullable') nullable = true;
      inner = inner.wrapped as AnySchema;
    } else if (inner.pipe && inner.pipe[0] !== inner && (inner.pipe[0] as AnySchema | undefined)?.pipe) {
      inner = inner.pipe[0] as AnySchema;
    } else if (inner.pipe && (inner.pipe[0] as AnySchema).wrapped) {
      inner = inner.pipe[0] as AnySchema;
    } else break;
  }
  return {
    ...kindOf(inner, whole),
    required,
    nullable,
    description,
    format,
    schema: bare(schema as AnySchema),
  };
}

function kindOf(schema: AnySchema, whole: boolean): Pick<Shape, 'type' | 'choices' | 'item' | 'fields'> {
  switch (schema.type) {
    case 'string':
      return { type: 'text' };
    case 'number':
      return { type: whole ? 'integer' : 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'picklist':
      return { type: 'text', choices: schema.options as readonly string[] };
    case 'array':
      return { type: 'list', item: shapeOf(schema.item as Schema) };
    case 'record':
      return { type: 'pairs' };
    case 'object':
    case 'loose_object':
      return {
        type: 'object',
        fields: Object.fromEntries(Object.entries(schema.entries ?? {}).map(([key, field]) => [key, shapeOf(field)])),
      };
    default:
      return { type: 'unknown' };
  }
}

/** The schema that judges a present, non-null value. */
function bare(schema: AnySchema): Schema {
  let inner = schema;
  const isWrapping = (step: unknown, at: number) => at === 0 || (step as Action).kind === 'metadata';
  while (inner.wrapped && (inner.pipe ?? []).every(isWrapping)) inner = inner.wrapped as AnySchema;
  return inner as v.GenericSchema;
}
