// A flag that is given twice: no value is lost in silence.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutAlias } from '../../src/program/argv.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test.each<[line: string[], message: string]>([
  [['tickets', 'list', '--contact', '5', '--contact', '7'], '--contact takes one value, and was given "5" and "7".'],
  [['tickets', 'list', '--contact', '5', '--contact-id', '7'], '--contact-id takes one value'],
  [['tickets', 'list', '--status=open', '--status', 'pending'], '"open" and "pending"'],
  [['tickets', 'list', '--sort', '-id', '--sort', '-priority'], '"-id" and "-priority"'],
  [['tickets', 'note', '50', '--body', 'a', '--body', 'b'], '"a" and "b"'],
  [['tickets', 'create', '--subject', 'A', '--subject', 'B', '--description', 'x'], '"A" and "B"'],
  [['webhooks', 'listen', '--forward-to', '3000', '--forward-to', '4000'], '"3000" and "4000"'],
  [['-p', 'a', 'tickets', 'list', '--profile', 'b'], '"a" and "b"'],
  [['contacts', 'list', '-ojson', '-o', 'csv'], '"json" and "csv"'],
  [['contacts', 'list', '--jq', '.[0]', '-q', '.[1]'], '".[0]" and ".[1]"'],
  [['each', '--all', '--parallel', '2', '--parallel', '3', '--', 'whoami'], '"2" and "3"'],
  [['rehearse', '--seed', 'demo', '--seed', 'empty', '--', 'true'], '"demo" and "empty"'],
])('%j is exit 2 and names both values', async (line, message) => {
  const ran = await svc(sandboxWorld(), line);
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ran.stderr).toContain(message);
  expect(ran.stderr).toContain('Give one of them.');
});

test('a long value is shortened in that message', async () => {
  const ran = await svc(sandboxWorld(), ['tickets', 'note', '50', '--body', 'a'.repeat(500), '--body', 'b']);
  expect(ran.stderr).toContain(`"${'a'.repeat(59)}…" and "b"`);
});

test.each([
  [
    ['--fields', 'ticket_number', '--fields', 'subject,status'],
    ['--fields', 'ticket_number,subject,status'],
  ],
  [
    ['--fields', 'id,subject', '--fields', 'subject, status,id'],
    ['--fields', 'id,subject,status'],
  ],
  [
    ['--limit', '2', '--limit', '02'],
    ['--limit', '2'],
  ],
  [
    ['--status', 'open', '--status', 'open'],
    ['--status', 'open'],
  ],
  [
    ['--json', '--json', '--quiet', '--quiet'],
    ['--json', '--quiet'],
  ],
])('tickets list %j is tickets list %j', async (twice, once) => {
  const world = sandboxWorld();
  const ran = await svc(world, ['tickets', 'list', ...once]);
  expect(ran.exitCode).toBe(0);
  expect(await svc(world, ['tickets', 'list', ...twice])).toEqual(ran);
});

test('values that differ only as they are written are one', async () => {
  const world = sandboxWorld();
  const once = await svc(world, ['api', '-X', 'GET', '/tickets/8']);
  expect(once.exitCode).toBe(0);
  expect(await svc(world, ['api', '-X', 'get', '/tickets/8', '--method', 'GET'])).toEqual(once);
  expect(await svc(world, ['api', '-X', 'get', '-X', 'post', '/tickets/8'])).toMatchObject({ exitCode: 2 });
});

test('--only, --by and --events add to each other', { tags: ['long'] }, async () => {
  const world = sandboxWorld();
  const pulled = await svc(world, ['mirror', 'pull', '--only', 'tickets', '--only', 'contacts', '--json']);
  expect(JSON.parse(pulled.stdout)).toMatchObject({ kinds: [{ kind: 'contacts' }, { kind: 'tickets' }] });
  const by = ['contacts', 'duplicates', '--by', 'email', '--by', 'fax'];
  expect((await svc(world, by)).stderr).toContain('cannot be compared by "fax"');
  expect((await svc(world, ['contacts', 'duplicates', '--by', 'fax', '--by', 'email'])).stderr).toContain('"fax"');
  for (const events of [
    ['nonsense', 'ticket.created'],
    ['ticket.created', 'nonsense'],
  ]) {
    const ran = await svc(world, ['webhooks', 'catch-up', ...events.flatMap((event) => ['--events', event])]);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no event "nonsense"') });
  }
});

