import { check } from '../../api/check.ts';
import { createContacts, NewContact } from '../../api/contacts.ts';
import type { Input } from '../../api/operation.ts';
import { unwrap } from '../../command/answered.ts';
import { defineCommand, type Param } from '../../command/command.ts';
import { flagsOf } from '../../command/flags.ts';
import { param } from '../../command/param.ts';
import { rowOf } from '../../command/row.ts';
import { readUserJson } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';
import { call, connect } from '../../http/call/call.ts';
import { fullName } from '../../text/full-name.ts';
import { counted } from '../../text/number.ts';
import { fieldsIn, textIn, withoutUndefined } from '../../text/record.ts';

type Body = Input<typeof createContacts>['body'];

const required = ['name', 'last_name', 'email', 'phone'];
const contactFlags = Object.fromEntries(
  Object.entries(flagsOf(NewContact)).map(([key, flag]) => [
    key,
    flag.required ? { ...flag, unless: ['file', 'from'] } : flag,
  ]),
);

export const createContact = defineCommand({
  name: 'create',
  summary: createContacts.summary,
  details:
    'Either flags for one contact, or --file with a JSON array of contacts (or an object with the key "contacts").\n' +
    'A batch is one transaction: one invalid row and none is created. The same email twice makes two contacts;\n' +
    'to import without doubles use: svc contacts sync',
  flags: {
    ...(contactFlags as Record<'name' | 'last_name' | 'email' | 'phone', Param<string | undefined>>),
    file: param.file('A batch from a JSON file; - is standard input', { conflicts: required }),
  },
  row: rowOf(createContacts, { body: NewContact }),
  prints: async () => ['contact_id', 'name'],
  examples: ['svc contacts create --name Ada --last-name Byron --email ada@example.com --phone +12025550123'],
  async run(ctx, { flags, settings }) {
    const { file, ...fields } = flags;
    const given = withoutUndefined(fields);
    const body = file === undefined ? oneContact(given) : await batchFrom(ctx, file);
    const service = await connect(ctx, settings);
    const made = unwrap(createContacts, await call(service, createContacts, { body }));
    if (!Array.isArray(made)) {
      const record = fieldsIn(made);
      const { contact_id: id = '', name = given.name } = record;
      const whole = fullName({ name: textIn(name), last_name: given.last_name });
      return { data: { shape: 'record', record }, done: `Contact ${id} (${whole}) is created.` };
    }
    const done = `Created ${counted(made.length, 'contact')}.`;
    return { data: { shape: 'list', records: made, columns: ['contact_id', 'name'] }, done, notes: [done] };
  },
});

function oneContact(given: object): Body {
  const checked = check(NewContact, given);
  if (checked.ok) return checked.value;
  throw new Failure('usage', 'The service would refuse this contact; nothing was sent.', { fields: checked.fields });
}

async function batchFrom(ctx: Parameters<typeof readUserJson>[0], file: string): Promise<Body> {
  const json = await readUserJson(ctx, file, '--file');
  const source = file === '-' ? 'standard input' : file;
  const body = Array.isArray(json) ? { contacts: json } : json;
  if (typeof body !== 'object' || body === null || !('contacts' in body)) {
    throw new Failure('usage', `--file: ${source} holds no array of contacts; nothing was sent.`, {
      hint: 'It is JSON like [{"name": …}, …]. One contact comes by flags: --name, --last-name, --email, --phone.',
    });
  }
  const checked = check(createContacts.body.options[0], body);
  if (checked.ok) return body as Body;
  throw new Failure('usage', `--file: ${source} holds contacts that the service would refuse; nothing was sent.`, {
    fields: checked.fields,
  });
}
