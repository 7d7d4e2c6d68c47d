// What a person sees of a run over a file before its first row goes out, and while it waits.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

const put = (world: SandboxWorld, name: string, text: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
};

describe('replies from a file by template', () => {
  const rows = 'id,first name\n8,Ann\n9,Bo\n8,Cy\n';
  const reply = (world: SandboxWorld, text = rows) => [
    ...['tickets', 'reply', '--from', put(world, 'rows.csv', text)],
    ...['--template', put(world, 'news.md', 'Hello {{first name}}, it is fixed.')],
  ];

  test('are asked for with the first of them as it goes out, and to how many tickets', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const ran = await svc(world, reply(world), { columns: 80, answers: [false] });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain(
      'They go to 2 tickets. Ticket 8 gets 2. Line 2, for ticket 8, as it would be sent:\n\nHello Ann, it is fixed.',
    );
    expect(world.sent.filter((one) => !one.startsWith('GET '))).toEqual([]);
  });

  test('are asked for with the rows that cannot be sent, and a no sends nothing', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const text = 'id,first name\n8,Ann\nx,Bo\n8,Cy\n,Di\n';
    const ran = await svc(world, reply(world, text), { columns: 80, answers: [false] });
    expect(ran.stderr).toMatch(
      /2 of 4 rows cannot be sent:\n {2}line 3: .*"x".*\n {2}line 5: .+\n\nThey go to 1 ticket\. /u,
    );
    expect(ran.stderr).toContain('They go to 1 ticket. Ticket 8 gets 2. Line 2, for ticket 8, as it would be sent');
    expect(ran.stderr).toContain('Declined. Nothing was sent.');
  });

  test('of many bad rows the first are named', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const ran = await svc(world, reply(world, `id,first name\n8,Ann\n${'x,Bo\n'.repeat(12)}`), {
      columns: 80,
      answers: [false],
    });
    expect(ran.stderr).toContain('12 of 13 rows cannot be sent:\n  line 3: ');
    expect(ran.stderr).toContain('\n  … and 2 more; --dry-run with --report FILE names them all\n\nThey go');
  });

  test('a close of many is asked for with them, too', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const ids = Array.from({ length: 40 }, (_, at) => at + 1).join('\n');
    const argv = ['tickets', 'close', '--from', put(world, 'rows.csv', `id\n${ids}\nx\n`)];
    const ran = await svc(world, argv, { columns: 80, answers: [false] });
    expect(ran.stderr).toContain('1 of 41 rows cannot be sent:\n  line 42: ');
    expect(ran.stderr).toContain('Declined. Nothing was changed.');
  });

  test('of a file that grew, the first that is new', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    expect((await svc(world, [...reply(world), '--yes'])).exitCode).toBe(0);
    const ran = await svc(world, reply(world, `${rows}10,Di\n`), { columns: 80, answers: [false] });
    expect(ran.stderr).toContain('They go to 1 ticket. Line 5, for ticket 10, as it would be sent:\n\nHello Di,');
  });

  test('with --yes nothing is shown', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const ran = await svc(world, [...reply(world), '--yes'], { columns: 80 });
    expect(ran.stderr).not.toContain('as it would be sent');
  });
});

describe('columns that fill nothing', () => {
  const noted = async (words: string, text: string, flags: readonly string[] = []) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const argv = [...words.split(' '), '--from', put(world, 'rows.csv', text), ...flags, '--dry-run'];
    return (await svc(world, argv)).stderr;
  };
  const people = 'subject,Requester email,Requester name\nHelp,ann@example.com,Ann\n';

  test('of a requester are offered with --create-contacts, where it is not given', async () => {
    expect(await noted('tickets create', people)).toContain('--create-contacts');
  });

  test('where --create-contacts is given it is not offered again', async () => {
    const stderr = await noted('tickets create', people, [
      ...['--map', 'Requester email=contact.email', '--create-contacts'],
    ]);
    expect(stderr).toContain('--map "Requester name=contact.name"');
    expect(stderr).not.toContain('--create-contacts');
  });

  test('are not offered as the requester where --contact is given', async () => {
    const stderr = await noted('tickets create', people, ['--contact', '5']);
    expect(stderr).not.toContain('contact.email');
    expect(stderr).not.toContain('--create-contacts');
  });

  test.each([
    ['subject,Street,City,State,Zip', false],
    ['subject,State,Country', false],
    ['subject,Mailing State,Mailing City', false],
    ['subject,State,Assignee', true],
    ['subject,State,Email address,IP address', true],
  ])('%s: is State offered as the status? %s', async (header, isOffered) => {
    const cells = header.split(',').map(() => 'x');
    const stderr = await noted('tickets create', `${header}\n${cells.join(',')}\n`);
    expect(stderr.includes('=status')).toBe(isOffered);
  });
});

