import { stillHas } from '../../command/ids.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { Service } from '../../http/call.ts';
import { counted } from '../../text/number.ts';

/** Ids by email from the copy of the account, and how many contacts it has; undefined where the service has to be asked. */
export type IdsInCopy = (
  ctx: Context,
  settings: Settings,
  emails: readonly string[],
) => Promise<{ readonly ids: ReadonlyMap<string, readonly number[]>; readonly total: number } | undefined>;

const contactsInPage = 100;

/**
 * The ids of the copy, each contact read once: rows are written to them, and an address may have gone to somebody else.
 * Undefined where the service's list is to be read instead: that takes fewer requests, or the copy does not name one
 * contact for each address.
 */
export async function provedInCopy(
  service: Service,
  emails: readonly string[],
  inCopy: IdsInCopy,
): Promise<ReadonlyMap<string, readonly number[]> | undefined> {
  const { ctx, settings } = service;
  const copied = await inCopy(ctx, settings, emails);
  if (!copied || emails.length > Math.ceil(copied.total / contactsInPage)) return undefined;
  for (const [at, email] of emails.entries()) {
    const [id, ...others] = copied.ids.get(email) ?? [];
    const isProved = id !== undefined && others.length === 0 && (await stillHas(service, id, email));
    if (!isProved) {
      ctx.notice(`The copy does not tell whose ${email} is now. Asking the service.`);
      return undefined;
    }
    ctx.progress(`Looking up ids: ${at + 1} of ${counted(emails.length, 'email')}`, 'work');
  }
  return copied.ids;
}
