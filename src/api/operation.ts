import type * as v from 'valibot';

/** The 14 OAuth scopes (service-api.txt, Authentication, Scopes), in the document's order. */
export const scopes = [
  'identity',
  'branding:write',
  'contacts:read',
  'contacts:write',
  'calls:read',
  'tickets:read',
  'tickets:write',
  'conversations:read',
  'conversations:write',
  'changelog:read',
  'changelog:write',
  'feedback:read',
  'sequences:trigger',
  'webhooks:manage',
] as const;

export type Scope = (typeof scopes)[number];

/** Parts of the product that an account may have switched off; then the service answers 403. */
export type Module = 'support' | 'changelog' | 'feedback_board' | 'roadmap';

export type CredentialKind = 'api_key' | 'oauth' | 'm2m';

/**
 * What may be done where the outcome of an attempt is not known (product.md, section 6):
 * - `read`: repeat;
 * - `repeatable`: repeat, since doing it twice is doing it once;
 * - `verify`: look for what it made (`http/look.ts`); sent again only where the service itself said that it failed;
 * - `once`: it cannot be looked up; say that the outcome is unknown.
 */
export type Safety = 'read' | 'repeatable' | 'verify' | 'once';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Schema = v.GenericSchema;

/** Where the records are in a successful answer. Without a key the whole body is the record. */
export type Answer =
  | { readonly shape: 'record'; readonly key?: string }
  | { readonly shape: 'list'; readonly key: string; readonly paged: boolean };

/** What a write does, in the words of its user: "The note may or may not have been added." */
export type Effect = {
  readonly of: string;
  readonly done: string;
  /** Where a person can see whether it was done; a full sentence. */
  readonly lookHint: string;
};

export type Operation = {
  /** The document's operation name, for example `replyToTicket`. */
  readonly id: string;
  readonly method: Method;
  /** Path below the base URL, with `{name}` for each of `params`. */
  readonly path: string;
  readonly summary: string;
  /** The OAuth scope that an access token needs; null where any valid token will do. */
  readonly scope: Scope | null;
  readonly module?: Module;
  readonly credentials: readonly CredentialKind[];
  readonly params?: v.GenericSchema<Record<string, number>>;
  readonly query?: Schema;
  readonly body?: Schema;
  readonly status: 200 | 201;
  readonly response: Schema;
  readonly answer: Answer;
  readonly safety: Safety;
  /** Every write has one. */
  readonly effect?: Effect;
  /** A customer receives something: always, or when the body publishes. */
  readonly reachesCustomer?: 'always' | 'when-published';
  /** Removes something that cannot be had back. */
  readonly destructive?: true;
  /** Calls a minute per token, beside the general limit. */
  readonly ownLimit?: number;
};

type Part<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

/** Of an operation that is known only as one of many, a part may be there or not: `request.ts` judges it. */
type Unsure<S, Known, Any> = unknown extends S ? Known : [Extract<S, Schema>] extends [never] ? Known : Any;

/** What a call of the operation takes: parts that the operation does not have are absent. */
export type Input<Op extends Operation> = (Op['params'] extends v.GenericSchema
  ? { readonly params: Part<Op['params']> }
  : Unsure<Op['params'], { readonly params?: undefined }, { readonly params?: Readonly<Record<string, number>> }>) &
  (Op['query'] extends v.GenericSchema
    ? { readonly query?: Part<Op['query']> }
    : Unsure<Op['query'], { readonly query?: undefined }, { readonly query?: object }>) &
  (Op['body'] extends v.GenericSchema
    ? { readonly body: Part<Op['body']> }
    : Unsure<Op['body'], { readonly body?: undefined }, { readonly body?: unknown }>);

/** The parsed body of the operation's successful answer; fields that the table does not know are kept. */
export type Output<Op extends Operation> = v.InferOutput<Op['response']>;

const accountCredentials = ['api_key', 'oauth'] as const;

/** An entry of the table. Unless it says otherwise, an API key and an OAuth token are accepted. */
export function defineOperation<
  const Op extends Omit<Operation, 'credentials'> & Partial<Pick<Operation, 'credentials'>>,
>(operation: Op): Op & { readonly credentials: readonly CredentialKind[] } {
  return { ...operation, credentials: operation.credentials ?? accountCredentials };
}
