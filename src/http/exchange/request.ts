import type * as v from 'valibot';
import { check } from '../../api/check.ts';
import type { Input, Operation, Schema } from '../../api/operation.ts';
import { filledPath, isPreset, type Presets, usualPresets } from '../../api/path.ts';
import { Failure } from '../../errors.ts';
import { fieldsIn } from '../../text/record.ts';

/** A request as it goes out, but for the credential and the origin. */
export type Wire = {
  readonly method: string;
  /** Path below the base URL with the query, for example `/contacts?page=2`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * Makes the request of an operation. What the table's limits forbid is a usage Failure naming the fields: nothing is
 * sent. Fields that the table does not know are sent as given; the table judges, it does not strip.
 */
export function wireOf<Op extends Operation>(operation: Op, input: Input<Op>, presets: Presets = usualPresets): Wire {
  const { query, body }: { readonly query?: unknown; readonly body?: unknown } = input;
  const params = operation.params && judged(operation.params, input.params);
  if (operation.query) judged(operation.query, query ?? {});
  if (operation.body) judged(operation.body, body);
  const path = filledPath(operation.path, (name) =>
    encodeURIComponent(isPreset(name) ? presets[name] : String(params?.[name])),
  );
  return {
    method: operation.method,
    path: path + queryString(query),
    // Writes carry the content type (service.md#requests-1), also those for which the document has no body.
    ...(operation.method === 'GET' ? {} : { headers: { 'content-type': 'application/json' } }),
    ...(operation.body ? { body: JSON.stringify(body ?? {}) } : {}),
  };
}

function judged<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const [field, messages] = Object.entries(checked.fields)[0] ?? ['', ['is not valid']];
  throw new Failure('usage', `${field || 'The input'} ${messages[0]}.`, { fields: checked.fields });
}

/** `?a=1&b=x`, without the entries that are undefined; empty where nothing is left. */
function queryString(query: unknown): string {
  const pairs = Object.entries(fieldsIn(query)).filter(([, value]) => value !== undefined && value !== null);
  if (pairs.length === 0) return '';
  return `?${new URLSearchParams(pairs.map(([key, value]): [string, string] => [key, String(value)]))}`;
}
