import type { Operation } from '../api/operation.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { call, connect } from '../http/call/call.ts';
import { readRecord } from '../http/exchange/record.ts';
import { fieldsIn, ownOf } from '../text/record.ts';
import { fillTemplate, valueAt } from '../text/template.ts';
import { unwrap } from './answered.ts';
import { flagName } from './param.ts';
import { bracedNames, loneSet, readTemplate, refuseUnusedSet, setFlags } from './template-file.ts';

/** The field of the operation's body that the text is for. */
type Wanted = {
  readonly operation: Operation;
  readonly field: string;
  readonly flags: Readonly<Record<string, unknown>>;
};

/** The text of a single command from a template, filled in from the record that it is about. */
export async function filledFor(
  ctx: Context,
  settings: Settings,
  { operation, field, flags }: Wanted,
): Promise<string> {
  if (flags.template === undefined) throw loneSet();
  const other = [field, 'bodyFile', 'contentFile'].find((key) => flags[key] !== undefined);
  if (other !== undefined) throw new Failure('usage', `Give only one of --${flagName(other, {})} and --template.`);
  const template = await readTemplate(ctx, String(flags.template));
  refuseUnusedSet(template, fieldsIn(flags.set));
  const isFilled = template.placeholders.every((name) => valueIn(flags.set, name) !== undefined);
  const record = !isFilled ? await recordOf(ctx, settings, operation, flags.id) : undefined;
  const filled = fillTemplate(template, (path) => valueAt(record, path) ?? valueIn(flags.set, path));
  if ('text' in filled) return filled.text;
  throw new Failure('usage', `The record has nothing for ${bracedNames(filled.missing)}. Nothing was sent.`, {
    hint: `Add: ${setFlags(filled.missing)}\nPlaceholders are its fields, for example {{contact.name}}, or names of --set.`,
  });
}

/** A name of `--set` may hold dots. */
const valueIn = (set: unknown, name: string): unknown => ownOf(fieldsIn(set), name);

/** The record whose id is in the path; undefined where the command makes one. */
async function recordOf(ctx: Context, settings: Settings, operation: Operation, id: unknown): Promise<unknown> {
  const resource = Object.values(operation.ids ?? {})[0];
  if (resource === undefined) return undefined;
  const read: Parameters<typeof readRecord>[0] = async (reading, params) =>
    call(await connect(ctx, settings), reading, { params });
  const found = await readRecord(read, resource, Number(id));
  return found && unwrap(found.operation, found.answer);
}
