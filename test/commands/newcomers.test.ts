import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

describe('what there is no command for', () => {
  test.each([
    ['tickets delete 8', 'svc tickets close'],
    ['tickets remove 8', 'svc tickets close'],
    ['tickets rm 8', 'svc tickets close'],
    ['conversations delete 3', 'svc conversations resolve'],
    ['contacts delete 7', 'in the product'],
    ['contacts rm 7', 'in the product'],
    ['changelog delete 3', 'in the product'],
    ['changelog unpublish 3', 'in the product'],
    ['feedback create', 'in the product'],
    ['roadmap update', 'in the product'],
    ['calls delete 1', 'in the product'],
  ])('svc %s says so, and what to do instead', async (line, instead) => {
    const ran = await svc(sandboxWorld(), line.split(' '));
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('The API cannot');
    expect(ran.stderr).toContain(instead);
    expect(ran.stderr).not.toContain('Did you mean');
  });

  test.each([
    ['contacts get 7', 'contact_id'],
    ['account get', 'account_id'],
  ])('svc %s --fields id names the field that holds it', async (line, field) => {
    const ran = await svc(sandboxWorld(), [...line.split(' '), '--fields', 'id']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(`Did you mean ${field}?`);
  });

  test.each([
    ['contacts list', 'contact_id'],
    ['lists list', 'contacts_list_id'],
    ['calls list', 'phone_call_id'],
  ])('svc %s --fields id is the field that the table calls ID', async (line, field) => {
    const world = sandboxWorld();
    const ran = await svc(world, [...line.split(' '), '--fields', 'id', '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`"${field}": `) });
    expect(ran.stdout).toBe((await svc(world, [...line.split(' '), '--fields', field, '--json'])).stdout);
  });
});

describe('an id that is missing', () => {
  test.each([
    ['webhooks inbox replay', 'svc webhooks inbox list'],
    ['webhooks inbox replay --config x.yaml', 'svc webhooks inbox list --config x.yaml'],
    ['webhooks inbox show', 'svc webhooks inbox list'],
    ['webhooks dead show', 'svc webhooks dead list'],
    ['tickets close', 'svc tickets list'],
    ['contacts update', 'svc contacts list'],
    ['changelog publish', 'svc changelog list'],
    ['webhooks delete', 'svc webhooks list'],
  ])('svc %s without a terminal says what lists them', async (line, list) => {
    const world = sandboxWorld();
    const ran = await svc(world, line.split(' '));
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(new RegExp(`To find one: ${list}(?:\\n|$)`, 'u'));
    expect(world.sent).toEqual([]);
  });
});

describe('a phone of contacts create', () => {
  const create = (phone: string) => [
    'contacts',
    'create',
    '--name',
    'Ada',
    '--last-name',
    'Byron',
    '--email',
    'a@b.test',
    '--phone',
    phone,
    '--json',
  ];

  test.each(['+1 202 555 0123', '+1 (202) 555-0123', '+1.202.555.0123', ' +12025550123 '])(
    '%s is sent as the service takes it',
    async (phone) => {
      const world = sandboxWorld();
      const ran = await svc(world, create(phone));
      expect([ran.stderr, ran.exitCode]).toEqual(['', 0]);
      const { contact_id: id } = JSON.parse(ran.stdout);
      const shown = await svc(world, ['contacts', 'get', String(id), '--json']);
      expect(JSON.parse(shown.stdout).phone).toBe('+12025550123');
    },
  );

  test.each([
    ['+49 30 1234567', 'svc contacts sync'],
    ['(202) 555-0123', '+12025550123'],
    ['2025550123', '+12025550123'],
    ['12025550123', '+12025550123'],
    ['+1202555', 'ten digits'],
  ])('%s is refused with the way out', async (phone, way) => {
    const world = sandboxWorld();
    const ran = await svc(world, create(phone));
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(`"${phone}"`);
    expect(ran.stderr).toContain(way);
    expect(world.sent).toEqual([]);
  });

  test('a file of rows goes by the same rule', async () => {
    const world = sandboxWorld();
    const file = join(world.folder, 'new.csv');
    writeFileSync(
      file,
      'name,last_name,email,phone\nAda,Byron,a@b.test,+1 (202) 555-0123\nKim,Lee,k@b.test,+49 30 1234567\n',
    );
    const ran = await svc(world, ['contacts', 'create', '--from', file, '--dry-run', '--json']);
    const { sample, errors } = JSON.parse(ran.stdout);
    expect(sample[0].body.phone).toBe('+12025550123');
    expect(errors).toEqual([{ line: 3, error: expect.stringContaining('svc contacts sync') }]);
  });
});

describe('the hints of trigger and listen', () => {
  const env = { SVC_WEBHOOK_SECRET: 'sample' };
  const nowhere: Exchange = async () => ({ lost: 'before-sending', reason: 'refused', detail: 'refused' });

  test.each([
    ['http://127.0.0.1:9123/hooks', 'svc -p third webhooks listen --port 9123 --path /hooks\n'],
    ['http://localhost:9123/', 'svc -p third webhooks listen --port 9123\n'],
    ['https://hooks.example.com/', undefined],
  ])('nobody listens at %s', async (to, hint) => {
    const world = { ...sandboxWorld(), exchange: nowhere };
    const line = ['-p', 'third', 'webhooks', 'trigger', 'ticket.created', '--to', to];
    const ran = await svc(world, line, { env: { ...env, SVC_API_KEY: undefined } });
    expect(ran.exitCode).toBe(10);
    if (hint === undefined) expect(ran.stderr).not.toContain('svc webhooks');
    else expect(ran.stderr).toContain(hint);
  });
});

describe('a word that people see selects what they see under it', () => {
  const fieldsOf = async (line: string) => {
    const ran = await svc(sandboxWorld(), [...line.split(' '), '--json']);
    expect([ran.exitCode, ran.stderr.replace(/^Showing .*\n|^To see .*\n/gmu, '')]).toEqual([0, '']);
    return JSON.parse(ran.stdout);
  };

  test.each(['tickets list --limit 2', 'conversations list --limit 2'])('%s --fields Contact', async (line) => {
    const [first] = await fieldsOf(`${line} --fields Contact`);
    expect(Object.keys(first.contact)).toEqual(['name', 'last_name']);
  });

  test.each([
    ['tickets get 8 --fields Customer', ['contact']],
    ['tickets get 8 --fields customer,Answered', ['contact', 'first_response_at']],
    ['tickets get 8 --fields=Replies-go', ['reply_channel', 'conversation_id']],
    ['conversations get 3 --fields Customer,Rating,Ticket', ['contact', 'csat_rating', 'ticket_id']],
  ])('%s', async (line, keys) => {
    expect(Object.keys(await fieldsOf(line))).toEqual(keys);
  });

  test('of several records too, and what is there is all that the label shows', async () => {
    const [one] = await fieldsOf('tickets get 8 9 --fields Customer');
    expect(Object.keys(one.contact)).toEqual(['name', 'last_name', 'email', 'phone', 'contact_id']);
  });

  test('a name of a field stays that', async () => {
    const [first] = await fieldsOf('tickets list --limit 1 --fields contact.name');
    expect(Object.keys(first.contact)).toEqual(['name']);
  });
});
