import { getContact } from '../../api/contacts.ts';
import { createAndSyncListContacts, listContactListMembers } from '../../api/lists.ts';
import type { Output } from '../../api/operation.ts';
import { asRead } from '../../as-read.ts';
import { defineCommand } from '../../command/command.ts';
import { contactsWhere, type FoundContact } from '../../command/find-contacts.ts';
import { fieldPaths } from '../../command/listing.ts';
import { whileStill } from '../../command/still-so.ts';
import { Failure, runSameAgain } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call/call.ts';
import { restIs } from '../../http/exchange/writes.ts';
import { isSameEmail, isSamePhone, isSameText } from '../../http/look/agree.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { args, contact, memberColumns, membersOf } from './members.ts';

type Found = Output<typeof getContact>['contact'];

/**
 * Adding is never a read followed by a set: two people adding at once would lose one's contacts. So each contact goes
 * unchanged through the adding endpoint, which matches by phone or email. Where another contact has the same email it
 * could write the one over the other, so it is refused before anything is sent.
 */
export const addToList = defineCommand({
  name: 'add',
  summary: 'Add contacts to a list without disturbing the others',
  details:
    'The service adds by email. svc first reads the list of all contacts, and adds nobody whose email another contact has too: ' +
    'the service would write one over the other.',
  args,
  writes: true,
  operation: createAndSyncListContacts,
  prints: async () => fieldPaths(listContactListMembers),
  flags: { contact },
  examples: ['svc lists add 1 --contact 7 --contact 8'],
  async run(ctx, { args: { id }, flags, settings }) {
    const service = await connect(ctx, settings);
    const wanted = [...new Set(flags.contact)];
    const contacts: Found[] = [];
    for (const contactId of wanted) contacts.push(await addable(service, contactId));
    const others = await thoseAlike(service, contacts, id);
    refuseTwins(id, contacts, others);
    const before = new Set((await membersOf(service, id)).map((member) => member.contact_id));
    restIs(ctx, `To see who is in it now: svc lists members ${id}`);
    const read = (reading: Service) => asTheyAreNow(reading, contacts);
    const seen = await asRead(service, read);
    const still = whileStill(service, { read, seen, what: 'One of the contacts', done: 'added' });
    const rows = seen.was.map((one) => unchanged(one, others));
    await call(still, createAndSyncListContacts, { params: { contactList: id }, body: { contacts: rows } });
    const after = await membersOf(service, id);
    const inList = new Set(after.map((member) => member.contact_id));
    const missing = wanted.filter((contactId) => !inList.has(contactId));
    const records = after.filter((member) => wanted.includes(member.contact_id));
    const data = { shape: 'list', records, columns: memberColumns } as const;
    if (missing.length === 0) {
      const those = wanted.length === 1 ? `Contact ${wanted[0]} is` : `These ${isOrAre(wanted.length)}`;
      const done = `${those} in list ${id} now.`;
      return { data, done, notes: [done] };
    }
    const strangers = after.filter((member) => !before.has(member.contact_id) && !wanted.includes(member.contact_id));
    const instead = strangers.map((member) => member.contact_id).join(', ');
    return {
      data,
      outcome: 'partial',
      notes: [
        `${wanted.length - missing.length} of ${isOrAre(wanted.length)} in list ${id}.`,
        ...missing.map((contactId) =>
          strangers.length > 0
            ? `Contact ${contactId} is not: the service matched its email or phone to another contact, wrote it over that one and added ${instead} instead.`
            : `Contact ${contactId} is not, though the service said so. It may have matched its email or phone to another contact that was in the list.`,
        ),
      ],
    };
  },
});

async function addable(service: Service, contactId: number): Promise<Found> {
  const { contact: found } = await call(service, getContact, { params: { id: contactId } });
  if (found.email && found.name) return found;
  const [noun, flag] = found.email ? ['name', '--name NAME'] : ['email address', '--email ADDRESS'];
  throw new Failure('rejected', `Contact ${contactId} has no ${noun}. Adding to a list needs one.`, {
    hint: `Nothing was added. Give it one: svc contacts update ${contactId} ${flag}`,
  });
}

