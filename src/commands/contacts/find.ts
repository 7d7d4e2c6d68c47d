import { listContacts } from '../../api/contacts.ts';
import { defineCommand } from '../../command/command.ts';
import type { FoundContact } from '../../command/find-contacts.ts';
import { fieldPaths } from '../../command/listing.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { connect } from '../../http/call.ts';
import type { Column, View } from '../../output/view.ts';

export const findContacts = (columns: readonly Column[]) =>
  defineCommand({
    name: 'find',
    summary: 'Find contacts by email, name, phone or company',
    details:
      'A part of a word is enough; case does not matter. Where svc mirror pull has made a copy of the account, the copy answers, ' +
      'and a note says how old it is; if it has none, svc asks the service for contacts that are newer than the copy. Without a copy, or ' +
      'with --live, every page is read, since the service has no search over contacts.',
    args: { text: param.texts('What to look for', { required: true }) },
    flags: { limit: param.integer('At most N contacts', { min: 1 }) },
    examples: ['svc contacts find yara kim', "svc contacts find 'acme' --json"],
    async run(ctx, { args, flags: { limit }, settings }) {
      const text = args.text.join(' ');
      if (text.trim() === '') throw new Failure('usage', 'TEXT is empty.');
      const { findContacts: findInCopy, fromContactsCopy, newestContact } = await import('../../mirror/query/find.ts');
      const copied = await fromContactsCopy(ctx, settings, async ({ store, account }) => ({
        ...(await findInCopy(store, account, text)),
        newest: await newestContact(store, account),
      }));
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
        return { ...view(shown, columns), notes: leftOut(shown.length, newer.length) };
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

const leftOut = (shown: number, all: number): string[] =>
  shown < all ? [`Showing ${shown} of ${all}. For more: leave out --limit.`] : [];

const view = (records: Iterable<unknown> | AsyncIterable<unknown>, columns: readonly Column[]): View => ({
  data: { shape: 'list', records, columns, fields: findFields, empty: 'No contact matches.' },
  read: true,
});

const findFields = fieldPaths(listContacts);
