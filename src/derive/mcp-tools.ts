import { operations } from '../api/index.ts';
import type { Operation, Schema, Table } from '../api/operation.ts';
import { fieldsOf } from '../api/shape.ts';
import { capital } from '../text/capital.ts';
import { type Reach, reachOf } from './grants.ts';
import { closed, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { type Toolset, toolsetOf } from './toolsets.ts';

type Annotations = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
};

type ObjectSchema = JsonSchema & { readonly type: 'object' };

/** An operation as a tool of the Model Context Protocol. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Annotations;
  readonly reach: Reach;
  readonly toolset: Toolset;
  readonly operation: Operation;
};

/** A tool for every operation, in the table's order. `maySend`: publishing is allowed. */
export const toolsOf = ({ maySend }: { readonly maySend: boolean }, table: Table = operations): Tool[] =>
  Object.values(table).map((operation) => {
    const reach = reachOf(operation);
    return {
      name: operation.id,
      title: titleOf(operation.id),
      description: describe(operation, reach, maySend),
      inputSchema: inputSchemaOf(operation, maySend),
      outputSchema: outputSchemaOf(operation),
      annotations: annotationsOf(operation, reach),
      reach,
      toolset: toolsetOf[operation.resource],
      operation,
    };
  });

/** `getChangelogEntry` → `Get changelog entry`. */
const titleOf = (id: string): string => capital(id.replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`));

/**
 * What may be repeated sets something: it overwrites or removes what was there. What must not only adds. Of what reads
 * nothing else is said, since the other hints have no meaning there: the list of tools is read by every session.
 */
const annotationsOf = ({ safety, reaches }: Operation, reach: Reach): Annotations =>
  safety === 'read'
    ? { readOnlyHint: true }
    : {
        readOnlyHint: false,
        destructiveHint: safety === 'repeatable',
        idempotentHint: safety === 'repeatable',
        openWorldHint: reaches !== undefined || reach === 'send' || reach === 'webhooks',
      };

function describe(operation: Operation, reach: Reach, maySend: boolean): string {
  const { summary, module, safety, reaches, credentials, secret, remark } = operation;
  const remarks = [
    module && safety !== 'read' && `Needs the ${module.replaceAll('_', ' ')} module.`,
    reaches === 'customer' && 'A real message goes to a real customer: be sure of the text and the recipient.',
    reach === 'send' && reaches !== 'customer' && 'A real customer may hear of it.',
    secret && `svc keeps the ${secret.replaceAll('_', ' ')}; the answer does not hold it.`,
    reaches === 'public' &&
      (maySend
        ? 'With status published, customers see it.'
        : 'Drafts only: this cannot publish, and cannot change a published entry.'),
    remark,
    operation.destructive && 'This cannot be undone.',
    safety === 'once' && 'If the outcome is unknown, do not repeat it.',
    !credentials.includes('api_key') &&
      safety !== 'read' &&
      `Only with ${credentials.includes('oauth') ? 'an OAuth login' : 'a machine-to-machine token'}.`,
  ].filter((remark) => typeof remark === 'string');
  return [`${summary}.`, ...remarks].join(' ');
}

/** Every read takes it: an answer of a few fields is short. */
export const fieldsArgument: JsonSchema = { type: 'string', description: 'Names' };

/** In fewer words, for arguments that many reads have. */
const short: Readonly<Record<string, string>> = {
  page: 'From 1',
  per_page: 'Default 50',
  updated_since: 'ISO 8601',
  contact_id: 'Contact',
  id: 'Id',
  contactList: 'Id',
  account: 'Id',
  category_id: 'Category',
  q: 'Text in it',
};

/** An argument of a read: svc checks its limits all the same. */
function brief(name: string, schema: JsonSchema): JsonSchema {
  const { minimum: _, maximum: __, examples: ___, format: ____, ...rest } = schema;
  return { ...rest, description: short[name] ?? rest.description?.replace('One exact status', 'Exact') };
}

/** Path, query and body in one flat object: their names never clash, as a test checks. */
function inputSchemaOf(operation: Operation, maySend: boolean): ObjectSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const schema of [operation.params, operation.query, operation.body]) {
    if (!schema) continue;
    const converted = operation.safety === 'read' ? jsonSchemaOf(schema) : closed(jsonSchemaOf(schema));
    // Clients refuse alternatives at the top: of two forms every field is offered, and the service's rules are checked later.
    const forms = converted.anyOf ?? [converted];
    for (const form of forms) if (typeof form === 'object') Object.assign(properties, form.properties);
    if (!converted.anyOf) required.push(...(converted.required ?? []));
  }
  required.push(...(operation.clearsWithout ?? []));
  if (operation.safety === 'read') {
    for (const [name, schema] of Object.entries(properties)) properties[name] = brief(name, schema);
    properties.fields = fieldsArgument;
  }
  if (operation.reaches === 'public' && !maySend) {
    properties.status = { type: 'string', enum: ['draft'], description: 'Publishing was not granted' };
    delete properties.published_at;
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    // svc refuses an unknown argument by name in any case.
    ...(operation.safety !== 'read' && { additionalProperties: false }),
  };
}

/**
 * What an answer holds, as far as `judgeAnswer` vouches for its kind: a client refuses an answer that does not fit. Other
 * fields are not named: the service may add some, and `fields` leaves some out.
 */
function outputSchemaOf(operation: Operation): ObjectSchema {
  const { response, answer, safety } = operation;
  const { key } = answer;
  // The list of what reads is in every session, and has no room for the names of its answers.
  if (safety === 'read') return { type: 'object' };
  if (key === undefined) return { type: 'object', properties: described(operation) };
  const type = fieldsOf(response)[key]?.type;
  const kinds: Readonly<Record<string, JsonSchema>> = { list: { type: 'array' }, object: { type: 'object' } };
  return { type: 'object', properties: { [key]: kinds[type ?? ''] ?? {} } };
}

/** Fields by name and meaning. Their kinds are not vouched for: a warning is worth more than an answer that is refused. */
function described({ response }: Operation): Record<string, JsonSchema> {
  const { properties = {} } = jsonSchemaOf(response);
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      typeof field === 'object' && field.description !== undefined ? { description: field.description } : {},
    ]),
  );
}

/** Flat arguments → the parts of a call. */
export function partsOf(operation: Operation, input: Readonly<Record<string, unknown>>) {
  const pick = (schema: Schema | undefined) => {
    if (!schema) return undefined;
    const names = namesOf(schema);
    return Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name)));
  };
  return { params: pick(operation.params), query: pick(operation.query), body: pick(operation.body) };
}

/** Fields of an object schema, or of all its forms. */
function namesOf(schema: Schema & { readonly options?: readonly Schema[] }): string[] {
  const { options } = schema;
  return schema.type === 'union' && options ? options.flatMap(namesOf) : Object.keys(fieldsOf(schema));
}
