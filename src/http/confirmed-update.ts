import { getChangelogEntry } from '../api/changelog.ts';
import type { Operation } from '../api/operation.ts';
import type { HttpResponse } from '../context.ts';
import { Failure } from '../errors.ts';
import { fieldsIn, textIn } from '../text/record.ts';
import type { LookAgain } from './look-again.ts';
import { shownOtherwise } from './shown-otherwise.ts';

/** What an update was answered with; where that shows another value than was sent, what the record shows that is read then. */
export async function confirmedUpdate(update: LookAgain, answer: HttpResponse, json: unknown): Promise<unknown> {
  const { operation, input } = update;
  const other = shownOtherwise(operation, input.body, json) ?? (await otherText(update, json));
  if (other === undefined) return json;
  const { lookAgain } = await import('./look-again.ts');
  return lookAgain(update, answer, other);
}

/**
 * The service makes HTML of the content of an entry, perhaps in a form that svc does not foresee. So where it does not
 * show what was sent, only what was there before tells whether it was changed.
 */
export const sendsContent = ({ id }: Pick<Operation, 'id'>, { body }: LookAgain['input']): boolean =>
  id === 'updateChangelogEntry' && textIn(fieldsIn(body).content) !== undefined;

/** The entry whose content an update replaces; undefined where the service does not show it: the update is told why. */
export async function recordBefore(
  operation: Operation,
  input: LookAgain['input'],
  read: LookAgain['read'],
): Promise<LookAgain['was']> {
  if (!sendsContent(operation, input)) return undefined;
  try {
    return fieldsIn(fieldsIn(await read(getChangelogEntry)).entry);
  } catch (failure) {
    if (failure instanceof Failure && ['forbidden', 'not-found', 'failed'].includes(failure.kind)) return undefined;
    throw failure;
  }
}

/** Undefined where what the answer shows is what was sent, or nobody knows. */
async function otherText({ operation, input, was }: LookAgain, json: unknown): Promise<string | undefined> {
  if (was === undefined || !sendsContent(operation, input)) return undefined;
  const html = textIn(fieldsIn(fieldsIn(json).entry).content_html);
  const { showsContent } = await import('../text/reading.ts');
  const { content } = fieldsIn(input.body);
  return html === undefined || showsContent(html, String(content)) ? undefined : 'another content';
}