/** Reading all contacts can take minutes, and what is sent is written over the contact: it must not be older than that. */
async function asTheyAreNow(service: Service, contacts: readonly Found[]): Promise<Found[]> {
  const now: Found[] = [];
  for (const before of contacts) {
    const one = await addable(service, before.contact_id);
    if (!isSameEmail(one.email, before.email) || !isSamePhone(one.phone, before.phone)) {
      const problem = `The email or phone of contact ${one.contact_id} has just changed. Nothing was added.`;
      throw new Failure('failed', problem, { hint: runSameAgain });
    }
    now.push(one);
  }
  return now;
}

const hasEmailOf = (one: Found, other: FoundContact): boolean =>
  other.contact_id !== one.contact_id && isSameEmail(other.email, one.email);

const hasPhoneOf = (one: Found, other: FoundContact): boolean =>
  Boolean(one.phone) && other.contact_id !== one.contact_id && isSamePhone(other.phone, one.phone);

/**
 * All that the endpoint could take for one of these: of another contact with the same email or phone. A service may count
 * contacts that it never lists: then only a person can say that those listed are all.
 */
async function thoseAlike(service: Service, contacts: readonly Found[], list: number): Promise<FoundContact[]> {
  const isAlike = (other: FoundContact) => contacts.some((one) => hasEmailOf(one, other) || hasPhoneOf(one, other));
  const others: FoundContact[] = [];
  const listed = new Set<number>();
  const fits = (one: FoundContact): boolean => {
    listed.add(one.contact_id);
    return isAlike(one);
  };
  try {
    for await (const one of contactsWhere(service, fits, 'other contacts with the same email')) others.push(one);
  } catch (failure) {
    const isWorth =
      failure instanceof Failure && failure.isShort && contacts.every((one) => listed.has(one.contact_id));
    if (!isWorth) throw failure;
    if (!service.settings.yes) throw hiddenOnes(failure, contacts, list);
    service.ctx.notice(`Warning: ${failure.message} With --yes svc goes by those that are listed.`);
  }
  return others;
}

const hiddenOnes = (failure: Failure, contacts: readonly Found[], list: number): Failure =>
  new Failure('failed', `${failure.message} Nothing was added.`, {
    ...failure,
    hint: [
      failure.hint,
      'Where the service counts contacts that it never lists, add --yes: svc then goes by those that are listed, and one that is hidden and has the same email would be written over.',
      `Or say who is in the list, all of them by id: svc lists set ${list} ${contacts.map((one) => `--contact ${one.contact_id}`).join(' ')} --contact ID`,
    ].join('\n'),
  });

function refuseTwins(list: number, contacts: readonly Found[], others: readonly FoundContact[]): void {
  const twins = contacts.flatMap((one) =>
    others.filter((other) => hasEmailOf(one, other)).map((other) => ({ one, other })),
  );
  const [first] = twins;
  if (!first) return;
  const { one, other } = first;
  const more = twins.length === 1 ? '' : ` So it is with ${counted(twins.length - 1, 'more pair')}.`;
  throw new Failure(
    'usage',
    `Contact ${one.contact_id} has the same email as contact ${other.contact_id}: ${one.email}.${more} Nothing was added.`,
    {
      hint:
        `The service adds by email, so it would write one over the other${differing(one, other)}.\n` +
        `Give one of them another address: svc contacts update ${one.contact_id} --email ADDRESS\n` +
        `Or say who is in the list, all of them by id: svc lists set ${list} --contact ${one.contact_id} --contact ID`,
    },
  );
}

/** What the other has that would be lost. */
function differing(one: Found, other: FoundContact): string {
  const fields = ['name', 'last_name', 'phone', 'company', 'website', 'country'] as const;
  const lost = fields.filter((field) => other[field] && one[field] && !isSameText(other[field], one[field]));
  return lost.length === 0
    ? ''
    : sanitize(` (contact ${other.contact_id} has: ${lost.map((field) => `${field} ${other[field]}`).join(', ')})`);
}

/**
 * The contact as a row that leaves it as it is: every field that the endpoint takes and that is not blank. A phone that
 * another contact has too is left out, for by it the endpoint could find that one.
 */
function unchanged(one: Found, others: readonly FoundContact[]) {
  const { name, email, last_name, phone, company, website, country } = one;
  const own = others.some((other) => hasPhoneOf(one, other)) ? undefined : phone;
  const filled = Object.entries({ last_name, phone: own, company, website, country }).filter(([, value]) => value);
  return { name, email, ...Object.fromEntries(filled) };
}

const isOrAre = (count: number): string => `${counted(count, 'contact')} ${count === 1 ? 'is' : 'are'}`;
