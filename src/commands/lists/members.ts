import * as v from 'valibot';
import {
  listContactListMembers,
  listContactLists,
  removeListContacts,
  syncListContacts,
  updateContactList,
} from '../../api/lists.ts';
import { asRead } from '../../as-read.ts';
import { noChange } from '../../command/clear.ts';
import { defineCommand, type Param } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { flagsOf } from '../../command/flags.ts';
import { param } from '../../command/param.ts';
import { rowOf } from '../../command/row.ts';
import { requireStill, whileStill } from '../../command/still-so.ts';
import { Failure } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call/call.ts';
import { counted } from '../../text/number.ts';
import { textIn, withoutUndefined } from '../../text/record.ts';

export const args = { id: param.requiredId('Id of the contact list', 'lists') };
export const contact = param.ids('Id or email of a contact; repeatable', 'contacts');

export const memberColumns = [
  { path: 'contact_id', header: 'ID', rank: 1 },
  { path: 'name', header: 'Name', rank: 2 },
] as const;

export const membersOf = async (service: Service, contactList: number) =>
  (await call(service, listContactListMembers, { params: { contactList } })).data;

/** Undefined where the service shows none. */
export async function nameShown(service: Service, id: number): Promise<string | undefined> {
  const { data } = await call(service, listContactLists, {});
  const found = data.find((list) => list.contacts_list_id === id);
  if (found) return textIn(found.name) || undefined;
  throw new Failure('not-found', `There is no contact list ${id} in this account.`, {
    status: 404,
    hint: 'Run: svc lists list',
  });
}

/** The service requires the name wherever a list is changed, so the present one is sent. */
async function nameOf(service: Service, id: number, otherwise = noName): Promise<string> {
  const name = await nameShown(service, id);
  if (name !== undefined) return name;
  throw otherwise(id);
}

const noName = (id: number): Failure =>
  new Failure('failed', `Contact list ${id} has no name, and no list is changed without one. Nothing was sent.`, {
    hint: `To give it one: svc lists update ${id} --name NAME`,
  });

/** What is said of a row is one sentence, and the service is not in trouble. */
const noNameInRow = (id: number): Failure =>
  new Failure(
    'usage',
    `Contact list ${id} has no name, and no list is changed without one. Give it one in a column name.`,
  );

/** What svc sends is the name as it was: nobody's new one is taken back. */
async function asNamed(service: Service, id: number): Promise<{ readonly name: string; readonly sender: Service }> {
  const read = (reading: Service) => nameOf(reading, id);
  const seen = await asRead(service, read);
  const sender = whileStill(service, { read, seen, what: `The name of list ${id}`, done: 'changed' });
  return { name: seen.was, sender };
}

type Change = Param<string | undefined>;
const { name, target_industry, metadata } = flagsOf(updateContactList.body, { optional: true }) as {
  name: Change;
  target_industry: Change;
  metadata: Param<Readonly<Record<string, string>> | undefined>;
};

export const updateList = defineCommand({
  name: 'update',
  summary: updateContactList.summary,
  args,
  flags: { name, target_industry, metadata },
  row: rowOf(updateContactList, {
    body: v.partial(updateContactList.body),
    needsChange: true,
    supply: {
      fields: ['name'],
      load: async (service, id) => ({ name: await nameOf(service, id, noNameInRow) }),
    },
  }),
  examples: ["svc lists update 1 --target-industry 'Health care'"],
  async run(ctx, { args: { id }, flags, settings }) {
    const given = withoutUndefined(flags);
    if (Object.keys(given).length === 0) throw noChange(updateContactList.body);
    const service = await connect(ctx, settings);
    const { name, sender } =
      flags.name === undefined ? await asNamed(service, id) : { name: flags.name, sender: service };
    const body = { name, ...given };
    const record = await call(sender, updateContactList, { params: { contactList: id }, body });
    const { changes } = await import('../../command/changes.ts');
    const done = `Contact list ${id} is changed: ${changes(given)}.`;
    return { data: { shape: 'record', record: record ?? {} }, done, notes: [done] };
  },
});

export const removeFromList = defineCommand({
  name: 'remove',
  summary: removeListContacts.summary,
  details:
    'A contact that was not in the list, or that does not exist, is no error: it is not in it afterwards (exit 0).',
  args,
  writes: true,
  operation: removeListContacts,
  flags: { contact },
  examples: ['svc lists remove 1 --contact 7'],
  async run(ctx, { args: { id }, flags, settings }) {
    const service = await connect(ctx, settings);
    const wanted = [...new Set(flags.contact)];
    const record = await call(service, removeListContacts, {
      params: { contactList: id },
      body: { contacts_ids: wanted },
    });
    // Only the service knows who was in the list, so its own words are all that is said.
    const told = record?.success ?? `${counted(wanted.length, 'contact')} taken out.`;
    const after =
      wanted.length === 1 ? `Contact ${wanted[0]} is not in it now.` : `None of ${some(wanted)} is in it now.`;
    const done = `List ${id}: ${told} ${after}`;
    return { data: { shape: 'record', record: record ?? {} }, done, notes: [done] };
  },
});

export const setList = defineCommand({
  name: 'set',
  summary: syncListContacts.summary,
  details: 'Shows who would be added and who would be taken out, and asks.',
  args,
  writes: true,
  operation: syncListContacts,
  flags: { contact },
  examples: ['svc lists set 1 --contact 7 --contact 8 --yes'],
  async run(ctx, { args: { id }, flags, settings }) {
    const service = await connect(ctx, settings);
    const wanted = [...new Set(flags.contact)];
    const read = async (reading: Service) => {
      const ids = (await membersOf(reading, id)).map((member) => member.contact_id).sort((a, b) => a - b);
      return { ids, name: await nameOf(reading, id) };
    };
    const shown = { read, seen: await asRead(service, read), what: `List ${id}`, done: 'changed' };
    let still = whileStill(service, shown);
    const { ids: present, name } = shown.seen.was;
    const added = wanted.filter((contactId) => !present.includes(contactId));
    const removed = present.filter((contactId) => !wanted.includes(contactId));
    if (added.length + removed.length > 0) {
      ctx.notice(
        `List ${id} has ${counted(present.length, 'contact')}. Adding: ${some(added)}. Taking out: ${some(removed)}.`,
      );
      await confirmed(
        ctx,
        settings,
        wanted.length === 1
          ? `Set list ${id} to this 1 contact?`
          : `Set list ${id} to these ${counted(wanted.length, 'contact')}?`,
      );
      // A person may take minutes to answer.
      if (!settings.yes) still = whileStill(service, { ...shown, seen: await requireStill(service, shown) });
    }
    const body = { name, contacts_ids: wanted };
    const record = await call(still, syncListContacts, { params: { contactList: id }, body });
    const done = `List ${id} holds exactly ${counted(wanted.length, 'contact')}.`;
    return { data: { shape: 'record', record: record ?? {} }, done, notes: [done] };
  },
});

const some = (ids: readonly number[]): string =>
  ids.length === 0 ? 'none' : `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ` and ${ids.length - 10} more` : ''}`;
