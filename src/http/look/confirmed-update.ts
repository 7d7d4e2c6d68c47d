import type { Operation } from '../../api/operation.ts';
import type { HttpResponse } from '../../context.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { fieldsIn, textIn } from '../../text/record.ts';
import { shownIn } from '../exchange/shown.ts';
import type { LookAgain } from './look-again.ts';
import { shownOtherwise, unnamedIn } from './shown-otherwise.ts';

/** What an update was answered with; where that shows another value than was sent, what the record shows that is read then. */
export async function confirmedUpdate(update: LookAgain, answer: HttpResponse, json: unknown): Promise<unknown> {
  const { operation, input } = update;
  const other = shownOtherwise(operation, input.body, json) ?? (await otherText(update, json));
  if (other === undefined) {
    const unnamed = unnamedIn(operation, input.body, json);
    if (unnamed.length > 0)
      update.ctx.notice(
        `Note: the service did not name as changed, so it may have been so before: ${unnamed.join(', ')}.`,
      );
    return json;
  }
  const { lookAgain } = await import('./look-again.ts');
  return lookAgain(update, answer, other);
}

/**
 * The service makes HTML of the content of an entry, perhaps in a form that svc does not foresee. So where it does not
 * show what was sent, only what was there before tells whether it was changed.
 */
export const sentText = ({ rewrites }: Pick<Operation, 'rewrites'>, { body }: LookAgain['input']): string | undefined =>
  rewrites && textIn(fieldsIn(body)[rewrites.field]);

/** The entry whose content an update replaces; undefined where the service does not show it. One that is not there is an error. */
export async function recordBefore(
  operation: Operation,
  input: LookAgain['input'],
  read: LookAgain['read'],
): Promise<LookAgain['was']> {
  const { rewrites } = operation;
  if (!rewrites || sentText(operation, input) === undefined) return undefined;
  return read(rewrites.reading).then(
    (json) => shownIn(rewrites.reading, json),
    insteadOf(['forbidden', 'failed'], undefined),
  );
}

/** Undefined where what the answer shows is what was sent, or nobody knows. */
async function otherText({ operation, input, was }: LookAgain, json: unknown): Promise<string | undefined> {
  const { rewrites } = operation;
  const sent = sentText(operation, input);
  if (was === undefined || !rewrites || sent === undefined) return undefined;
  const html = textIn(shownIn(operation, json)[rewrites.shownAs]);
  const { showsContent } = await import('../../text/reading.ts');
  return html === undefined || showsContent(html, sent) ? undefined : `another ${rewrites.field}`;
}
