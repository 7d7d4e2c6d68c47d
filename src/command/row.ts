import type { Operation, Schema } from '../api/operation.ts';
import { fieldsOf, leavesOf, type Shape } from '../api/shape.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { Service } from '../http/call/call.ts';
import type { Follow } from './follow.ts';
import { typedName } from './typed-name.ts';

export type Body = Readonly<Record<string, unknown>>;

/** How a row of a file becomes an input of an operation: what a command needs to take `--from FILE`. */
export type RowOf = {
  readonly operation: Operation;
  /** Judges the body of one row, where it is not the operation's own. */
  readonly body?: Schema;
  /** The same in every row. */
  readonly fixed?: Body;
  /** Where the values of arguments, flags and columns go that are not named as a field: `contactName` → `contact.name`. */
  readonly places?: Readonly<Record<string, string>>;
  /** `named`: only what `places` names is read, for a command that needs no more than an id. */
  readonly reads?: 'fields' | 'named';
  /** The field of a longer text, which may come from a file or a template. */
  readonly text?: string;
  /** A row that gives nothing but an id is a mistake. */
  readonly needsChange?: boolean;
  /** Asked once before rows are sent. Without it, a question is made of the operation where one is needed. */
  readonly question?: (rows: number) => string;
  /** The last word on a row's body. Throws a usage Failure. */
  readonly finish?: (body: Body) => Body;
  /** Fields that are read from the service where a row lacks them, right before it is sent: others may change them. */
  readonly supply?: {
    readonly fields: readonly string[];
    readonly load: (service: Service, id: number) => Promise<Body>;
  };
  /** A field that a second request sets once the record is made; not where it is `unless`, as every new one is. */
  readonly after?: { readonly field: string; readonly operation: Operation; readonly unless: unknown };
  /** What follows once it is surely done, with fields of the row of their own. */
  readonly follows?: readonly Follow[];
  /** The field for the id of a contact that --create-contacts makes where it is not there. */
  readonly requester?: string;
  /** Called once a row is done. */
  readonly settled?: (
    ctx: Context,
    settings: Settings,
    done: { readonly id: number; readonly answer: unknown },
  ) => Promise<unknown>;
};

/** Of a command that is derived whole. Undefined for reads, and for what there is only one of in an account. */
export function rowOf(operation: Operation, about: Omit<RowOf, 'operation'> = {}): RowOf | undefined {
  return operation.safety === 'read' || operation.resource === 'accounts' ? undefined : { operation, ...about };
}

/** A field that a cell may fill. */
export type Field = {
  /** Dotted, in the body. */
  readonly path: string;
  readonly shape: Shape;
};

/** The schema of one row's body. */
export const bodyOf = ({ operation, body }: RowOf): Schema | undefined => body ?? operation.body;

/** The field of the path that a row's id fills. */
export const idNameOf = ({ operation }: Pick<RowOf, 'operation'>): string | undefined =>
  Object.keys(fieldsOf(operation.params))[0];

/** Every field of the body, the nested ones under dotted names; the fields of `places` too. */
export const fieldsOfRow = (row: RowOf): Readonly<Record<string, Field>> =>
  Object.fromEntries(leavesOf(fieldsOf(bodyOf(row))).map(([path, shape]) => [path, { path, shape }]));

/** Names under which a column is known for a field, as `nameKey` writes them. */
export function columnNames(row: RowOf): ReadonlyMap<string, string> {
  const { places = {}, reads, fixed = {} } = row;
  const names = new Map<string, string>();
  const add = (name: string, path: string) => {
    if (!names.has(nameKey(name)) && !(path in fixed)) names.set(nameKey(name), path);
  };
  for (const [name, path] of Object.entries(places)) add(name, path);
  if (reads === 'named') return names;
  for (const path of Object.keys(fieldsOfRow(row))) {
    add(path, path);
    if (!path.includes('.')) add(typedName(path), path);
  }
  return names;
}

/** `Due at`, `due-at`, `dueAt` and `due_at` are one name. */
export const nameKey = (name: string): string =>
  name
    .trim()
    .replaceAll(/([a-z\d])([A-Z])/gu, '$1_$2')
    .toLowerCase()
    .replaceAll(/[\s_-]+/gu, '_');
