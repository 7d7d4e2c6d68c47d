import { describe, expect, test } from 'vitest';
import { seen, serviceOf, words } from './command-runner.ts';
import { account, meta, wholeTicket } from './samples.ts';

describe('a refusal ends with its exit code, and with --json tells it as one object', () => {
  const said = async (type: string, status: number, body: unknown) => {
    // The account is asked for where a 404 might come from a wrong address.
    const isProbe = ({ url }: { readonly url: string }) => url.endsWith('/platform/account');
    const { run } = serviceOf((request) => (isProbe(request) ? { status: 200, body: account } : { status, body }));
    const ran = await run([...words(type), '--json']);
    expect(ran.stdout).toBe('');
    return { exitCode: ran.exitCode, error: JSON.parse(ran.stderr.trim().split('\n').at(-1) as string).error };
  };

  test.for([
    [401, { error: 'Token expired.' }, 'auth', 4],
    [403, { error: 'The Support module is switched off.' }, 'forbidden', 5],
    [404, { error: 'Not found.' }, 'not-found', 3],
    [422, { message: 'The data was invalid.', errors: { subject: ['is too long.'] } }, 'rejected', 6],
    [418, { error: 'No.' }, 'rejected', 6],
  ] as const)('%i', async ([status, body, kind, code]) => {
    const { exitCode, error } = await said('tickets update 8 --priority 1', status, body);
    expect(exitCode).toBe(code);
    expect(error).toMatchObject({
      kind,
      exit_code: code,
      status,
      // A record that is not there is named.
      message: `${status === 404 ? 'Ticket 8: ' : ''}${'error' in body ? body.error : body.message}`,
      fields: 'errors' in body ? body.errors : null,
    });
    expect(Object.keys(error)).toEqual(['kind', 'exit_code', 'status', 'message', 'hint', 'fields']);
  });

  test('403 of a scope names the scope, and never tells the environment’s credential to refresh', async () => {
    const body = { error: 'insufficient_scope', error_description: 'The token lacks the scope tickets:write.' };
    const { exitCode, error } = await said('tickets update 8 --priority 1', 403, body);
    expect(exitCode).toBe(5);
    expect(error.message).toContain('tickets:write');
    expect(error.hint).toBe('The token in SVC_API_KEY cannot be given more: set one there that has tickets:write.');
  });

  test('for people every field of a refusal has its line', async () => {
    const errors = { subject: ['is too long.'], due_at: ['is no time.'] };
    const { run } = serviceOf(() => ({ status: 422, body: { message: 'The data was invalid.', errors } }));
    const { stderr, exitCode } = await run(['tickets', 'update', '8', '--priority', '1']);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(/The data was invalid\.[\s\S]*subject.*is too long\.[\s\S]*due_at.*is no time\./u);
  });
});

describe('what the document forbids is exit 2, and nothing is sent', () => {
  test.for([
    "tickets create --subject ''",
    `tickets create --subject ${'x'.repeat(256)}`,
    'tickets create --subject x --priority 5',
    'tickets create --subject x --priority highest',
    'tickets create --subject x --due-at 2026-02-30',
    'tickets update 8',
    'tickets update 8 --status unresolved',
    'tickets get 0',
    'tickets get -- -1',
    'tickets get 1.5',
    'tickets get abc',
    'tickets get 99999999999999999999',
    'tickets get',
    `tickets note 8 --body ${'x'.repeat(10_001)}`,
    `tickets reply 8 --body ${'x'.repeat(16_001)}`,
    'contacts list --per-page 101',
    'contacts list --per-page 0',
    'contacts list --page 0',
    'contacts update 7',
    "contacts update 7 --name ''",
    'contacts update 7 --email nonsense',
    'contacts create --name Ada --last-name L --email ada@example.com --phone 2025550101',
    'contacts create --name Ada --email ada@example.com --phone +12025550101',
    'changelog create --title ab --content x',
    `changelog create --title abc --content x --version ${'1'.repeat(51)}`,
    'changelog update 9',
    'changelog list --status live',
    'branding update',
    'branding update --primary-color red',
    'branding update --logo-url http://cdn.example.com/a.png',
    'events send order_create --contact-name Ada',
    'events send order_create --email ada@example.com',
    'webhooks create ticket.closed https://hooks.example.com/svc',
    'webhooks create ticket.created http://hooks.example.com/svc',
    'meetings list',
    'lists set 5',
    'lists delete 5 --no-input',
  ])('svc %s', async (type) => {
    const { sent, run } = serviceOf(() => ({ status: 500, body: {} }));
    const { exitCode, stderr } = await run(words(type));
    expect([exitCode, sent], stderr).toEqual([2, []]);
    expect(stderr).toMatch(/\S/u);
  });

  test('255 emoji are a valid subject, 256 are not', async () => {
    const { sent, run } = serviceOf(({ method }) =>
      method === 'GET'
        ? { status: 200, body: { tickets: [], meta } }
        : { status: 201, body: { ticket: { ...wholeTicket, subject: '😀'.repeat(255) } } },
    );
    expect((await run(['tickets', 'create', '--subject', '😀'.repeat(256)])).exitCode).toBe(2);
    expect((await run(['tickets', 'create', '--subject', '😀'.repeat(255)])).exitCode).toBe(0);
    expect(sent.map(seen)).toEqual([['GET /tickets?per_page=100'], ['POST /tickets', { subject: '😀'.repeat(255) }]]);
  });
});
