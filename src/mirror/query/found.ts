import { getContact } from '../../api/contacts.ts';
import { type FoundContact, mentions, newerContacts } from '../../command/find-contacts.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { call, type Service } from '../../http/call/call.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { counted } from '../../text/number.ts';
import type { Fields } from '../../text/record.ts';
import { findContacts, fromContactsCopy, newestContacts, newestFirst, type Telling } from './find.ts';
import { type Written, writtenSince } from './written.ts';

type Asking = {
  readonly ctx: Context;
  readonly settings: Settings;
  /** Opened where the copy alone does not do. */
  readonly service: () => Promise<Service>;
} & Telling;

/**
 * Contacts that hold the text, newest first, as the copy has them, but for what svc itself has written since the copy saw
 * it: that is read. Undefined where the service has to be asked.
 */
export async function foundInCopy(asking: Asking, text: string): Promise<readonly Fields[] | undefined> {
  const { ctx, settings, tell, toService } = asking;
  const copied = await fromContactsCopy(
    ctx,
    settings,
    async (copy) => {
      const found = await findContacts(copy.store, copy.account, text);
      const written = await writtenSince(ctx, settings, copy);
      // They are looked for among all; where the copy has what was asked for, nobody needs them.
      const mayAsk = found.contacts.length === 0 || written.hasNewer || written.ids.length > 0;
      return { ...found, written, newest: mayAsk ? await newestContacts(copy.store, copy.account) : new Set<number>() };
    },
    asking,
  );
  if (!copied) return undefined;
  const { written, newest } = copied;
  const changed = await withChanged(asking, copied.contacts, written, text);
  const contacts = await withNewer(asking, changed.contacts, { newest, hasNewer: written.hasNewer }, text);
  if (contacts.length === 0 && !changed.isAllRead) {
    tell(`svc has changed contacts that it has not read. Asking the service; to renew the copy: ${renewal}`);
    return undefined;
  }
  if (!written.hasUnnamed) {
    if (contacts.length === 0)
      tell(`The copy does not know what others have changed in older contacts since the last pull. ${seen(toService)}`);
    return contacts;
  }
  // To read all contacts after each sync would make the copy useless to whoever syncs every day.
  if (contacts.length > 0) {
    tell(`${synced}: older ones are shown as the copy has them. To see what it filled in: ${toService}, or ${renewal}`);
    return contacts;
  }
  tell(`${synced}, and cannot tell which of them changed. Asking the service; to renew the copy: ${renewal}`);
  return undefined;
}

const seen = (toService: string): string => `To see that: svc mirror pull, or ${toService}`;
const synced = 'svc has synced contacts since the copy read them';
const renewal = 'svc mirror pull --full --only contacts';

async function withChanged({ service, tell }: Asking, contacts: readonly Fields[], { ids }: Written, text: string) {
  if (ids.length === 0) return { contacts, isAllRead: true };
  const read = await readWritten(await service(), ids, tell);
  const fresh = read.flatMap(({ contact }) => (contact !== undefined && mentions(text)(contact) ? [contact] : []));
  return {
    contacts: withFresh(contacts, new Set(read.map(({ id }) => id)), fresh),
    isAllRead: read.length === ids.length,
  };
}

type Newer = { readonly newest: ReadonlySet<number>; readonly hasNewer: boolean };

/** The service lists the newest first, so what is newer costs a request as a rule. */
async function withNewer(
  { service, tell }: Asking,
  contacts: readonly Fields[],
  { newest, hasNewer }: Newer,
  text: string,
): Promise<readonly Fields[]> {
  if (!hasNewer && contacts.length > 0) return contacts;
  const why = hasNewer ? 'svc may have made contacts since the pull' : 'The copy has none';
  tell(`${why}; asking the service for newer contacts.`);
  try {
    const newer: FoundContact[] = [];
    for await (const contact of newerContacts(await service(), newest, mentions(text))) newer.push(contact);
    return withFresh(contacts, new Set(newer.map(({ contact_id: id }) => id)), newer);
  } catch (error) {
    if (contacts.length === 0 || !isAway(error)) throw error;
    tell(`${error.message} Contacts that are newer than the copy may be missing.`);
    return contacts;
  }
}

const withFresh = (
  contacts: readonly Fields[],
  read: ReadonlySet<number>,
  fresh: readonly FoundContact[],
): readonly Fields[] => newestFirst([...contacts.filter(({ contact_id: id }) => !read.has(Number(id))), ...fresh]);

/** A copy answers where there is no network, and where the service is busy or fails, too. */
const isAway = (error: unknown): error is Failure =>
  error instanceof Failure && ['network', 'rate-limited', 'failed'].includes(error.kind);

const mostRead = 20;

/** The newest writes first. `contact`: undefined where it is not there any more. */
async function readWritten(service: Service, ids: readonly number[], tell: Telling['tell']) {
  const some = ids.slice(0, mostRead);
  const what = some.length < ids.length ? `the last ${some.length}` : 'what they are now';
  tell(`svc has changed ${counted(ids.length, 'contact')} since the pull; reading ${what} from the service.`);
  if (some.length < ids.length) tell(`The others are shown as the copy has them. To renew it: ${renewal}`);
  const read: { readonly id: number; readonly contact: FoundContact | undefined }[] = [];
  for (const id of some) {
    try {
      const answer = await call(service, getContact, { params: { id } }).catch(insteadOf(['not-found'], undefined));
      read.push({ id, contact: answer?.contact });
    } catch (error) {
      if (!isAway(error)) throw error;
      tell(`${error.message} The contacts that svc has changed are shown as the copy has them.`);
      return read;
    }
  }
  return read;
}
