import { hearersOf } from '../api/hearers.ts';
import type { Input, Operation } from '../api/operation.ts';
import { idWords, type ResourceName, resources } from '../api/resources.ts';
import { fieldsOf } from '../api/shape.ts';
import type { SendMode, Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { call, connect, type Service } from '../http/call/call.ts';
import type { Column, Terminal, View } from '../output/view.ts';
import { capital } from '../text/capital.ts';
import { textIn } from '../text/record.ts';
import { type RecordOf, recordFitted, unwrap } from './answered.ts';
import { bodyText } from './body-text.ts';
import { cleared, noChange } from './clear.ts';
import type { Command, Params } from './command.ts';
import { confirmed } from './confirm.ts';
import { firstFailed, followedBy, followsOf, parted, withFollowing } from './follow.ts';
import { listView, rangeOf } from './listing.ts';
import { type FlagWording, flagsFor } from './operation-flags.ts';
import { param } from './param.ts';
import type { FilledText, Wanted } from './record-template.ts';
import { rowOf } from './row.ts';
import { headOf, type Seed, seeded, seedOrNone } from './seed.ts';
import { narrowed } from './sift.ts';

type Values = Readonly<Record<string, unknown>>;

/** What was sent; `changed`: an update in words; `called`: the record as the user named it, by id or number. */
type Written = { readonly body: Values; readonly changed: string; readonly called: string };

/** What does not depend on the record. */
type Wording = FlagWording & {
  readonly details?: string;
  readonly examples: readonly string[];
  /** Reads the record that a text is about, for the editor. */
  readonly seed?: SeedReader;
  /** `get` takes several ids. */
  readonly several?: boolean;
  /** Asked before something that cannot be undone; told the record's id. */
  readonly confirm?: (id: number) => string;
  /** What would be lost, read where somebody is asked. */
  readonly agreed?: (service: Service, id: number) => Promise<string>;
  /** What was done is also a note where the record is printed. */
  readonly noted?: boolean;
};

export type Derivation<Op extends Operation> = Wording & {
  /** What people see on a terminal instead of the plain record; sanitizes customer text itself. */
  readonly human?: (record: RecordOf<Op>, terminal: Terminal) => Promise<string>;
  /** What `human` calls its fields. */
  readonly labels?: readonly Column[];
  /** Of a write: one line about what it changed. */
  readonly done?: (record: RecordOf<Op>, id: number, written: Written) => string;
};

type SeedReader = (service: Service, id: number) => Promise<Seed>;

/** How the record that a text is about is read, and what of it is shown in the editor. */
export const seedFrom =
  <const Op extends Operation>(operation: Op, of: (record: RecordOf<Op>) => Seed): SeedReader =>
  async (service, id) => {
    const reading: Operation = operation;
    const answer = await call(service, reading, { params: { id } });
    return of(recordFitted(operation, unwrap(operation, answer)));
  };

/** A command that is derived whole from an operation: its arguments, flags, checks, call and view. */
export function fromOperation<const Op extends Operation>(name: string, derived: Op, about: Derivation<Op>): Command {
  const operation: Operation = derived;
  const idField = Object.keys(fieldsOf(operation.params))[0];
  const idParam = about.several ? param.ids : param.requiredId;
  const args: Params = idField ? { id: idParam(idHelp(operation), recordOf(operation)) } : {};
  return {
    name,
    summary: operation.summary,
    details: about.details,
    args,
    flags: flagsFor(operation, about),
    examples: about.examples,
    operation,
    writes: operation.safety !== 'read',
    row: rowOf(operation, { text: about.text, needsChange: about.update, ...about.rows }),
    async run(ctx, { args, flags, settings, names }) {
      const ids: readonly (number | undefined)[] = [args.id].flat();
      const { agreed, confirm, seed } = about;
      const read = seed && (async () => seed(await connect(ctx, settings), ids[0] ?? 0));
      const asked = { id: ids[0], ...flags };
      const { follows = [] } = about.rows ?? {};
      const { steps } = parted(follows, flags, idField && { [idField]: ids[0] });
      followsOf(steps);
      const filled =
        about.text === undefined
          ? undefined
          : await filledTemplate(ctx, settings, { operation, field: about.text, flags: asked });
      const given = { ctx, settings, flags: asked, read, template: filled?.text };
      const body = operation.body ? await bodyOf(given, operation, about) : undefined;
      const whatIsLost = agreed && (async () => agreed(await connect(ctx, settings), ids[0] ?? 0));
      if (confirm) await confirmed(ctx, settings, confirm(ids[0] ?? 0), { shown: whatIsLost });
      const service = await connect(withFollowing(ctx, steps), settings);
      const inputFor = (id: number | undefined): Input<Operation> => ({
        ...(idField && id !== undefined && { params: { [idField]: id } }),
        ...(body && { body }),
      });
      if (operation.answer.shape === 'list') {
        const query = narrowed(pickGiven(flags, fieldsOf(operation.query)), flags);
        const shown = { range: rangeOf(flags), columns: about.columns ?? [], sift: about.sift && flags };
        return listView(service, operation, { ...inputFor(ids[0]), query }, shown);
      }
      const sender = filled ? filled.sentBy(service) : service;
      const view = await recordsView(sender, derived, about, { ids, inputFor }).catch((error: unknown) => {
        throw firstFailed(ctx, error, steps);
      });
      const followed = await followedBy(service, steps);
      if (!about.done || view.data.shape !== 'record') return view;
      const shown = recordFitted(derived, view.data.record);
      const changed = about.update ? (await import('./changes.ts')).changes(body ?? {}) : '';
      const called = names?.id ?? String(ids[0]);
      const first = about.done(shown, ids[0] ?? 0, { body: body ?? {}, changed, called });
      const done = [first, followed].filter(Boolean).join(' ');
      return { ...view, done, notes: about.noted ? [done] : [] };
    },
  };
}

/** One record for each id, or the only one of an operation without ids. */
type Asking = {
  readonly ids: readonly (number | undefined)[];
  readonly inputFor: (id: number | undefined) => Input<Operation>;
};

async function recordsView<Op extends Operation>(
  service: Service,
  derived: Op,
  about: Derivation<Op>,
  { ids, inputFor }: Asking,
): Promise<View> {
  const operation: Operation = derived;
  const read = operation.safety === 'read';
  const { human } = about;
  const readOne = async (id: number | undefined) => unwrap(operation, await call(service, operation, inputFor(id)));
  const { records, ...rest } =
    read && ids.length > 1
      ? await (await import('./each-read.ts')).eachRead(ids, readOne)
      : { records: [await readOne(ids[0])] };
  if (ids.length > 1) {
    return {
      ...rest,
      data: { shape: 'list', records, columns: about.columns ?? [], labels: about.labels ?? [] },
      read,
      human:
        human &&
        (async (terminal) => {
          const pages = await Promise.all(records.map((one) => human(recordFitted(derived, one), terminal)));
          return pages.join('\n\n');
        }),
    };
  }
  const [record] = records;
  // People see what fits; --json and its siblings print what came.
  const shown = recordFitted(derived, record);
  return {
    data: { shape: 'record', record, labels: about.labels ?? [] },
    read,
    human: human && ((terminal) => human(shown, terminal)),
  };
}

type Run = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly flags: Values;
  /** Of a text that goes to somebody. */
  readonly read: (() => Promise<Seed>) | undefined;
  /** A template that is filled in. */
  readonly template: string | undefined;
};

