import * as v from 'valibot';
import { check } from '../api/check.ts';
import { NewContact, syncChunkSize } from '../api/contacts.ts';
import type { Schema } from '../api/operation.ts';
import { jsonIn } from '../text/json.ts';
import { isDeeperThan, isTooDeep } from '../text/json-depth.ts';
import { isRecord } from '../text/record.ts';
import { invalid, type Refusal } from './answer.ts';

/** Bytes; the service's own maximum is not described (service.md#requests-3). */
export const largestBody = 10 * 1024 * 1024;

/**
 * Bodies that the service checks by other rules than a client does. The rows of a batch need what a single contact
 * needs (service.md#contacts-4). Of rows to sync only the number is checked here: a bad row fails alone.
 */
const bodySchemas: Readonly<Record<string, Schema>> = {
  createContacts: v.union([
    v.object({ contacts: v.pipe(v.array(NewContact), v.minLength(1, 'must hold at least one contact')) }),
    NewContact,
  ]),
  syncContacts: v.object({
    contacts: v.pipe(
      v.array(v.unknown()),
      v.minLength(1, 'must hold at least one contact'),
      v.maxLength(syncChunkSize, 'may hold at most 200 contacts'),
    ),
  }),
};

/** A request, as far as its body needs it. */
export type Sent = { readonly body: string; readonly headers: Readonly<Record<string, string | undefined>> };

/** The body as the operation's entry judges it. */
export function readBody(id: string, entry: Schema, { body, headers }: Sent): { readonly value: unknown } | Refusal {
  const schema = bodySchemas[id] ?? entry;
  const wrong = (message: string) => invalid({ body: [message] });
  if (body.length > largestBody) return wrong(`may have at most ${largestBody} bytes`);
  let value: unknown = {};
  if (body.trim() !== '') {
    if (!/^application\/(?:[\w.-]+\+)?json\b/iu.test(headers['content-type'] ?? '')) {
      return wrong('must be sent with Content-Type: application/json');
    }
    if (isTooDeep(body)) return wrong(`may be nested ${deepest} levels deep`);
    value = jsonIn(body);
    if (value === undefined) return wrong('must be valid JSON');
    if (isDeeperThan(deepest, value)) return wrong(`may be nested ${deepest} levels deep`);
    if (!isRecord(value)) return wrong('must be a JSON object');
  }
  return judged(schema, value);
}

/** The value as the schema judges it. What is wrong with it as a whole is told of the body. */
export function judged<S extends Schema>(schema: S, value: unknown): { readonly value: v.InferOutput<S> } | Refusal {
  const checked = check(schema, value);
  if (checked.ok) return { value: checked.value };
  const { '': whole, ...fields } = checked.fields;
  return invalid(whole ? { body: whole, ...fields } : fields);
}

/** Deeper JSON can be read, but writing it again would run out of stack. */
const deepest = 100;
