import type { Operation } from '../api/operation.ts';
import { confirmed } from '../command/confirm.ts';
import type { RowOf } from '../command/row.ts';
import { manyToChange } from '../command/several.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
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

type Many = { readonly row: RowOf; readonly count: number; readonly words: string };

/** A close or an update of many is asked for once, on a terminal alone: it is easily taken back. */
export async function confirmedMany(ctx: Context, settings: Settings, { row, count, words }: Many): Promise<void> {
  const isChange = row.operation.safety === 'repeatable';
  if (!isChange || count <= manyToChange || settings.yes || settings.noInput || !ctx.ask.canAsk) return;
  await confirmed(ctx, settings, `Run svc ${words} for ${counted(count, 'row')}?`);
}
