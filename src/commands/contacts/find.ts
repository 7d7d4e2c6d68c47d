import { getContact, listContacts } from '../../api/contacts.ts';
import { defineCommand } from '../../command/command.ts';
import type { FoundContact } from '../../command/find-contacts.ts';
import { fieldPaths } from '../../command/listing.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call/call.ts';
import type { Column, View } from '../../output/view.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { counted } from '../../text/number.ts';

export const findContacts = (columns: readonly Column[]) =>
  defineCommand({
    name: 'find',
    summary: 'Find contacts by email, name, phone or company',
    details:
      'A part of a word is enough; case does not matter. Where svc mirror pull has made a copy of the account, the copy answers, ' +
      'and a note says how old it is; contacts that svc itself has changed since are read. If the copy has none, svc asks the service for contacts that are newer than the copy. Without a copy, or ' +
      'with --live, every page is read, since the service has no search over contacts.',
    args: { text: param.texts('What to look for', { required: true }) },
    flags: { limit: param.integer('At most N contacts', { min: 1 }) },
    examples: ['svc contacts find yara kim', "svc contacts find 'acme' --json"],
    async run(ctx, { args, flags: { limit }, settings }) {
      const text = args.text.join(' ');
      if (text.trim() === '') throw new Failure('usage', 'TEXT is empty.');
      const copied = await foundInCopy(ctx, settings, text);
      if (copied && copied.contacts.length > 0) {
        const shown = copied.contacts.slice(0, limit);
        return { ...view(shown, columns), notes: leftOut(shown.length, copied.contacts.length) };
      }
      const { contactsWhere, mentions, newerContacts } = await import('../../command/find-contacts.ts');
      const service = await connect(ctx, settings);
      if (copied) {
        ctx.notice('The copy has none; asking the service for newer contacts.');
        const newer: FoundContact[] = [];
        for await (const contact of newerContacts(service, copied.newest, mentions(text))) newer.push(contact);
        const shown = newer.slice(0, limit);
        return { ...view(shown, columns), notes: newer.length === 0 ? [unseen] : leftOut(shown.length, newer.length) };
      }
      async function* found(): AsyncGenerator<FoundContact> {
        for await (const contact of contactsWhere(service, mentions(text), text, { isInCopy: true })) {
          if (count === limit) {
            count++;
            return;
          }
          count++;
          yield contact;
        }
      }
      let count = 0;
      const shown = () => (limit !== undefined && count > limit ? [`Showing the first ${limit}; there are more.`] : []);
      return { ...view(found(), columns), notes: shown };
    },
  });

const unseen =
  'The copy does not know what others have changed in older contacts since the last pull. To see that: svc mirror pull, or --live';

/** What the copy answers, but for the contacts that svc has written since: they are read. */
async function foundInCopy(ctx: Context, settings: Settings, text: string) {
  const [{ findContacts: findInCopy, fromContactsCopy, newestContact }, { writtenSince }, { mentions }] =
    await Promise.all([
      import('../../mirror/query/find.ts'),
      import('../../mirror/query/written.ts'),
      import('../../command/find-contacts.ts'),
    ]);
  const copied = await fromContactsCopy(ctx, settings, async (copy) => ({
    ...(await findInCopy(copy.store, copy.account, text)),
    newest: await newestContact(copy.store, copy.account),
    written: await writtenSince(ctx, settings, copy),
  }));
  if (!copied || copied.written.length === 0) return copied;
  const read = await readWritten(await connect(ctx, settings), copied.written);
  const fresh = read.filter(({ contact }) => contact !== undefined && mentions(text)(contact));
  const ids = new Set(read.map(({ id }) => id));
  const kept = copied.contacts.filter(({ contact_id: id }) => !ids.has(Number(id)));
  const all = [...kept, ...fresh.flatMap(({ contact }) => contact ?? [])];
  return { ...copied, contacts: all.sort((a, b) => Number(b.contact_id) - Number(a.contact_id)) };
}

const mostRead = 20;

/** The newest writes first. `contact`: undefined where it is not there any more. */
async function readWritten(
  service: Service,
  ids: readonly number[],
): Promise<{ readonly id: number; readonly contact: FoundContact | undefined }[]> {
  const { notice } = service.ctx;
  const some = ids.slice(0, mostRead);
  const what = some.length < ids.length ? `the last ${some.length}` : 'what they are now';
  notice(`svc has changed ${counted(ids.length, 'contact')} since the pull; reading ${what} from the service.`);
  if (some.length < ids.length)
    notice('The others are shown as the copy has them. To renew it: svc mirror pull --full --only contacts');
  const read = [];
  for (const id of some) {
    try {
      const answer = await call(service, getContact, { params: { id } }).catch(insteadOf(['not-found'], undefined));
      read.push({ id, contact: answer?.contact as FoundContact | undefined });
    } catch (error) {
      // A copy answers where there is no network too.
      if (!(error instanceof Failure) || error.kind !== 'network') throw error;
      notice(`${error.message} The contacts that svc has changed are shown as the copy has them.`);
      return read;
    }
  }
  return read;
}

const leftOut = (shown: number, all: number): string[] =>
  shown < all ? [`Showing ${shown} of ${all}. For more: leave out --limit.`] : [];

const view = (records: Iterable<unknown> | AsyncIterable<unknown>, columns: readonly Column[]): View => ({
  data: { shape: 'list', records, columns, fields: findFields, empty: 'No contact matches.' },
  read: true,
});

const findFields = fieldPaths(listContacts);
