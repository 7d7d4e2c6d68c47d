import * as v from 'valibot';
import { described, id } from './fields.ts';
import type { IdName } from './path.ts';
import { type ResourceName, resources } from './resources.ts';

/** The 14 OAuth scopes (service.md#scopes-1), in the order of its description. */
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

/** Parts of the product that an account may have switched off, by their names in it; then the service answers 403. */
export const moduleNames = {
  support: 'Support',
  changelog: 'Changelog',
  feedback_board: 'Feedback board',
  roadmap: 'Roadmap',
} as const;

type Module = keyof typeof moduleNames;

/** In the order in which svc chooses one. */
export const credentialKinds = ['api_key', 'oauth', 'm2m'] as const;

export type CredentialKind = (typeof credentialKinds)[number];

/**
 * What may be done where the outcome of an attempt is not known (docs/writes.md):
 * - `read`: repeat;
 * - `repeatable`: repeat, since doing it twice is doing it once;
 * - `verify`: look for what it made (`http/look/look.ts`); sent again only where the service itself said that it failed;
 * - `once`: it cannot be looked up; say that the outcome is unknown.
 */
export type Safety = 'read' | 'repeatable' | 'verify' | 'once';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Schema = v.GenericSchema;

/** How the service sorts a list: newest first, by something else, or in an order that the document does not name. */
type SortedBy = 'newest' | 'last message' | 'votes' | 'board' | 'not said';

/** Where the records are in a successful answer. Without a key the whole body is the record. */
type Answer =
  | { readonly shape: 'record'; readonly key?: string }
  | {
      readonly shape: 'list';
      readonly key: string;
      readonly paged: boolean;
      readonly sortedBy: SortedBy;
      /** The kind of the records, where it is not the operation's own resource. */
      readonly of?: ResourceName;
    };

/** What a write does, in the words of its user: "The note may or may not have been added." */
export type Effect = {
  readonly of: string;
  readonly done: string;
  /** Where a person can see whether it was done; a full sentence. */
  readonly lookHint: string;
  /** What helps where the service refuses it and names no field. */
  readonly refusedHint?: string;
};

type Described = {
  /** The document's operation name, for example `replyToTicket`. Names the operation; nothing is read out of it. */
  readonly id: string;
  /** Path below the base URL, with `{name}` for each id and each preset. */
  readonly path: string;
  readonly summary: string;
  /** The words after `svc` that run it. */
  readonly command: readonly [group: string, name: string];
  /** The kind of record that it is about. */
  readonly resource: ResourceName;
  /** Which kind of record each id in the path names. */
  readonly ids?: Readonly<Record<string, ResourceName>>;
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
  /** Calls a minute per token, beside the general limit. */
  readonly ownLimit?: number;
  /** The field of the answer that holds a subscription's signing secret, shown once. */
  readonly secret?: 'signing_secret';
  /** The field of the body by which a person names what is sent. */
  readonly namedBy?: string;
  /** What it sets without a word of it in its body. */
  readonly sets?: Readonly<Record<string, string>>;
  /** What the service makes of fields that were not sent (a rule of the account may do otherwise): one of these, or none of them. */
  readonly asMade?: Readonly<Record<string, { readonly is: string } | { readonly isNone: readonly string[] }>>;
  /** The field of the body that holds several records; a body without it is one. */
  readonly rows?: 'contacts';
  /** The answer counts what became of the rows, in place of showing them. */
  readonly counts?: true;
  /** The field of the answer that names what was changed, in place of showing it. */
  readonly namesChanged?: string;
  /** A text that the service shows in a form of its own: its field, where it is shown, and what reads the record. */
  readonly rewrites?: { readonly field: string; readonly shownAs: string; readonly reading: Operation };
  /** Fields that the service lets one leave out and then clears what is there: an assistant must give them. */
  readonly clearsWithout?: readonly string[];
  /** A full sentence for readers who only see the schema. */
  readonly remark?: string;
  /** What changes besides, and when; full sentences. */
  readonly rules?: string;
  /** What is refused with 422 beyond the limits of the schema; full sentences. */
  readonly refuses?: string;
};

type Read = {
  readonly method: 'GET';
  readonly safety: 'read';
  readonly effect?: undefined;
  readonly grant?: undefined;
  readonly reaches?: undefined;
  readonly deletes?: undefined;
  readonly destructive?: undefined;
  readonly makes?: undefined;
};

