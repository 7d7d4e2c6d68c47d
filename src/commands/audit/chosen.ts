import { join } from 'node:path';
import { auditRoot, fileName, nameInUse } from '../../audit/place.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { logsIn } from '../../disk/log/shared-log-part.ts';
import { Failure } from '../../errors.ts';

export const accountFlag = param.text('Of another account: the name of its folder', { placeholder: 'NAME' });

/** A record of writes. `notes`: what to say beside it. */
type Chosen = { readonly root: string; readonly notes: readonly string[] };

/** The record of the account in use; it is read without a request. Where nobody is logged in, the only one. */
export async function chosenRecord(ctx: Context, settings: Settings, account: string | undefined): Promise<Chosen> {
  const root = auditRoot(ctx.files);
  const names = logsIn(root, fileName);
  const inUse = account ?? (await nameInUse(ctx, settings));
  if (inUse !== undefined && names.includes(inUse)) return { root: join(root, inUse), notes: [] };
  const listed = names.join(', ');
  if (account !== undefined) {
    const hint = names.length > 0 ? `There are: ${listed}` : 'Nothing is recorded yet.';
    throw new Failure('not-found', `There is no record of ${account}.`, { hint });
  }
  const [only, ...others] = names;
  if (inUse === undefined && only !== undefined && others.length === 0) return { root: join(root, only), notes: [] };
  if (inUse === undefined && only !== undefined)
    throw new Failure('usage', 'There are records of several accounts, and nobody is logged in.', {
      hint: `Name one with --account: ${listed}`,
    });
  const notes = only === undefined ? [] : [`There are records of other accounts, for --account: ${listed}`];
  return { root: join(root, inUse ?? 'none'), notes };
}
