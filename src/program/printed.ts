import { type Shape, shapeOf } from '../api/shape.ts';
import { severalFields } from '../command/several.ts';
import { noSuchFields } from '../output/fields.ts';
import type { Invocation } from './program.ts';

/** What a command prints: a record by its shape, or by the names of its fields. */
type Printed = Shape | readonly string[];

/**
 * A name of --fields that a write does not print is refused before anything is sent, and before anything is asked. Of
 * a read it is judged by the records themselves, which may have fields that the table does not know.
 */
export async function refuseStrangeFields(invocation: Invocation, fields: readonly string[]): Promise<void> {
  const printed = await printedBy(invocation);
  if (!printed) return;
  const strange = fields.filter((path) => !isIn(printed, path.split('.')));
  if (strange.length > 0) throw noSuchFields(strange, namesOf(printed), 'Nothing was sent.');
}

/** Undefined where only the answer tells. */
async function printedBy({ command, argTexts, flagTexts }: Invocation): Promise<Printed | undefined> {
  const { row, prints, operation = row?.operation } = command;
  const isGiven = (key: string) => (flagTexts[key] ?? []).length > 0;
  if (row && isGiven('from')) return (await import('../bulk/report.ts')).reportFields;
  const isWrite = operation !== undefined && operation.safety !== 'read';
  if (isWrite && isGiven('dry_run')) return ['method', 'path', 'body'];
  if (prints) return prints();
  if (!isWrite) return undefined;
  if (row && (argTexts.id ?? []).length > 1) return severalFields;
  // A batch is printed as a list of what one of them would be.
  const { key } = operation.answer;
  const answer = shapeOf(operation.response);
  return key === undefined ? answer : answer.fields?.[key];
}

function isIn(printed: Printed, [key = '', ...rest]: readonly string[]): boolean {
  if (!('type' in printed)) return printed.includes(key);
  if (printed.item) return isIn(printed.item, [key, ...rest]);
  if (!printed.fields) return printed.type === 'pairs' || printed.type === 'unknown';
  const field = Object.hasOwn(printed.fields, key) ? printed.fields[key] : undefined;
  return field !== undefined && (rest.length === 0 || isIn(field, rest));
}

function namesOf(printed: Printed): readonly string[] {
  if (!('type' in printed)) return printed;
  return Object.entries(printed.item?.fields ?? printed.fields ?? {}).flatMap(([key, field]) => {
    const inside = field.item ? [] : namesOf(field);
    return inside.length === 0 ? [key] : inside.map((path) => `${key}.${path}`);
  });
}
