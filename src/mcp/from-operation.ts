import type * as v from 'valibot';
import { check, type FieldErrors } from '../api/check.ts';
import type { Input, Operation, Schema } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { fieldsOf } from '../api/shape.ts';
import { asRead } from '../as-read.ts';
import { doubtOf, slipIn } from '../command/known-values.ts';
import { flagFor } from '../derive/grants.ts';
import { type Tool as Derived, partsOf } from '../derive/mcp-tools.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { readRecord } from '../http/exchange/record.ts';
import { capital } from '../text/capital.ts';
import { type Fields, fieldsIn, isRecord } from '../text/record.ts';
import { answerOf } from './answer.ts';
import { forgetDeleted, refuseWithoutStore, withoutSecret } from './subscriptions.ts';
import { fieldsOfInput, type Grant, invalid, refuseUnknown, type Tool } from './tool.ts';

/** An operation of the service as a tool: checked before anything is sent, bounded when it answers. */
export function fromDerived(derived: Derived, grant: Grant): Tool {
  const { operation } = derived;
  return {
    ...derived,
    async run({ service, input, boundary }) {
      refuseUnknown(derived, input);
      const fields = operation.safety === 'read' ? fieldsOfInput(input) : undefined;
      const parts = checkedParts(derived, input);
      const sender = grant.send ? service : await unpublished(service, operation, input);
      refuseWithoutStore(service, operation);
      for (const doubt of doubtsOf(operation, parts)) service.ctx.notice(doubt);
      const body = await call(sender, operation, parts);
      if (operation.id === 'listFeedback') await tellStatuses(service, parts, body);
      await forgetDeleted(service, operation, input.webhook);
      const told = operation.resource === 'subscriptions' ? await withoutSecret(service, operation, body) : body;
      return answerOf(operation, told, fields, boundary);
    },
  };
}

function checkedParts({ operation, inputSchema }: Derived, input: Fields): Input<Operation> {
  const parts = partsOf(operation, input);
  const missing = (inputSchema.required ?? []).filter((name) => input[name] === undefined);
  const fields: FieldErrors = Object.fromEntries(missing.map((name) => [name, ['is required']]));
  const judge = <S extends Schema>(schema: S | undefined, part: unknown): v.InferOutput<S> | undefined => {
    if (!schema) return undefined;
    const checked = check(schema, part);
    if (checked.ok) return checked.value;
    Object.assign(fields, checked.fields);
    return undefined;
  };
  // As the command line takes it: no filter. Passed on, it would find nothing.
  const { status, ...others } = fieldsIn(parts.query);
  const asked = operation.answer.shape === 'list' && status === 'all' ? others : parts.query;
  const [params, query] = [judge(operation.params, parts.params), judge(operation.query, asked)];
  const body = judge(operation.body, parts.body);
  if (operation.method !== 'GET' && isRecord(parts.body) && Object.keys(parts.body).length === 0) {
    const names = Object.keys(inputSchema.properties ?? {}).filter((name) => !(name in (operation.ids ?? {})));
    // The whole body is meant, so there is no field to name.
    delete fields[''];
    if (Object.keys(fields).length === 0) fields[''] = [`needs at least one field to change: ${names.join(', ')}`];
  }
  for (const [name, text] of Object.entries(fieldsIn(asked))) {
    if (typeof text === 'string' && (name === 'status' ? /^[\s,]*$/u : /^\s*$/u).test(text))
      fields[name] ??= ['is empty. Leave it out to have all'];
  }
  for (const { name, text, known } of knownTexts(operation, { query: asked, body: parts.body })) {
    const slip = slipIn(text, known);
    if (slip) fields[name] ??= [`${slip.problem}. ${slip.hint}`];
  }
  if (Object.keys(fields).length > 0) throw invalid(fields);
  return { params, query, body };
}

type Parts = { readonly query?: unknown; readonly body?: unknown };

/** The texts of fields of which the document names the values, where others may exist. */
const knownTexts = (operation: Operation, { query, body }: Parts) =>
  Object.entries({ ...fieldsOf(operation.query), ...fieldsOf(operation.body) }).flatMap(([name, { known }]) => {
    const text = fieldsIn(query)[name] ?? fieldsIn(body)[name];
    return known && typeof text === 'string' ? [{ name, text, known }] : [];
  });

const doubtsOf = (operation: Operation, parts: Parts): string[] =>
  knownTexts(operation, parts).flatMap(({ name, text, known }) => doubtOf(text, known, name) ?? []);

/** As the command line does: an empty list of posts says which statuses there are. */
async function tellStatuses(service: Service, { query }: Parts, body: unknown): Promise<void> {
  const { status, page = 1 } = fieldsIn(query);
  const posts = fieldsIn(body).posts;
  if (page !== 1 || typeof status !== 'string' || !Array.isArray(posts) || posts.length > 0) return;
  await (await import('../command/post-statuses.ts')).tellPostStatuses(service, status);
}

const hint = `Start svc mcp with ${flagFor.write} ${flagFor.send}.`;

/** Without the grant to send: what the public would see is refused before anything is sent, also where it has to wait first. */
async function unpublished(service: Service, operation: Operation, input: Fields): Promise<Service> {
  if (operation.reaches !== 'public') return service;
  const read = (reading: Service) => refusePublishing(reading, operation, input);
  return { ...service, restsOn: { seen: await asRead(service, read), mayLeave: () => read(service) } };
}

async function refusePublishing(service: Service, operation: Operation, input: Fields) {
  if (input.status === 'published') throw new Failure('forbidden', 'Publishing was not granted.', { hint });
  const id = input[Object.keys(operation.ids ?? {})[0] ?? ''];
  if (typeof id !== 'number') return;
  // What is published is read by the public, so that each change of it is publishing too.
  if ((await statusOf(service, operation, id)) === 'draft') return;
  const name = resources[operation.resource].noun.split(' ').at(-1) ?? '';
  throw new Failure(
    'forbidden',
    `${capital(name)} ${id} is published; changing what the public reads was not granted.`,
    { hint, isHeld: true },
  );
}

/** Undefined where the service does not say: that is no draft. */
async function statusOf(service: Service, { resource }: Operation, id: number): Promise<unknown> {
  const read = await readRecord((reading, params) => call(service, reading, { params }), resource, id);
  return read?.record?.status;
}