async function bodyOf({ ctx, settings, flags, read, template }: Run, operation: Operation, about: Wording) {
  const fields = fieldsOf(operation.body);
  const body = pickGiven(flags, fields);
  if (about.text) {
    const required = fields[about.text]?.required === true;
    const title = textIn(body.subject ?? body.title);
    const text = await bodyText(ctx, settings, {
      field: about.text,
      text: textIn(body[about.text]) ?? textIn(flags[about.text]),
      bodyFile: textIn(flags.bodyFile),
      template,
      editor: flags.editor === true,
      opensEditor: !about.update,
      isSeenLater: async () => (await modeOf(ctx, operation)) !== 'allow',
      required,
      blank: required ? 'refused' : 'kept',
      ...(read && { seed: () => seedFor(ctx, operation, read), head: () => seedOrNone(read, headOf) }),
      of: `${resources[operation.resource].noun}${title === undefined ? '' : ` "${title}"`}`,
    });
    if (text !== undefined) body[about.text] = text;
  }
  if (!about.update) return body;
  const whole = cleared(body, Array.isArray(flags.clear) ? flags.clear : undefined, fields);
  if (Object.keys(whole).length > 0) return whole;
  throw noChange(operation.body);
}

/** Only what a customer hears of is held for a person. */
const modeOf = async ({ sends }: Context, operation: Operation): Promise<SendMode> =>
  (hearersOf(operation) === 'customer' ? await sends?.mode() : undefined) ?? 'allow';

async function seedFor(ctx: Context, operation: Operation, read: () => Promise<Seed>): Promise<string> {
  const fate = ctx.preview ? 'shown' : await modeOf(ctx, operation);
  return seedOrNone(read, (seed) => seeded(seed, fate));
}

/** The text, where a template is to give it. A `--set` alone is a mistake, which is told where the template is read. */
export async function filledTemplate(
  ctx: Context,
  settings: Settings,
  wanted: Wanted,
): Promise<FilledText | undefined> {
  const { template, set } = wanted.flags;
  if (template === undefined && Object.keys(set ?? {}).length === 0) return undefined;
  return (await import('./record-template.ts')).filledFor(ctx, settings, wanted);
}

/** The values that were given, by the wire's names. */
export function pickGiven(flags: Values, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(fields).flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]]])),
  );
}

const recordOf = ({ ids, resource }: Operation): ResourceName => Object.values(ids ?? {})[0] ?? resource;

const idHelp = (operation: Operation): string => {
  const record = recordOf(operation);
  return capital(`${idWords(record)} of the ${resources[record].noun}`);
};
