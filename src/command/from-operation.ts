import { fitted } from '../api/fit.ts';
import type { Input, Operation } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { fieldsOf } from '../api/shape.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, notFoundNames } from '../errors.ts';
import { call, connect, type Service } from '../http/call.ts';
import type { Column, Terminal, View } from '../output/view.ts';
import { bodyText, textFlags } from './body-text.ts';
import { cleared, clearFlag } from './clear.ts';
import type { Command, Param, Params } from './command.ts';
import { confirmed } from './confirm.ts';
import { flagsOf, typedName } from './flags.ts';
import { listView, rangeFlags, rangeOf } from './listing.ts';
import { param } from './param.ts';
import { type RowOf, rowOf } from './row.ts';

type Values = Readonly<Record<string, unknown>>;

export type Derivation = {
  readonly summary?: string;
  readonly details?: string;
  readonly examples: readonly string[];
  readonly aliases?: readonly string[];
  /** Columns of a list, and of a record in a pipe. */
  readonly columns?: readonly Column[];
  /** The body's field for a longer text: it may also come from a file or the editor. */
  readonly text?: string;
  /** `get` takes several ids. */
  readonly several?: boolean;
  /** An update: what is null or empty is asked for with --clear, and no flag at all is an error. */
  readonly update?: boolean;
  /** Asked before something that cannot be undone; told the record's id. */
  readonly confirm?: (id: number) => string;
  /** How rows of a file are written, where it does not follow from the rest. */
  readonly rows?: Omit<RowOf, 'operation' | 'text' | 'needsChange'>;
  /** What people see on a terminal instead of the plain record; sanitizes customer text itself. */
  readonly human?: (record: never, terminal: Terminal) => Promise<string>;
  /** Said on standard error once it is done. */
  readonly note?: (record: never, id: number) => string | undefined;
};

/** A command that is derived whole from an operation: its arguments, flags, checks, call and view. */
export function fromOperation(name: string, operation: Operation, about: Derivation): Command {
  const idField = Object.keys(fieldsOf(operation.params))[0];
  const args: Params = idField
    ? { id: about.several ? param.ids(idWords(operation)) : param.requiredId(idWords(operation)) }
    : {};
  return {
    name,
    summary: about.summary ?? operation.summary,
    details: about.details,
    args,
    flags: flagsFor(operation, about),
    examples: about.examples,
    aliases: about.aliases,
    row: rowOf(operation, { text: about.text, needsChange: about.update, ...about.rows }),
    async run(ctx, { args, flags, settings }) {
      const ids = [args.id].flat() as (number | undefined)[];
      const body = operation.body ? await bodyOf(ctx, settings, operation, about, { id: ids[0], ...flags }) : undefined;
      if (about.confirm) await confirmed(ctx, settings, about.confirm(ids[0] ?? 0));
      const service = await connect(ctx, settings);
      const inputFor = (id: number | undefined) =>
        ({ ...(idField && { params: { [idField]: id } }), ...(body && { body }) }) as Input<Operation>;
      if (operation.answer.shape === 'list') {
        const query = pickGiven(flags, fieldsOf(operation.query));
        return listView(service, operation, { ...inputFor(ids[0]), query }, rangeOf(flags), about.columns ?? []);
      }
      return recordsView(service, operation, about, ids, inputFor);
    },
  };
}

async function recordsView(
  service: Service,
  operation: Operation,
  about: Derivation,
  ids: readonly (number | undefined)[],
  inputFor: (id: number | undefined) => Input<Operation>,
): Promise<View> {
  const records: unknown[] = [];
  for (const id of ids) {
    const answer = call(service, operation, inputFor(id));
    records.push(unwrap(operation, await (ids.length > 1 ? answer.catch(notFoundNames(`${id}`)) : answer)));
  }
  const read = operation.safety === 'read';
  if (records.length > 1) return { data: { shape: 'list', records, columns: about.columns ?? [] }, read };
  const [record] = records;
  // People see what fits; --json and its siblings print what came.
  const shown = recordFitted(operation, record) as never;
  const note = about.note?.(shown, ids[0] ?? 0);
  return {
    data: { shape: 'record', record },
    read,
    human: about.human && ((terminal) => about.human?.(shown, terminal) ?? ''),
    notes: note ? [note] : [],
  };
}

function recordFitted({ response, answer }: Operation, record: unknown): unknown {
  const schema = answer.key === undefined ? response : fieldsOf(response)[answer.key]?.schema;
  return schema ? fitted(schema, record) : record;
}

/** The record itself, without the key that the service wraps it in; an empty one where the answer holds none. */
export function unwrap({ answer: { key } }: Pick<Operation, 'answer'>, answer: unknown): unknown {
  if (answer === undefined) return {};
  return key === undefined ? answer : ((answer as Record<string, unknown>)[key] ?? answer);
}

/** A list is filtered by `--category`, as by `--contact`; a record that is written is given a `--category-id`. */
const filterNames: Readonly<Record<string, Pick<Param<unknown>, 'name' | 'aliases'>>> = {
  category_id: { name: 'category', aliases: ['category-id'] },
};

function flagsFor(operation: Operation, about: Derivation): Params {
  const flags: Record<string, Param<unknown>> = {};
  for (const [field, flag] of Object.entries(flagsOf(operation.query))) {
    if (field !== 'page' && field !== 'per_page') flags[field] = { ...flag, ...filterNames[field] };
  }
  if (operation.answer.shape === 'list' && operation.answer.paged) Object.assign(flags, rangeFlags);
  for (const [field, flag] of Object.entries(flagsOf(operation.body))) {
    flags[field] = field === about.text ? { ...flag, required: false } : flag;
  }
  if (about.text) Object.assign(flags, textFlags);
  const clear = about.update ? clearFlag(operation.body) : undefined;
  if (clear) flags.clear = clear;
  return flags;
}

async function bodyOf(ctx: Context, settings: Settings, operation: Operation, about: Derivation, flags: Values) {
  const fields = fieldsOf(operation.body);
  const body = pickGiven(flags, fields);
  if (about.text) {
    const required = fields[about.text]?.required === true;
    if (flags.template !== undefined) {
      const { filledFor } = await import('./record-template.ts');
      body[about.text] = await filledFor(ctx, settings, operation, about.text, flags);
    }
    const text = await bodyText(ctx, settings, {
      field: about.text,
      text: (body[about.text] ?? flags[about.text]) as string | undefined,
      bodyFile: flags.bodyFile as string | undefined,
      editor: flags.editor === true,
      opensEditor: !about.update,
      required,
      blank: required ? 'refused' : 'kept',
    });
    if (text !== undefined) body[about.text] = text;
  }
  if (!about.update) return body;
  const whole = cleared(body, flags.clear as readonly string[] | undefined, fields);
  if (Object.keys(whole).length > 0) return whole;
  const names = Object.keys(fields).map((field) => `--${typedName(field)}`);
  throw new Failure('usage', 'No change was given.', { hint: `Give at least one of ${names.join(', ')}.` });
}

/** The values that were given, by the wire's names. */
function pickGiven(flags: Values, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(fields).flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]]])),
  );
}

const idWords = ({ ids, resource }: Operation): string =>
  `Id of the ${resources[Object.values(ids ?? {})[0] ?? resource].noun}`;
