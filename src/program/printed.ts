import type { Operation } from '../api/operation.ts';
import { type Shape, shapeOf } from '../api/shape.ts';
import { type AnyCommand, operationOf } from '../command/command.ts';
import { severalFields } from '../command/several-ended.ts';
import type { Context } from '../context.ts';
import { noSuchFields } from '../output/fields.ts';
import { draftFields } from '../sends/draft.ts';
import { ownOf } from '../text/record.ts';
import type { Invocation } from './invocation.ts';

/** What a command prints: a record by its shape, or by the names of its fields. */
type Printed = Shape | readonly string[];

/**
 * A name of --fields that a write does not print is refused before anything is sent, and before anything is asked. Of
 * a read it is judged by the records themselves, which may have fields that the table does not know.
 */
export async function refuseStrangeFields(
  { sends }: Pick<Context, 'sends'>,
  invocation: Invocation,
  fields: readonly string[],
): Promise<void> {
  const printed = await printedBy(invocation, sends);
  if (!printed) return;
  const strange = fields.filter((path) => !printed.some((one) => isIn(one, path.split('.'))));
  if (strange.length > 0) throw noSuchFields(strange, [...new Set(printed.flatMap(namesOf))], 'Nothing was sent.');
}

/** What it may print; undefined where only the answer tells. */
async function printedBy(invocation: Invocation, sends: Context['sends']): Promise<readonly Printed[] | undefined> {
  const { command, argTexts, flagTexts } = invocation;
  const { row, prints } = command;
  const operation = operationOf(command);
  const isGiven = (key: string) => (flagTexts[key] ?? []).length > 0;
  if (row && isGiven('from')) return [(await import('../bulk/report/report.ts')).reportFields];
  const isWrite = operation !== undefined && operation.safety !== 'read';
  if (isWrite && isGiven('dry_run')) return [['method', 'path', 'body']];
  if (row && !prints && (argTexts.id ?? []).length > 1) return [severalFields];
  const drafted = isWrite ? await drafting(command, operation, { isGiven, sends }) : 'no';
  if (drafted === 'surely') return [draftFields];
  const printed = await answeredBy(command, isWrite ? operation : undefined);
  return printed && (drafted === 'perhaps' ? [printed, draftFields] : [printed]);
}

async function answeredBy({ prints }: AnyCommand, operation: Operation | undefined): Promise<Printed | undefined> {
  if (prints) return prints();
  if (!operation) return undefined;
  // A batch is printed as a list of what one of them would be.
  const { key } = operation.answer;
  const answer = shapeOf(operation.response);
  return key === undefined ? answer : answer.fields?.[key];
}

/** Whether what would reach somebody becomes a draft, which is printed then: by the mode that is in one case only. */
async function drafting(
  { flags }: AnyCommand,
  operation: Operation,
  { isGiven, sends }: { readonly isGiven: (key: string) => boolean; readonly sends: Context['sends'] },
): Promise<'surely' | 'perhaps' | 'no'> {
  const { hearersOf } = await import('../api/hearers.ts');
  const hearers = hearersOf(operation);
  if (hearers === undefined) return 'no';
  const { draft, hold } = flags;
  // `changelog release` has a --draft of its own, which keeps an entry from the portal.
  const isAsked = draft !== undefined && draft.group === hold?.group && isGiven('draft');
  // An entry that the portal does not show is written at once.
  if (isAsked) return hearers === 'customer' ? 'surely' : 'perhaps';
  return (await sends?.mode()) === 'draft' ? 'perhaps' : 'no';
}

function isIn(printed: Printed, [key = '', ...rest]: readonly string[]): boolean {
  if (!('type' in printed)) return printed.includes(key);
  if (printed.item) return isIn(printed.item, [key, ...rest]);
  if (!printed.fields) return printed.type === 'pairs' || printed.type === 'unknown';
  const field = ownOf(printed.fields, key);
  return field !== undefined && (rest.length === 0 || isIn(field, rest));
}

function namesOf(printed: Printed): readonly string[] {
  if (!('type' in printed)) return printed;
  return Object.entries(printed.item?.fields ?? printed.fields ?? {}).flatMap(([key, field]) => {
    const inside = field.item ? [] : namesOf(field);
    return inside.length === 0 ? [key] : inside.map((path) => `${key}.${path}`);
  });
}
