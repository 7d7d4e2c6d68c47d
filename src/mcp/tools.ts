import type * as v from 'valibot';
import { check, type FieldErrors } from '../api/check.ts';
import { SyncContact } from '../api/contacts.ts';
import type { Input, Operation, Schema } from '../api/operation.ts';
import { flagFor, type Reach } from '../derive/grants.ts';
import { jsonSchemaOf } from '../derive/json-schema.ts';
import { type Annotations, type Tool as Derived, partsOf, toolsOf } from '../derive/mcp-tools.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { isRecord } from '../text/record.ts';
import { type Answer, answer, answerOf } from './answer.ts';
import { mostRows, syncRows } from './contacts-sync.ts';
import { refusePublishing } from './publishing.ts';
import { forgetDeleted, refuseWithoutStore, withoutSecret } from './subscriptions.ts';

/** What a person has granted. */
export type Grant = Readonly<Record<Exclude<Reach, 'read'>, boolean>> & {
  /** Names of tools; undefined: all that are granted. */
  readonly only: readonly string[] | undefined;
};

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Derived['inputSchema'];
  readonly annotations: Annotations;
  readonly reach: Reach;
  readonly operation?: Operation;
  run(service: Service, input: Readonly<Record<string, unknown>>, boundary: string): Promise<Answer>;
};

/** The tools that were granted, and why the others are not there. Throws a usage Failure for a `--tools` that cannot be. */
export function grantedTools(grant: Grant): {
  readonly tools: readonly Tool[];
  refusalOf(name: string): string | undefined;
} {
  const all: Tool[] = [...toolsOf({ maySend: grant.send }).map((derived) => fromDerived(derived, grant)), contactsSync];
  const missing = ({ reach }: Tool): string | undefined =>
    reach === 'read' || grant[reach] ? undefined : flagFor[reach];
  for (const name of grant.only ?? []) {
    const tool = all.find((each) => each.name === name);
    if (!tool) {
      throw new Failure('usage', `--tools: there is no tool ${name}.`, {
        hint: `There are ${all.map((each) => each.name).join(', ')}.`,
      });
    }
    const flag = missing(tool);
    if (flag) throw new Failure('usage', `--tools: ${name} needs ${flag}.`);
  }
  return {
    tools: all.filter((tool) => !missing(tool) && (grant.only?.includes(tool.name) ?? true)),
    refusalOf(name) {
      const tool = all.find((each) => each.name === name);
      if (!tool) return undefined;
      const flag = missing(tool);
      return flag ? `${name} was not granted: it needs ${flag}.` : `${name} is not among --tools.`;
    },
  };
}

function fromDerived(derived: Derived, grant: Grant): Tool {
  const { operation } = derived;
  return {
    ...derived,
    async run(service, input, boundary) {
      refuseUnknown(derived, input);
      const parts = checkedParts(derived, input);
      if (!grant.send) await refusePublishing(service, operation, input);
      refuseWithoutStore(service, operation);
      const body = await call(service, operation, parts);
      await forgetDeleted(service, operation, input.webhook);
      const told = isOfWebhooks(operation) ? await withoutSecret(service, operation, body) : body;
      return answerOf(operation, told, boundary);
    },
  };
}

const isOfWebhooks = ({ resource }: Operation): boolean => resource === 'subscriptions';

/** A model that invents a field learns so, and is not left to believe that it was heard. */
function refuseUnknown({ inputSchema }: Pick<Tool, 'inputSchema'>, input: Readonly<Record<string, unknown>>): void {
  const known = Object.keys(inputSchema.properties ?? {});
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw invalid(
    Object.fromEntries(unknown.map((name) => [name, [`is not an argument; there are ${known.join(', ') || 'none'}`]])),
  );
}

function checkedParts({ operation, inputSchema }: Derived, input: Readonly<Record<string, unknown>>): Input<Operation> {
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
  const [params, query] = [judge(operation.params, parts.params), judge(operation.query, parts.query)];
  const body = judge(operation.body, parts.body);
  if (operation.method !== 'GET' && isRecord(body) && Object.keys(body).length === 0) {
    fields[''] = ['needs at least one field to change'];
  }
  if (Object.keys(fields).length > 0) throw invalid(fields);
  return { params, query, body };
}

const invalid = (fields: FieldErrors): Failure =>
  new Failure('usage', 'The arguments are not valid; nothing was sent.', { fields });

/** What people ask for in one breath: a list of people, put into the account. */
const contactsSync: Tool = {
  name: 'contacts_sync',
  description:
    'Create or complete many contacts at once, matched by email: blanks are filled, existing values kept, tags united, ' +
    'metadata merged, so that repeating it does no harm. Answers with a report: rows = created + updated + rejected + ' +
    'unsent; `errors` name the row by `line`, from 1. For a file use: svc contacts sync FILE',
  inputSchema: {
    type: 'object',
    properties: { rows: { type: 'array', items: jsonSchemaOf(SyncContact), minItems: 1, maxItems: mostRows } },
    required: ['rows'],
    additionalProperties: false,
  },
  annotations: {
    title: 'Sync contacts',
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  reach: 'write',
  async run(service, input, boundary) {
    refuseUnknown(contactsSync, input);
    const { rows } = input;
    if (!Array.isArray(rows) || rows.length === 0 || rows.length > mostRows) {
      throw invalid({ rows: [`must be a list of 1 to ${mostRows} contacts`] });
    }
    const report = await syncRows(service, rows);
    const isPartial = report.rejected > 0 || report.unsent > 0;
    return answer(report, boundary, [
      `${report.created} created, ${report.updated} updated, ${report.rejected} rejected, ${report.unsent} unsent.`,
      isPartial ? 'Fix the rows that `errors` names and send only those again.' : undefined,
    ]);
  },
};
