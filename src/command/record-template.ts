import type { Operation } from '../api/operation.ts';
import { type ResourceName, resources } from '../api/resources.ts';
import { asRead } from '../as-read.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { call, connect, type Service } from '../http/call/call.ts';
import { readRecord } from '../http/exchange/record.ts';
import { capital } from '../text/capital.ts';
import { fieldsIn, ownOf } from '../text/record.ts';
import { type Filled, fillTemplate, valueAt } from '../text/template.ts';
import { unwrap } from './answered.ts';
import { flagName } from './param.ts';
import { whileStill } from './still-so.ts';
import { bracedNames, loneSet, readTemplate, refuseUnusedSet, setFlags } from './template-file.ts';

/** The field of the operation's body that the text is for. */
export type Wanted = {
  readonly operation: Operation;
  readonly field: string;
  readonly flags: Readonly<Record<string, unknown>>;
};

/** `sentBy`: a service that sends it only where the record would still give the same text. */
export type FilledText = { readonly text: string; readonly sentBy: (service: Service) => Service };

/** The text of a single command from a template, filled in from the record that it is about. */
export async function filledFor(
  ctx: Context,
  settings: Settings,
  { operation, field, flags }: Wanted,
): Promise<FilledText> {
  if (flags.template === undefined) throw loneSet();
  const other = [field, 'bodyFile', 'contentFile'].find((key) => flags[key] !== undefined);
  if (other !== undefined) throw new Failure('usage', `Give only one of --${flagName(other, {})} and --template.`);
  const template = await readTemplate(ctx, String(flags.template));
  refuseUnusedSet(template, fieldsIn(flags.set));
  const resource = Object.values(operation.ids ?? {})[0];
  const isGiven = template.placeholders.every((name) => valueIn(flags.set, name) !== undefined);
  const fill = (record: unknown) => fillTemplate(template, (path) => valueAt(record, path) ?? valueIn(flags.set, path));
  // A command that makes a record has none yet.
  if (isGiven || resource === undefined) return { text: textOf(fill(undefined)), sentBy: (service) => service };
  const id = Number(flags.id);
  const read = async (reading: Service) => fill(await recordAt(reading, resource, id));
  const seen = await asRead(await connect(ctx, settings), read);
  const what = `${capital(resources[resource].noun)} ${id}`;
  return { text: textOf(seen.was), sentBy: (service) => whileStill(service, { read, seen, what, done: 'sent' }) };
}

function textOf(filled: Filled): string {
  if ('text' in filled) return filled.text;
  throw new Failure('usage', `The record has nothing for ${bracedNames(filled.missing)}. Nothing was sent.`, {
    hint: `Add: ${setFlags(filled.missing)}\nPlaceholders are its fields, for example {{contact.name}}, or names of --set.`,
  });
}

/** A name of `--set` may hold dots. */
const valueIn = (set: unknown, name: string): unknown => ownOf(fieldsIn(set), name);

async function recordAt(service: Service, resource: ResourceName, id: number): Promise<unknown> {
  const found = await readRecord((reading, params) => call(service, reading, { params }), resource, id);
  return found && unwrap(found.operation, found.answer);
}
