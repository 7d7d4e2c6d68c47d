import { describe, expect, test } from 'vitest';
import { isSameEmail, isSamePhone, isSameText, isSameUrl } from '../../src/http/agree.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

describe('what a service may do to a value on the way in', () => {
  test.each([
    ['  Export fails ', 'Export fails'],
    ['Export   fails', 'Export fails'],
    ['line\r\nline', 'line\nline'],
    ['Zoe\u0308', 'Zo\u00eb'],
    [null, ''],
    [undefined, ''],
    [null, undefined],
    ['', '  '],
  ])('text: %j is %j', (stored, sent) => {
    expect(isSameText(stored, sent)).toBe(true);
    expect(isSameText(sent, stored)).toBe(true);
  });

  test.each([
    ['Export fails', 'export fails'],
    ['Export fails', 'Exportfails'],
    ['Export fails', ''],
    ['Export fails', null],
    ['Export fails', undefined],
    ['Export fails', 'Export fails again'],
    ['5', 6],
  ])('text: %j is not %j', (stored, sent) => {
    expect(isSameText(stored, sent)).toBe(false);
  });

  test('an email has no case, and another one is another one', () => {
    expect(isSameEmail('Ada@Example.com ', 'ada@example.COM')).toBe(true);
    expect(isSameEmail('ada@example.com', 'ada@example.org')).toBe(false);
  });

  test('a phone is its digits', () => {
    expect(isSamePhone('+1 (202) 555-0123', '12025550123')).toBe(true);
    expect(isSamePhone('+12025550123', '+12025550124')).toBe(false);
    expect(isSamePhone(null, '')).toBe(true);
  });

  test('a URL is where it leads', () => {
    expect(isSameUrl('https://A.example:443', 'https://a.example/')).toBe(true);
    expect(isSameUrl(' https://a.example/in ', 'https://a.example/in')).toBe(true);
    expect(isSameUrl('https://a.example/in', 'https://a.example/out')).toBe(false);
    expect(isSameUrl('https://a.example/In', 'https://a.example/in')).toBe(false);
    expect(isSameUrl('no address', 'no address')).toBe(true);
    expect(isSameUrl('no address', 'another')).toBe(false);
    expect(isSameUrl(null, 'https://a.example/')).toBe(false);
  });
});

type Body = Readonly<Record<string, unknown>>;
type Case = readonly [what: string, argv: readonly string[], differs: Body];

const ticket = ['tickets', 'create', '--subject', 'Twice', '--description', 'The same'];
const contact = ['contacts', 'create', '--name', 'Ada', '--last-name', 'B', '--email', 'a@example.com'];
const withPhone = [...contact, '--phone', '+12025550123'];
const list = ['lists', 'create', '--name', 'Twice', '--target-industry', 'Any', '--notes', 'n'];
const entry = ['api', '/changelog', '-f', 'title=Twice', '-f', 'content=x', '-f', 'version=1.2.0'];

/** Somebody else writes nearly the same at the moment in which ours is lost. */
const cases: readonly Case[] = [
  ['a ticket with another description', ticket, { description: 'Another' }],
  ['a ticket without a description', ticket, { description: undefined }],
  ['a ticket with another subject', ticket, { subject: 'Once' }],
  ['a ticket of another priority', ticket, { priority: 3 }],
  ['a ticket of somebody', ticket, { contact_id: 7 }],
  ['a contact with another email', withPhone, { email: 'b@example.com' }],
  ['a contact with another phone', withPhone, { phone: '+12025550124' }],
  ['a contact with another name', withPhone, { name: 'Eve' }],
  ['a contact with another last name', withPhone, { last_name: 'C' }],
  ['a list with another name', list, { name: 'Once' }],
  ['a list of another industry', list, { target_industry: 'Steel' }],
  ['a changelog entry of another version', entry, { version: '1.3.0' }],
  ['a changelog entry without a version', entry, { version: undefined }],
  ['a changelog entry with another title', entry, { title: 'Once' }],
  ['another reply to the ticket', ['tickets', 'reply', '8', '--body', 'Hello'], { body: 'Hello there' }],
  ['another message', ['conversations', 'reply', '1', '--body', 'Hello'], { body: 'Hello there' }],
];

test.each(cases)('%s, made by somebody else meanwhile, is not taken for ours', async (_, argv, differs) => {
  const world = sandboxWorld();
  const made: number[] = [];
  const ran = await svc(overtaken(world, differs, made), [...argv, '--json']);
  // It was made, so there was something to be taken for ours.
  expect(made).toEqual([expect.any(Number)]);
  expect(made[0]).toBeLessThan(300);
  expect(ran.exitCode).toBe(9);
  expect(JSON.parse(ran.stderr.trimEnd().split('\n').at(-1) ?? '').error.candidates).toEqual([]);
});

test.each([
  ['of another event', { event_type: 'ticket.created' }],
  ['of another URL', { target_url: 'https://a.example/c' }],
])('a subscription %s, made by somebody else meanwhile, stays', async (_, differs) => {
  const world = sandboxWorld();
  const tokens = { account_id: 1, scopes: ['webhooks:manage'] };
  const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
  const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: access_token };
  const argv = ['webhooks', 'create', 'call.completed', 'https://a.example/b', '--json'];
  const ran = await svc(overtaken(world, differs, []), argv, { env });
  expect(ran.exitCode).toBe(9);
  expect(JSON.parse((await svc(world, ['webhooks', 'list', '--json'], { env })).stdout)).toMatchObject([
    { event_type: 'call.completed', target_url: 'https://a.example/b', ...differs },
  ]);
});

/** Our request is lost, and another one that differs a little is stored instead. */
function overtaken(world: SandboxWorld, differs: Body, statuses: number[]): World {
  return {
    ...world,
    async exchange(request) {
      // What svc does to the record of the other one is done.
      if (request.method !== 'POST') return world.exchange(request);
      const body = JSON.stringify({ ...JSON.parse(String(request.body)), ...differs });
      const answer = await world.exchange({ ...request, body });
      statuses.push('status' in answer ? answer.status : 0);
      return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
    },
  };
}
