import type { Schema } from './operation.ts';

/** What a field of the table is, for whoever derives something from it: flags, prompts, query strings. */
export type Shape = {
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'list' | 'pairs' | 'object' | 'unknown';
  readonly required: boolean;
  readonly nullable: boolean;
  readonly description?: string;
  readonly choices?: readonly string[];
  /** Values that the document names, where others may exist. */
  readonly known?: readonly string[];
  /** JSON-Schema format, for example `date-time`. */
  readonly format?: string;
  /** Of a text: the regular expression that it has to match. */
  readonly pattern?: string;
  /** Of a list: its items. */
  readonly item?: Shape;
  /** Of an object: its fields in order. */
  readonly fields?: Readonly<Record<string, Shape>>;
  /** Judges a value of this field, without the optional and nullable around it. */
  readonly schema: Schema;
};

/** What one or the other of valibot's schemas holds besides. */
export type AnySchema = Schema & {
  readonly wrapped?: AnySchema;
  /** The schema that is piped, then what it goes through. */
  readonly pipe?: readonly [AnySchema, ...Action[]];
  readonly item?: AnySchema;
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly options?: readonly string[];
};

type Action = {
  readonly kind: string;
  readonly type: string;
  readonly description?: string;
  readonly metadata?: { readonly format?: string; readonly pattern?: string; readonly examples?: readonly string[] };
};

/** The fields of an object schema, in order; none for anything else. */
export function fieldsOf(schema: Schema | undefined): Readonly<Record<string, Shape>> {
  return (schema && shapeOf(schema).fields) ?? {};
}

/** The fields that hold a value; those inside of an object by dotted paths. */
export const leavesOf = (fields: Readonly<Record<string, Shape>> = {}, before = ''): [path: string, shape: Shape][] =>
  Object.entries(fields).flatMap(([name, shape]): [string, Shape][] =>
    shape.type === 'object' ? leavesOf(shape.fields, `${before}${name}.`) : [[`${before}${name}`, shape]],
  );

/** Read once: every answer of a long run asks again. */
const shapes = new WeakMap<Schema, Shape>();

export function shapeOf(schema: Schema): Shape {
  const known = shapes.get(schema) ?? readShape(schema);
  shapes.set(schema, known);
  return known;
}

function readShape(schema: Schema): Shape {
  let inner: AnySchema = schema;
  let required = true;
  let nullable = false;
  let description: string | undefined;
  let format: string | undefined;
  let pattern: string | undefined;
  let known: readonly string[] | undefined;
  let whole = false;
  // Walk in through optional(), nullable() and pipe(), picking up what each says.
  for (;;) {
    const [piped, ...steps] = inner.pipe ?? [];
    for (const step of steps) {
      if (step.type === 'description') description ??= step.description;
      if (step.type === 'metadata') {
        format ??= step.metadata?.format;
        pattern ??= step.metadata?.pattern;
        known ??= step.metadata?.examples;
      }
      if (step.type === 'integer') whole = true;
    }
    if (inner.wrapped) {
      if (inner.type === 'optional') required = false;
      if (inner.type === 'nullable') nullable = true;
      inner = inner.wrapped;
    } else if (piped && piped !== inner && (piped.pipe || piped.wrapped)) {
      inner = piped;
    } else break;
  }
  return {
    ...kindOf(inner, whole),
    required,
    nullable,
    description,
    format,
    pattern,
    known,
    schema: bare(schema),
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
      return { type: 'text', choices: schema.options };
    case 'array':
      return { type: 'list', item: schema.item && shapeOf(schema.item) };
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
  const isWrapping = ({ kind }: { readonly kind: string }, at: number) => at === 0 || kind === 'metadata';
  while (inner.wrapped && (inner.pipe ?? []).every(isWrapping)) inner = inner.wrapped;
  return inner;
}