type Write = {
  readonly method: Exclude<Method, 'GET'>;
  readonly effect: Effect;
  /** Its record is gone afterwards: a repetition that finds no record counts as done. */
  readonly deletes?: true;
  /** Removes something for good. */
  readonly destructive?: true;
} & Verified &
  Reaching;

type Verified =
  | {
      readonly safety: 'verify';
      /** The fields on the way to the id of what was made; a list on the way holds several. */
      readonly makes: readonly [string, ...string[]];
    }
  | { readonly safety: 'repeatable' | 'once'; readonly makes?: undefined };

/** What an assistant needs to be granted (docs/mcp.md), and who hears of it. */
type Reaching =
  /** A customer receives something, each time. */
  | { readonly reaches: 'customer'; readonly grant: 'send' }
  /** The public reads it once it is published; a draft reaches nobody. Has a `status` in its body. */
  | { readonly reaches: 'public'; readonly grant: 'write' }
  /** `write`: records of the account. `send`: a customer may hear of it. `webhooks`: where the account's events go. */
  | { readonly reaches?: undefined; readonly grant: Grant };

export type Grant = 'write' | 'send' | 'webhooks';

export type Operation = Described & (Read | Write);

/** The table, or a copy with more in it. */
export type Table = Readonly<Record<string, Operation>>;

/** What a schema of the operation gives; undefined where it has none. */
export type Part<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

/** What a call of the operation takes: parts that the operation does not have are absent. */
export type Input<Op extends Operation> = (Op['params'] extends v.GenericSchema
  ? { readonly params: Part<Op['params']> }
  : { readonly params?: Perhaps<Op['params']> }) & {
  readonly query?: Op['query'] extends v.GenericSchema ? Part<Op['query']> : Perhaps<Op['query']>;
} & (Op['body'] extends v.GenericSchema
    ? { readonly body: Part<Op['body']> }
    : { readonly body?: Perhaps<Op['body']> });

/** The part of an operation that is only known at run time: its schema checks it then. */
type Perhaps<S> = unknown extends S ? undefined : S extends v.GenericSchema ? v.InferOutput<S> : undefined;

/** The parsed body of the operation's successful answer; fields that the table does not know are kept. */
export type Output<Op extends Operation> = v.InferOutput<Op['response']>;

/** What most entries leave unsaid: who may ask, that nothing new is answered with 201, and that the whole body is the record. */
const usual = {
  credentials: ['api_key', 'oauth'],
  status: 200,
  answer: { shape: 'record' },
} as const satisfies Partial<Described>;

/** An entry as it is written, without the fields that are derived from the others. */
type OperationEntry = Omit<Described, keyof typeof usual | 'params'> &
  Partial<Pick<Described, keyof typeof usual>> &
  ((Omit<Read, 'safety'> & Partial<Pick<Read, 'safety'>>) | Write);

/** For a path with ids, says which kind each of them names; a path without ids says nothing. */
type IdsOf<Path extends string> = [IdName<Path>] extends [never]
  ? { readonly ids?: undefined }
  : { readonly ids: { readonly [Name in IdName<Path>]: ResourceName } };

type ParamsOf<Ids> =
  Ids extends Readonly<Record<string, ResourceName>>
    ? v.ObjectSchema<{ readonly [Name in keyof Ids]: typeof id }, undefined>
    : undefined;

type Completed<Op extends OperationEntry> = Op & {
  readonly credentials: readonly CredentialKind[];
  readonly status: Op extends { readonly status: infer Own } ? Own : typeof usual.status;
  readonly answer: Op extends { readonly answer: infer Own } ? Own : typeof usual.answer;
  readonly safety: Op['method'] extends 'GET' ? 'read' : Op['safety'];
  readonly params: ParamsOf<Op['ids']>;
};

/** An entry of the table, with what is usual where it says nothing else. A GET is a read. */
export function defineOperation<const Op extends OperationEntry>(operation: Op & IdsOf<Op['path']>): Completed<Op> {
  const { ids } = operation;
  const params = ids && v.object(idSchemas(ids));
  // The compiler follows neither a mapped type through Object.entries nor a default into a type of its own.
  const completed: unknown = { ...usual, safety: 'read', ...operation, params };
  return completed as Completed<Op>;
}

const idSchemas = (ids: Readonly<Record<string, ResourceName>>) =>
  Object.fromEntries(
    Object.entries(ids).map(([name, resource]) => [name, described(`Id of the ${resources[resource].noun}`, id)]),
  );