test('what is typed behind an alias takes the place of the same flag in it', async () => {
  const world = sandboxWorld();
  const set = (name: string, command: string) => svc(world, ['alias', 'set', name, command]);
  await set('mine', 'tickets list --status open --fields id --limit=3');
  await set('deeper', 'mine --status pending --quiet');
  const list = (...flags: string[]) => svc(world, ['tickets', 'list', ...flags, '--quiet']);
  expect(await svc(world, ['mine', '--quiet', '--status', 'closed', '--limit', '1'])).toEqual(
    await list('--status', 'closed', '--fields', 'id', '--limit', '1'),
  );
  expect(await svc(world, ['mine', '--fields', 'subject', '--quiet'])).toEqual(
    await list('--status', 'open', '--fields', 'subject', '--limit', '3'),
  );
  expect(await svc(world, ['deeper'])).toEqual(await list('--status', 'pending', '--fields', 'id', '--limit', '3'));
  // One that may be repeated adds to it.
  await set('seek', 'api /contacts -X GET -f page=2');
  const page = ['--jq', '.contacts | length'];
  expect((await svc(world, ['seek', '-f', 'per_page=3', ...page])).stdout).toBe('3\n');
  expect(await svc(world, ['seek', '-f', 'per_page=3'])).toEqual(
    await svc(world, ['api', '/contacts', '-X', 'GET', '-f', 'page=2', '-f', 'per_page=3']),
  );
  // Of what is typed itself nothing is lost either.
  expect((await svc(world, ['mine', '--status', 'closed', '--status', 'open'])).exitCode).toBe(2);
  await set('named', 'contacts list -p b');
  expect((await svc(world, ['-p', 'a', 'named'])).stderr).toContain('-p takes one value, and was given "a" and "b".');
});

test.each<[command: string, typed: string[], line: string]>([
  ['tickets list -yp acme', ['-p', 'default'], 'tickets list -y -p default'],
  ['tickets list -yojson', ['-o', 'csv'], 'tickets list -y -o csv'],
  ['tickets list -ojson', ['-o', 'csv'], 'tickets list -o csv'],
  ['tickets note 8 --body - --quiet --status=open', ['--body', ''], 'tickets note 8 --quiet --status=open --body '],
  ['each --all -- tickets list --limit 5', ['--limit', '1'], 'each --all -- tickets list --limit 1'],
  ['each --all -- svc tickets list --limit=5', ['--limit', '1'], 'each --all -- svc tickets list --limit 1'],
  ['each --all --json -- tickets list -ojson', ['-o', 'csv'], 'each --all --json -- tickets list -o csv'],
  ['each --all -- inner --limit 5', ['--limit', '1'], 'each --all -- inner --limit 1'],
  ['sandbox exec --seed demo', ['--seed', 'empty', '--', 'svc'], 'sandbox exec --seed empty -- svc'],
  ['sandbox exec -- svc tickets list --limit 5', ['--limit', '1'], 'sandbox exec -- svc tickets list --limit 1'],
  ['sandbox exec svc -o json tickets list', ['-o', 'csv'], 'sandbox exec svc tickets list -o csv'],
  ['sandbox exec -- watch -n 5', ['-n', '1'], 'sandbox exec -- watch -n 5 -n 1'],
  ['rehearse -- svc tickets list --limit 5', ['--limit', '1'], 'rehearse -- svc tickets list --limit 1'],
  ['tickets note 8 -- tickets list --limit 5', ['--limit', '1'], 'tickets note 8 -- tickets list --limit 5 --limit 1'],
])('the alias %j with %j behind it: svc %s', async (command, typed, line) => {
  const world = sandboxWorld();
  await svc(world, ['alias', 'set', 'inner', 'tickets list --limit 9']);
  const files = { config: join(world.folder, 'config'), state: join(world.folder, 'state') };
  // As an older svc wrote it, which did not ask whether such a command can run.
  const path = join(files.config, 'config.json');
  const { aliases } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ aliases: { ...aliases, mine: command } }));
  expect((await withoutAlias(['mine', ...typed], files)).join(' ')).toBe(line);
});
