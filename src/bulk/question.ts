import type { Operation } from '../api/operation.ts';
import type { RowOf } from '../command/row.ts';
import { counted } from '../text/number.ts';
import type { Plan } from './plan.ts';

/** What is asked once before the first row goes out; undefined where nobody hears of it and nothing is lost. */
export function questionFor(row: RowOf, { published }: Plan, count: number, words: string): string | undefined {
  const { operation, question } = row;
  const isPublic = operation.reaches === 'public';
  if (isPublic ? published === 0 : operation.grant !== 'send' && !operation.deletes && !operation.destructive)
    return undefined;
  if (question) return question(isPublic ? Math.min(count, published) : count);
  return `Run svc ${words} for ${counted(count, 'row')}?${whoHears(operation)}`;
}

function whoHears({ reaches, grant }: Operation): string {
  if (reaches === 'public') return ' The public will read it.';
  return grant === 'send' ? ' Customers may hear of it.' : '';
}