describe('a wait for the rate limit', () => {
  const csv = (count: number) =>
    `email,name\n${Array.from({ length: count }, (_, i) => `p${i}@example.com,P`).join('\n')}\n`;

  test.each([
    ['contacts sync', ['--concurrency', '1'], 7_000],
    ['contacts create --last-name L --phone +12025550123 --from', [], 130],
  ] as const)(
    'of svc %s shows rows, the time left and the seconds',
    { tags: ['long'] },
    async (words, flags, count) => {
      const world = sandboxWorld();
      const said: string[] = [];
      const progress = (text: string | undefined) => {
        if (text !== undefined) said.push(text);
      };
      const argv = [...words.split(' '), put(world, 'rows.csv', csv(count)), ...flags];
      const ran = await svc(world, argv, { progress });
      expect(ran).toMatchObject({ exitCode: 0 });
      const waits = said.filter((text) => text.includes('continuing in'));
      expect(waits.length).toBeGreaterThan(0);
      for (const text of waits) {
        expect(text).toMatch(/\d of [\d,]+ rows · \d+ (?:s|min) left · continuing in \d+ s$/u);
        // With the spinner before it.
        expect(text.length).toBeLessThanOrEqual(77);
      }
    },
  );
});

describe('a report of an earlier run', () => {
  const runs: readonly (readonly [words: string, options: RunOptions])[] = [
    ['tickets close --from', {}],
    ['contacts sync', {}],
  ];
  const cut: Exchange = async () => ({ lost: 'before-sending', reason: 'refused', detail: 'Connection refused.' });
  const busy: Exchange = async () => ({
    status: 429,
    headers: { 'retry-after': '600', 'content-type': 'application/json' },
    body: '{"error":"Too many requests"}',
  });

  test.each(
    runs.flatMap(([words]) => [[words, 'no network', 10, cut] as const, [words, 'a long limit', 7, busy] as const]),
  )('svc %s: after %s, exit %i, it is not there', async (words, _, code, exchange) => {
    const world = sandboxWorld();
    const report = put(world, 'report.json', '{"rows": 1}');
    const rows = put(world, 'rows.csv', words.startsWith('contacts') ? 'email\na@b.test\n' : 'id\n8\n');
    const argv = [...words.split(' '), rows, '--report', report, '--max-wait', '1'];
    expect(await svc({ ...world, exchange }, argv)).toMatchObject({ exitCode: code });
    expect(existsSync(report)).toBe(false);
  });

  test('stays where the run was refused before it began', async () => {
    const world = sandboxWorld();
    const report = put(world, 'report.json', '{"rows": 1}');
    const rows = put(world, 'rows.csv', 'id\n8\n');
    const ran = await svc(world, ['tickets', 'close', '--from', rows, '--report', report, '--map', 'x=y']);
    expect(ran.exitCode).toBe(2);
    expect(readFileSync(report, 'utf8')).toBe('{"rows": 1}');
    expect((await svc(world, ['tickets', 'close', '--from', rows, '--report', rows])).exitCode).toBe(2);
    expect(readFileSync(rows, 'utf8')).toBe('id\n8\n');
  });
});

test('a time that moves is refused for rows of a file: a repeated run would send other rows', async () => {
  const world = sandboxWorld();
  const rows = put(world, 'rows.csv', 'subject\nHelp\n');
  const ran = await svc(world, ['tickets', 'create', '--from', rows, '--due-at', 'in 2h']);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('means another time') });
  expect(world.sent).toEqual([]);
});

