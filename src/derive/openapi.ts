import { Account, Branding } from '../api/account.ts';
import { Call } from '../api/calls.ts';
import { Category, ChangelogEntry, ChangelogItem } from '../api/changelog.ts';
import { Contact, ContactItem, NewContact, NewContactBatch, NewContactRow, SyncContact } from '../api/contacts.ts';
import { Conversation, ConversationItem, ConversationMessage } from '../api/conversations.ts';
import { EventContact } from '../api/events.ts';
import { FeedbackPost, RoadmapColumn } from '../api/feedback.ts';
import { pageMeta } from '../api/fields.ts';
import { operations } from '../api/index.ts';
import { ContactList, ListContact } from '../api/lists.ts';
import { MeetingType } from '../api/meetings.ts';
import type { CredentialKind, Operation, Schema, Table } from '../api/operation.ts';
import { filledPath, isPreset, type Presets, presets } from '../api/path.ts';
import { type ResourceName, resources } from '../api/resources.ts';
import { fieldsOf } from '../api/shape.ts';
import { Attachment, Person, Ticket, TicketItem, TicketMessage } from '../api/tickets.ts';
import { Webhook } from '../api/webhooks.ts';
import { plural } from '../text/number.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { meanings } from './meanings.ts';
import { answerExample, type Examples, requestExample } from './openapi-examples.ts';
import { components, errorResponses, rateHeaders } from './openapi-parts.ts';
import { webhooks } from './openapi-webhooks.ts';

/** Where the service is; it has no public address of its own in the document. */
export type Addresses = {
  readonly baseUrl: string;
  readonly authUrl: string;
  /** The literal segment of the events path. */
  readonly partnerSegment: string;
};

type Json = Readonly<Record<string, unknown>>;

/** The service as an OpenAPI 3.1 document, derived from the table. */
export function openApiOf({ baseUrl, authUrl, partnerSegment }: Addresses, table: Table = operations) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of Object.values(table)) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation, { partner: partnerSegment }) };
  }
  const schemas = Object.fromEntries(
    Object.entries(namedSchemas).map(([name, schema]) => [name, schemaOf(schema, { except: name })]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Account-Scoped Support and Growth Automation API',
      // The label of the machine-readable description (Versioning, 3), not the version of svc.
      version: '1.0.0',
      description,
      // Of this description; it says nothing of the service.
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Maintainers of svc' },
    },
    servers: [{ url: baseUrl }],
    tags: tags.map(([name, about]) => ({ name, description: about })),
    paths,
    webhooks: webhooks(schemaOf),
    components: components(schemas, authUrl),
  };
}

const description =
  'A REST API over one account of an AI customer-support and growth-automation product. Every token belongs to exactly ' +
  'one account; a record of another account answers 404. Ids are stable integers, times ISO 8601 in UTC, and fields ' +
  'are only ever added: ignore those that you do not know. Writes are not deduplicated: after a lost answer, read back ' +
  'before you repeat. At most 60 requests a minute per token.';

const tags = [
  ['Account', 'The account and its branding'],
  ['Contacts', 'The people of the account'],
  ['Contact lists', 'Named sets of contacts; any valid token will do'],
  ['Calls', 'Phone calls made by the AI'],
  ['Tickets', 'Support tickets; needs the Support module'],
  ['Conversations', 'Live chat; needs the Support module'],
  ['Changelog', 'Entries of the public changelog; needs the Changelog module'],
  ['Feedback and roadmap', 'Read-only; needs the Feedback board and Roadmap modules'],
  ['Events and webhooks', 'Product events in, signed deliveries out'],
  ['Meetings', 'Bookable meeting types; machine-to-machine token only'],
] as const;

const tagOf: Readonly<Record<ResourceName, (typeof tags)[number][0]>> = {
  accounts: 'Account',
  contacts: 'Contacts',
  lists: 'Contact lists',
  calls: 'Calls',
  tickets: 'Tickets',
  conversations: 'Conversations',
  changelog: 'Changelog',
  feedback: 'Feedback and roadmap',
  roadmap_columns: 'Feedback and roadmap',
  events: 'Events and webhooks',
  subscriptions: 'Events and webhooks',
  meetings: 'Meetings',
};

