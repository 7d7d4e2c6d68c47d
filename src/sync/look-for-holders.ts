import { contactsWhere } from '../command/find-contacts.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, isInterruption } from '../errors.ts';
import { connect, patience, type Service } from '../http/call/call.ts';
import { columnName } from '../tabular/columns.ts';
import { shellWord } from '../text/shell-word.ts';
import { leftOutNote, type PhoneHolders } from './phone-holders.ts';
import type { Plan } from './plan.ts';

/**
 * Compares the phones of a file with those of the account, which costs a reading of all contacts: the service has no search,
 * and a copy may be older than a contact. Without phones nothing is read. Throws where the contacts cannot be read, or not all.
 */
export async function lookForHolders(outer: Service, plan: Plan): Promise<void> {
  const { holders } = plan;
  if (!holders?.areThere()) return;
  const { settings } = outer;
  try {
    await compareAll({ ...outer, settings: { ...settings, ...patience(outer) } }, holders);
  } catch (failure) {
    if (!(failure instanceof Failure) || isInterruption(failure)) throw failure;
    if (!failure.isShort) throw unread(failure, plan);
    if (!settings.yes) throw hidden(failure, plan);
    outer.ctx.notice(`Warning: ${failure.message} With --yes svc goes by those that are listed.`);
  }
  tell(outer.ctx, holders);
}

/** For a dry run, which needs no login: what it could not look at is said. */
export async function lookForHoldersDry(ctx: Context, settings: Settings, plan: Plan): Promise<void> {
  const { holders } = plan;
  if (!holders?.areThere()) return;
  try {
    await compareAll(await connect(ctx, settings), holders);
  } catch (failure) {
    if (!(failure instanceof Failure) || isInterruption(failure)) throw failure;
    ctx.notice(`Warning: whether other contacts have these phones is not known. ${failure.message}`);
  }
  tell(ctx, holders);
}

async function compareAll(service: Service, holders: PhoneHolders): Promise<void> {
  const compare = (contact: Parameters<PhoneHolders['compare']>[0]) => {
    holders.compare(contact);
    return false;
  };
  for await (const _ of contactsWhere(service, compare, 'other contacts with the phones of the file'));
}

function tell(ctx: Pick<Context, 'notice'>, holders: PhoneHolders): void {
  const ofContacts = holders.leftOut().filter(({ contact }) => contact !== null);
  for (const note of leftOutNote(ofContacts, 'contacts')) ctx.notice(note);
}

const unread = (failure: Failure, plan: Plan): Failure =>
  new Failure(
    failure.kind,
    `The contacts could not be read, and by a phone the service may find another person. ${failure.message} Nothing was sent.`,
    {
      ...failure,
      hint: [failure.hint, withoutPhones(plan)].filter(Boolean).join('\n'),
    },
  );

const hidden = (failure: Failure, plan: Plan): Failure =>
  new Failure('failed', `${failure.message} Nothing was sent.`, {
    ...failure,
    hint: [
      failure.hint,
      'Where the service counts contacts that it never lists, add --yes: svc then goes by those that are listed, and one that is hidden and has the phone of a row would be written over.',
      withoutPhones(plan),
    ].join('\n'),
  });

/** Without phones there is nothing to look for. */
function withoutPhones({ mapping: { columns, fallbacks }, table: { headers } }: Plan): string {
  const flags = [...columns, ...fallbacks]
    .filter(({ to }) => to === 'phone')
    .map(({ index }) => `--map ${shellWord(`${columnName(headers, index)}=ignore`)}`);
  return `To import without phones, which needs no reading: ${flags.join(' ')}`;
}
