import { operations } from '../api/index.ts';
import type { Operation, Schema, Table } from '../api/operation.ts';
import { fieldsOf } from '../api/shape.ts';
import { type Reach, reachOf } from './grants.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';

export type Annotations = {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
};

/** An operation as a tool of the Model Context Protocol. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: 'object' };
  readonly annotations: Annotations;
  readonly reach: Reach;
  readonly operation: Operation;
};

/** A tool for every operation, in the table's order. `maySend`: publishing is allowed. */
export const toolsOf = ({ maySend }: { readonly maySend: boolean }, table: Table = operations): Tool[] =>
  Object.values(table).map((operation) => {
    const reach = reachOf(operation);
    return {
      name: operation.id,
      description: describe(operation, reach, maySend),
      inputSchema: inputSchemaOf(operation, maySend),
      annotations: annotationsOf(operation, reach),
      reach,
      operation,
    };
  });

const annotationsOf = ({ summary, safety, destructive, reaches }: Operation, reach: Reach): Annotations => ({
  title: summary,
  readOnlyHint: safety === 'read',
  destructiveHint: destructive === true,
  idempotentHint: safety === 'read' || safety === 'repeatable',
  openWorldHint: reaches !== undefined || reach === 'send' || reach === 'webhooks',
});

function describe(operation: Operation, reach: Reach, maySend: boolean): string {
  const { summary, answer, module, safety, reaches, credentials, secret, remark } = operation;
  const remarks = [
    answer.shape === 'list' && answer.paged && 'Pages of 50 unless per_page says otherwise, at most 100.',
    module && `Needs the ${module.replaceAll('_', ' ')} module.`,
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
      `Only with ${credentials.includes('oauth') ? 'an OAuth login' : 'a machine-to-machine token'}.`,
  ].filter((remark) => typeof remark === 'string');
  return [`${summary}.`, ...remarks].join(' ');
}

/** Path, query and body in one flat object: their names never clash, as a test checks. */
function inputSchemaOf(operation: Operation, maySend: boolean): Tool['inputSchema'] {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const schema of [operation.params, operation.query, operation.body]) {
    if (!schema) continue;
    const converted = jsonSchemaOf(schema);
    // Clients refuse alternatives at the top: of two forms every field is offered, and the service's rules are checked later.
    const forms = converted.anyOf ?? [converted];
    for (const form of forms) if (typeof form === 'object') Object.assign(properties, form.properties);
    if (!converted.anyOf) required.push(...(converted.required ?? []));
  }
  required.push(...(operation.clearsWithout ?? []));
  if (operation.reaches === 'public' && !maySend) {
    properties.status = { type: 'string', enum: ['draft'] };
    delete properties.published_at;
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
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
