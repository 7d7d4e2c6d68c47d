import { listContacts } from '../../api/contacts.ts';
import { atMost, firstComing, wholeListFlags } from '../../command/at-most.ts';
import { defineCommand } from '../../command/command.ts';
import { fieldPaths } from '../../command/listing.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { connect } from '../../http/call/call.ts';
import type { Column, View } from '../../output/view.ts';
import { once } from '../../promise/once.ts';

export const findContacts = (columns: readonly Column[]) =>
  defineCommand({
    name: 'find',
    summary: 'Find contacts by email, name, phone or company',
    onlyReads: () => true,
    details:
      'A part of a word is enough; case does not matter. Where svc mirror pull has made a copy of the account, the copy answers, ' +
      'and a note says how old it is; contacts that svc itself has changed since are read. If svc has made contacts since, or the copy has none, svc asks the service for contacts that are newer than the copy. Without a copy, with --live, or ' +
      'where nothing is found after a sync, every page is read, since the service has no search over contacts.',
    args: { text: param.texts('What to look for', { required: true }) },
    flags: wholeListFlags('At most N contacts'),
    examples: ['svc contacts find yara kim', "svc contacts find 'acme' --json"],
    async run(ctx, { args, flags: { limit }, settings }) {
      const text = args.text.join(' ');
      if (text.trim() === '') throw new Failure('usage', 'TEXT is empty.');
      const [{ foundInCopy }, { contactsWhere, mentions }] = await Promise.all([
        import('../../mirror/query/found.ts'),
        import('../../command/find-contacts.ts'),
      ]);
      const open = once(() => connect(ctx, settings));
      const asking = { ctx, settings, service: open, tell: ctx.notice, toService: '--live' };
      const copied = await foundInCopy(asking, text);
      if (copied) {
        const { records, notes } = atMost(copied, limit);
        return { ...view(records, columns), notes };
      }
      const service = await open();
      const found = contactsWhere(service, mentions(text), text, { isInCopy: true });
      const { records, notes } = firstComing(found, limit);
      return { ...view(records, columns), notes };
    },
  });

const view = (records: Iterable<unknown> | AsyncIterable<unknown>, columns: readonly Column[]): View => ({
  data: { shape: 'list', records, columns, fields: fieldPaths(listContacts), empty: 'No contact matches.' },
  read: true,
});
