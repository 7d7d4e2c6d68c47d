import * as v from 'valibot';
import { getContact } from '../../api/contacts.ts';
import {
  createAndSyncListContacts,
  listContactListMembers,
  listContactLists,
  removeListContacts,
  syncListContacts,
  updateContactList,
} from '../../api/lists.ts';
import type { Output } from '../../api/operation.ts';
import { defineCommand, type Param } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { flagsOf } from '../../command/flags.ts';
import { param } from '../../command/param.ts';
import { rowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call.ts';
import { restIs } from '../../http/writes.ts';
import { counted } from '../../text/number.ts';

const args = { id: param.requiredId('Id of the contact list', 'lists') };
const contact = param.ids('Id or email of a contact; repeatable', 'contacts');

export const memberColumns = [
  { path: 'contact_id', header: 'ID', rank: 1 },
  { path: 'name', header: 'Name', rank: 2 },
] as const;

type Member = { readonly contact_id: number; readonly name: string };

const membersOf = async (service: Service, contactList: number): Promise<readonly Member[]> =>
  (await call(service, listContactListMembers, { params: { contactList } })).data;

/** The service requires the name wherever a list is changed, so the present one is sent. */
async function nameOf(service: Service, id: number): Promise<string> {
  const { data } = await call(service, listContactLists, {});
  const found = data.find((list) => list.contacts_list_id === id);
  if (found) return found.name;
  throw noSuchList(id);
}

const noSuchList = (id: number): Failure =>
  new Failure('not-found', `There is no contact list ${id} in this account.`, {
    status: 404,
    hint: 'Run: svc lists list',
  });

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
      async load(service) {
        const { data } = await call(service, listContactLists, {});
        return (id) => {
          const found = data.find((list) => list.contacts_list_id === id);
          if (!found) throw noSuchList(id);
          return { name: found.name };
        };
      },
    },
  }),
  examples: ["svc lists update 1 --target-industry 'Health care'"],
  async run(ctx, { args: { id }, flags, settings }) {
    const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
    if (Object.keys(given).length === 0) {
      throw new Failure('usage', 'No change was given.', {
        hint: 'Give at least one of --name, --target-industry, --metadata.',
      });
    }
    const service = await connect(ctx, settings);
    const body = { name: flags.name ?? (await nameOf(service, id)), ...given };
    const record = await call(service, updateContactList, { params: { contactList: id }, body });
    const { changes } = await import('../../command/changes.ts');
    const done = `Contact list ${id} is changed: ${changes(given)}.`;
    return { data: { shape: 'record', record: record ?? {} }, done, notes: [done] };
  },
});

/**
 * Adding is never a read followed by a set: two people adding at once would lose one's contacts. So each contact goes
 * unchanged through the adding endpoint, which matches by phone or email and may therefore add a twin instead.
 */
export const addToList = defineCommand({
  name: 'add',
  summary: 'Add contacts to a list without disturbing the others',
  args,
  writes: true,
  flags: { contact },
  examples: ['svc lists add 1 --contact 7 --contact 8'],
  async run(ctx, { args: { id }, flags, settings }) {
    const service = await connect(ctx, settings);
    const wanted = [...new Set(flags.contact)];
    const contacts = [];
    for (const contactId of wanted) {
      const { contact: found } = await call(service, getContact, { params: { id: contactId } });
      if (!found.email) {
        throw new Failure('rejected', `Contact ${contactId} has no email address. Adding to a list needs one.`, {
          hint: `Nothing was added. Give it one: svc contacts update ${contactId} --email ADDRESS`,
        });
      }
      contacts.push(unchanged(found));
    }
    const before = new Set((await membersOf(service, id)).map((member) => member.contact_id));
    restIs(ctx, `To see who is in it now: svc lists members ${id}`);
    await call(service, createAndSyncListContacts, { params: { contactList: id }, body: { contacts } });
    const after = await membersOf(service, id);
    const inList = new Set(after.map((member) => member.contact_id));
    const twins = after.filter((m) => !before.has(m.contact_id) && !wanted.includes(m.contact_id));
    const missing = wanted.filter((contactId) => !inList.has(contactId));
    const records = after.filter((member) => wanted.includes(member.contact_id));
    const data = { shape: 'list', records, columns: memberColumns } as const;
    if (missing.length === 0) {
      const done = `${isOrAre(wanted.length)} in list ${id}.`;
      return { data, done, notes: [done] };
    }
    return {
      data,
      outcome: 'partial',
      notes: [
        `${wanted.length - missing.length} of ${isOrAre(wanted.length)} in list ${id}.`,
        ...missing.map((contactId) =>
          twins.length > 0
            ? `Contact ${contactId} is not: the service matched its email or phone to another contact and added ${twins.map((twin) => twin.contact_id).join(', ')} instead.`
            : `Contact ${contactId} is not, though the service said so. It may have matched its email or phone to another contact that was in the list.`,
        ),
      ],
    };
  },
});

export const removeFromList = defineCommand({
  name: 'remove',
  summary: removeListContacts.summary,
  args,
  writes: true,
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
    return { data: { shape: 'record', record: record ?? {} }, done: `List ${id}: ${told}` };
  },
});

export const setList = defineCommand({
  name: 'set',
  summary: syncListContacts.summary,
  details: 'Shows who would be added and who would be taken out, and asks.',
  args,
  writes: true,
  flags: { contact },
  examples: ['svc lists set 1 --contact 7 --contact 8 --yes'],
  async run(ctx, { args: { id }, flags, settings }) {
    const service = await connect(ctx, settings);
    const wanted = [...new Set(flags.contact)];
    const present = (await membersOf(service, id)).map((member) => member.contact_id);
    const added = wanted.filter((contactId) => !present.includes(contactId));
    const removed = present.filter((contactId) => !wanted.includes(contactId));
    const listName = await nameOf(service, id);
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
    }
    const body = { name: listName, contacts_ids: wanted };
    const record = await call(service, syncListContacts, { params: { contactList: id }, body });
    const done = `List ${id} holds exactly ${counted(wanted.length, 'contact')}.`;
    return { data: { shape: 'record', record: record ?? {} }, done, notes: [done] };
  },
});

type Found = Output<typeof getContact>['contact'];

/** The contact as a row that leaves it as it is: every field that the endpoint takes and that is not blank. */
function unchanged({ name: first, email, last_name, phone, company, website, country }: Found) {
  const filled = Object.entries({ last_name, phone, company, website, country }).filter(([, value]) => value);
  return { name: first, email, ...Object.fromEntries(filled) };
}

const isOrAre = (count: number): string => `${counted(count, 'contact')} ${count === 1 ? 'is' : 'are'}`;

const some = (ids: readonly number[]): string =>
  ids.length === 0 ? 'none' : `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ` and ${ids.length - 10} more` : ''}`;