function operationObject(operation: Operation, values: Presets): Json {
  const { id, summary, body, status, response, module, safety, ownLimit } = operation;
  const remarks = [
    `${summary}.`,
    module && `Needs the ${module.replaceAll('_', ' ')} module.`,
    ownLimit && `At most ${ownLimit} calls a minute per token, in addition to the general limit.`,
    operation.remark,
    operation.rules,
    operation.reaches === 'customer' && 'A customer receives it.',
    operation.reaches === 'public' && 'Customers see it once it is published and its time has come.',
    safetyRemarks[safety],
  ].filter((remark) => typeof remark === 'string');
  return {
    operationId: id,
    tags: [tagOf[operation.resource]],
    summary,
    description: remarks.join(' '),
    security: operation.credentials.map((kind) => ({
      [schemes[kind]]: kind === 'oauth' && operation.scope ? [operation.scope] : [],
    })),
    ...parameters(operation, values),
    ...(body && { requestBody: { required: true, content: json(schemaOf(body), requestExample(id)) } }),
    responses: {
      [status]: {
        description: successOf(operation),
        headers: rateHeaders,
        content: json(schemaOf(response), answerExample(id, status)),
      },
      ...errorResponses(operation),
    },
  };
}

const safetyRemarks: Readonly<Record<Operation['safety'], string | undefined>> = {
  read: undefined,
  repeatable: 'It is safe to repeat.',
  verify: 'After a lost answer, read back before you repeat it: a repetition does it twice.',
  once: 'It cannot be read back: do not repeat it after a lost answer.',
};

const schemes: Readonly<Record<CredentialKind, string>> = {
  api_key: 'accountApiKey',
  oauth: 'oauth',
  m2m: 'machineToMachine',
};

function parameters({ path, params, query }: Operation, values: Presets): Json {
  const names: string[] = [];
  filledPath(path, (name) => String(names.push(name)));
  const list = [
    ...names.filter(isPreset).map((name) => ({
      name,
      in: 'path',
      required: true,
      description: presets[name].about,
      schema: { type: 'string', default: values[name] },
    })),
    ...Object.entries(fieldsOf(params)).map(([name, field]) => parameter({ name, in: 'path', required: true }, field)),
    ...Object.entries(fieldsOf(query)).map(([name, field]) =>
      parameter({ name, in: 'query', required: field.required }, field),
    ),
  ];
  return list.length > 0 ? { parameters: list } : {};
}

type Place = { readonly name: string; readonly in: 'path' | 'query'; readonly required: boolean };

function parameter(place: Place, field: { schema: Schema; description?: string }): Json {
  const { name } = place;
  const { description: _, ...schema } = schemaOf(field.schema);
  const about = field.description ?? wellKnown[name] ?? meanings[name];
  const usual = usually[name] === undefined ? {} : { default: usually[name] };
  return { ...place, ...(about && { description: about }), schema: { ...schema, ...usual } };
}

/** What a filter means, where its schema does not say. */
const wellKnown: Readonly<Record<string, string>> = {
  contact_id: 'Only those of this contact',
  category_id: 'Only those of this category',
  status: 'Only those of this status',
};

const usually: Readonly<Record<string, number>> = { page: 1, per_page: 50 };

/** `except`: the name that the schema itself has, which would otherwise be a reference to itself. */
function schemaOf(schema: Schema, { except }: { readonly except?: string } = {}): JsonSchema {
  const named = Object.fromEntries(Object.entries(namedSchemas).filter(([name]) => name !== except));
  return jsonSchemaOf(schema, { named, path: (name) => `#/components/schemas/${name}` });
}

const json = (schema: JsonSchema, examples: Examples = {}) => ({ 'application/json': { schema, ...examples } });

/** What a success holds, or what it says was done. */
function successOf({ answer, effect, resource }: Operation): string {
  if (effect) {
    const isSeveral = /^The \w+s\b/u.test(effect.of);
    return `${effect.of} ${isSeveral ? 'were' : 'was'} ${effect.done}.`;
  }
  const { noun } = resources[('of' in answer && answer.of) || resource];
  if (answer.shape === 'record') return `The ${noun}.`;
  const whose = answer.of ? ` of the ${resources[resource].noun}` : '';
  return answer.paged ? `A page of ${plural(noun)}.` : `All ${plural(noun)}${whose}.`;
}

/** The schemas that have a name of their own in the OpenAPI document. */
const namedSchemas: Readonly<Record<string, Schema>> = {
  Account,
  Branding,
  Contact,
  ContactItem,
  NewContact,
  NewContactRow,
  NewContactBatch,
  SyncContact,
  ContactList,
  ListContact,
  Call,
  Person,
  Attachment,
  Ticket,
  TicketItem,
  TicketMessage,
  Conversation,
  ConversationItem,
  ConversationMessage,
  Category,
  ChangelogEntry,
  ChangelogItem,
  FeedbackPost,
  RoadmapColumn,
  EventContact,
  Webhook,
  MeetingType,
  PageMeta: pageMeta,
};
