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
type Case = readonly [what: string, argv: readonly string[], differs: Body, agrees: 'in part' | 'in nothing'];

const ticket = ['tickets', 'create', '--subject', 'Twice', '--description', 'The same'];
const contact = ['contacts', 'create', '--name', 'Ada', '--last-name', 'B', '--email', 'a@example.com'];
const withPhone = [...contact, '--phone', '+12025550123'];
const list = ['lists', 'create', '--name', 'Twice', '--target-industry', 'Any', '--notes', 'n'];
const entry = ['api', '/changelog', '-f', 'title=Twice', '-f', 'content=x', '-f', 'version=1.2.0'];

/** Somebody else writes nearly the same at the moment in which ours is lost. */
const cases: readonly Case[] = [
  ['a ticket with another description', ticket, { description: 'Another' }, 'in part'],
  ['a ticket without a description', ticket, { description: undefined }, 'in part'],
  ['a ticket with another subject', ticket, { subject: 'Once' }, 'in part'],
  ['a ticket of another priority', ticket, { priority: 3 }, 'in part'],
  ['a ticket of somebody', ticket, { contact_id: 7 }, 'in part'],
  ['a contact with another email', withPhone, { email: 'b@example.com' }, 'in part'],
  ['a contact with another phone', withPhone, { phone: '+12025550124' }, 'in part'],
  ['a contact with another name', withPhone, { name: 'Eve' }, 'in part'],
  ['a contact with another last name', withPhone, { last_name: 'C' }, 'in part'],
  ['a ticket that is due', ticket, { due_at: '2026-05-01T00:00:00Z' }, 'in part'],
  [
    'a ticket that is due at another time',
    [...ticket, '--due-at', '2026-05-01'],
    { due_at: '2026-05-02T00:00:00Z' },
    'in part',
  ],
  ['a contact of a company', withPhone, { company: 'Umbra' }, 'in part'],
  ['a contact of another company', [...withPhone, '--company', 'Acme'], { company: 'Umbra' }, 'in part'],
  ['a contact with a website', withPhone, { website: 'https://a.example' }, 'in part'],
  ['a contact of a country', withPhone, { country: 'DE' }, 'in part'],
  ['a contact with metadata', withPhone, { metadata: { plan: 'pro' } }, 'in part'],
  ['a changelog entry with other text', entry, { content: 'Another text' }, 'in part'],
  ['a changelog entry that is published', entry, { status: 'published' }, 'in part'],
  ['a changelog entry with labels', entry, { labels: ['fix'] }, 'in part'],
  ['a changelog entry with other labels', [...entry, '-f', 'labels[]=new'], { labels: ['fix'] }, 'in part'],
  ['a list with another name', list, { name: 'Once' }, 'in nothing'],
  ['a list of another industry', list, { target_industry: 'Steel' }, 'in part'],
  ['a changelog entry of another version', entry, { version: '1.3.0' }, 'in part'],
  ['a changelog entry without a version', entry, { version: undefined }, 'in part'],
  ['a changelog entry with another title', entry, { title: 'Once' }, 'in part'],
  ['another reply to the ticket', ['tickets', 'reply', '8', '--body', 'Hello'], { body: 'Hello there' }, 'in nothing'],
  ['another message', ['conversations', 'reply', '1', '--body', 'Hello'], { body: 'Hello there' }, 'in nothing'],
];

test.each(cases)('%s, made by somebody else meanwhile, is not taken for ours', async (_, argv, differs, agrees) => {
  const world = sandboxWorld();
  const made: number[] = [];
  const ran = await svc(overtaken(world, differs, made), [...argv, '--json']);
  // It was made, so there was something to be taken for ours.
  expect(made).toEqual([expect.any(Number)]);
  expect(made[0]).toBeLessThan(300);
  expect(ran.exitCode).toBe(9);
  const { candidates } = JSON.parse(ran.stderr.trimEnd().split('\n').at(-1) ?? '').error;
  expect(candidates).toEqual(agrees === 'in part' ? [expect.any(Number)] : []);
  if (agrees === 'in part') expect(ran.stderr).toContain('agrees in part only, so it may be somebody else’s.');
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