describe('what follows the rows of a file', () => {
  const exported = 'id,subject,Status,priority,body\n8,Help,open,2,Hello\n9,More,open,,Hi\n10,Other,open,3,Ho\n';
  const asked = 'then set the status of 3 tickets to open and set the priority of 2 tickets';
  const world = () => sandboxWorld({ rateLimit: 'off' });
  const reply = (at: SandboxWorld, text = exported) => ['tickets', 'reply', '--from', put(at, 'rows.csv', text)];
  const terminal = { columns: 200, env: { NO_COLOR: '1' } };

  test('is part of the question, beside the first row as it goes out', async () => {
    const at = world();
    const { stderr } = await svc(at, reply(at), { ...terminal, answers: [] });
    expect(stderr).toContain(`Send 3 replies to customers, ${asked}?`);
    expect(stderr).toContain('as it would be sent, then set its status to open and set its priority to 2:');
  });

  test('is part of what a script is told that did not say yes', async () => {
    const at = world();
    expect((await svc(at, reply(at))).stderr).toContain(`Refusing to send 3 replies to customers, ${asked} without`);
  });

  test('counts only rows that no earlier run has sent, and as many as --max-sends lets through', async () => {
    const at = world();
    expect((await svc(at, [...reply(at), '--yes', '--max-sends', '1'])).exitCode).toBe(8);
    const { stderr } = await svc(at, [...reply(at), '--max-sends', '1'], { ...terminal, answers: [] });
    expect(stderr).toContain('Send 1 reply to customers, then set the status of 1 ticket to open?');
  });

  test('is named with the way to leave it out, which is taken', async () => {
    const at = world();
    const leave = ['--map', 'Status=ignore', '--map', 'priority=ignore'];
    const { stderr } = await svc(at, [...reply(at), '--dry-run']);
    expect(stderr).toContain(
      'The columns Status and priority are sent too, after the row itself. To leave them out: --map "Status=ignore" --map "priority=ignore"',
    );
    const ran = await svc(at, [...reply(at), ...leave, '--yes'], terminal);
    expect(ran.stderr).not.toContain('sent too');
    expect(ran.stdout).not.toContain('then set');
    expect(at.sent.filter((one) => one.startsWith('PATCH'))).toEqual([]);
  });

  test('is not named where --map asks for it', async () => {
    const at = world();
    const { stderr } = await svc(at, [...reply(at, 'id,body,State\n8,Hi,open\n'), '--map', 'State=status', '--yes']);
    expect(stderr).not.toContain('sent too');
  });

  test('stands in the sums of the run, and in those of a dry run', async () => {
    const at = world();
    const dry = await svc(at, [...reply(at), '--dry-run'], terminal);
    expect(dry.stdout).toContain(
      `Then svc would set the status of 3 tickets to open and set the priority of 2 tickets.`,
    );
    const { stdout } = await svc(at, [...reply(at), '--yes'], terminal);
    expect(stdout).toContain('  then set the status of 3 tickets to open\n  then set the priority of 2 tickets\n');
    expect((await svc(at, [...reply(at), '--yes'], terminal)).stdout).not.toContain('then set');
  });

  test('is told of notes, of what is resolved and of the status of new tickets, too', async () => {
    const at = world();
    const shown = async (words: string, text: string) =>
      (await svc(at, [...words.split(' '), '--from', put(at, 'rows.csv', text), '--yes'], terminal)).stdout;
    expect(await shown('tickets reply', 'id,body,note\n8,Hi,Seen\n')).toContain('then add a note to 1 ticket\n');
    expect(await shown('conversations reply', 'id,body,resolve\n3,Bye,true\n')).toContain(
      'then resolve 1 conversation\n',
    );
    expect(await shown('tickets create', 'subject,description,status\nA,B,closed\nC,D,closed\n')).toContain(
      'then set the status of 2 tickets to closed\n',
    );
  });

  test('is not told of a row of which it was not done, nor of drafts', async () => {
    const at = world();
    await at.control('POST', 'faults', { method: 'PATCH', path: '/tickets/8', action: 'status', status: 422 });
    expect((await svc(at, [...reply(at), '--yes'], terminal)).stdout).toContain('then set the status of 2 tickets');
    const held = world();
    const drafted = { ...terminal, env: { ...terminal.env, SVC_SENDS: 'draft' } };
    expect((await svc(held, [...reply(held), '--dry-run'], drafted)).stdout).not.toContain('Then svc would');
    expect((await svc(held, reply(held), drafted)).stdout).not.toContain('then set');
  });
});

describe('a file for --match email without a column email', () => {
  const match = (at: SandboxWorld, text: string, more: readonly string[] = []) =>
    svc(at, ['contacts', 'update', '--from', put(at, 'rows.csv', text), '--match', 'email', ...more, '--dry-run']);

  test('is told which column looks like it, as it is typed', async () => {
    const { exitCode, stderr } = await match(sandboxWorld(), 'Nr;Firma;E-Mail\n1;Acme;a@x.example\n');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Columns: Nr, Firma, E-Mail. Add --map "E-Mail=email"');
  });

  test('of which a line further down has the mapped column is told the lines to skip, which helps', async () => {
    const text = 'Company;Name;Phone\nNr;Firma;E-Mail\n1;Acme;a@x.example\n';
    const map = ['--map', 'E-Mail=email'];
    expect((await match(sandboxWorld(), text, map)).stderr).toContain(
      'Line 2 has it. If that is the header, add --skip-lines 1',
    );
    expect((await match(sandboxWorld(), text, [...map, '--skip-lines', '1'])).stderr).not.toContain('no column');
  });
});

test('a file that is run again counts what the service refused with what cannot be sent', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/replies', action: 'status', status: 422 });
  const file = put(world, 'rows.csv', 'id,body\n8,Hi\n9,Ho\nx,Bad\n');
  const argv = ['tickets', 'reply', '--from', file, '--yes'];
  expect((await svc(world, argv)).stdout).toContain('rejected\t2');
  const again = await svc(world, argv);
  expect(again.stderr).toContain('except for 2 rows that were rejected');
  expect(again.stdout).toContain('rejected\t2');
});
