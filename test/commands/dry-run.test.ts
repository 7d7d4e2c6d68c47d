import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { AnyCommand, Group } from '../../src/command/command.ts';
import { entries, loadEntry } from '../../src/commands/index.ts';
import type { HttpRequest } from '../../src/context.ts';
import { origin, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Found = { readonly words: string; readonly command: AnyCommand };

const walk = (node: Group | AnyCommand, words: readonly string[]): Found[] =>
  'commands' in node
    ? node.commands.flatMap((child) => walk(child, [...words, child.name]))
    : [{ words: words.join(' '), command: node }];

const commands: readonly Found[] = (
  await Promise.all(entries.map(async (entry) => walk(await loadEntry(entry), [entry.name])))
).flat();

/** Each command that writes records, as it is typed, over the demo account. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'contacts create': ['--name', 'Ada', '--last-name', 'Byron', '--email', 'ada@example.com', '--phone', '+12025550123'],
  'contacts update': ['7', '--company', 'Example'],
  'lists create': ['--name', 'Beta', '--target-industry', 'Software', '--notes', 'Asked'],
  'lists update': ['1', '--target-industry', 'Health'],
  'lists delete': ['1', '--yes'],
  'lists add': ['1', '--contact', '7'],
  'lists remove': ['1', '--contact', '7'],
  'lists set': ['1', '--contact', '7', '--yes'],
  'tickets create': ['--subject', 'Export fails', '--description', 'It stops.'],
  'tickets update': ['7', '--priority', '4'],
  'tickets resolve': ['7'],
  'tickets close': ['T-1008'],
  'tickets reopen': ['7'],
  'tickets note': ['7', '--body', 'Called.'],
  'tickets reply': ['7', '--body', 'Fixed.', '--yes'],
  'conversations reply': ['3', '--body', 'Looking.', '--yes'],
  'conversations resolve': ['3', '--yes'],
  'changelog create': ['--title', 'Faster', '--content', 'Seconds now.'],
  'changelog update': ['1', '--title', 'Faster'],
  'changelog publish': ['1', '--yes'],
  'events send': ['order_create', '--contact-name', 'Ada', '--email', 'ada@example.com'],
  'webhooks create': ['ticket.created', 'https://example.com/hooks'],
  'webhooks delete': ['1', '--yes'],
  'branding update': ['--from-name', 'Acme'],
  api: ['/tickets', '-f', 'subject=From the API'],
};

/** What has a dry run of its own, whose tests are elsewhere; and what writes only while it receives. */
const own = ['contacts sync', 'lists import', 'changelog release', 'webhooks catch-up'];

/** They write files of other programs, and ask the service nothing. */
const ofFiles = ['mcp install', 'skill install'];

async function watched() {
  const requests: HttpRequest[] = [];
  const made = sandboxWorld();
  // Webhooks are refused to API keys.
  const granted = (await made.control('POST', 'tokens', { account_id: 1 })) as { access_token: string };
  const world = { ...made, env: { SVC_BASE_URL: origin, SVC_ACCESS_TOKEN: granted.access_token } };
  const exchange: typeof world.exchange = (request) => {
    requests.push(request);
    return world.exchange(request);
  };
  const writes = () =>
    requests
      .filter(({ method }) => method !== 'GET')
      .map(({ method, url, body }) => ({
        method,
        path: url.replace(origin, ''),
        body: body === undefined || body === '' ? null : JSON.parse(String(body)),
      }));
  const reads = () => requests.filter(({ method }) => method === 'GET').map(({ url }) => url);
  return { world: { ...world, exchange }, writes, reads };
}

describe('--dry-run', () => {
  test('is taken by every command that an operation that writes names, and by no other of them', () => {
    const writing = new Set(
      Object.values(operations).flatMap(({ safety, command }) => (safety === 'read' ? [] : [command.join(' ')])),
    );
    const taking = commands.filter(({ command }) => 'dry_run' in command.flags || 'dryRun' in command.flags);
    const names = new Set(taking.map(({ words }) => words));
    expect([...writing].filter((words) => !names.has(words))).toEqual([]);
    expect([...names].sort()).toEqual([...Object.keys(lines), ...own, ...ofFiles].sort());
  });

  test.each(Object.entries(lines))('svc %s: what is shown is what is sent, and nothing is sent', async (name, args) => {
    const line = [...name.split(' '), ...args];
    const looking = await watched();
    const shown = await svc(looking.world, [...line, '--dry-run', '--json']);
    expect(shown, shown.stderr).toMatchObject({ exitCode: 0 });
    expect(looking.writes()).toEqual([]);
    const doing = await watched();
    const done = await svc(doing.world, line);
    expect(JSON.parse(shown.stdout), done.stderr).toEqual(doing.writes());
    expect(doing.writes()).not.toEqual([]);
  });

  test('shows people the request, and that nothing was sent', async () => {
    const { world } = await watched();
    const { stdout, stderr, exitCode } = await svc(world, ['tickets', 'update', '7', '--priority', '4', '--dry-run'], {
      columns: 80,
    });
    expect(stdout).toBe('PATCH /tickets/7\n{\n  "priority": 4\n}\n');
    expect({ stderr, exitCode }).toEqual({ stderr: 'Nothing was sent.\n', exitCode: 0 });
  });

  test('refuses what would be refused: a wrong value, an id that is not there where it is read, no login', async () => {
    const { world } = await watched();
    expect(await svc(world, ['tickets', 'update', '7', '--priority', '9', '--dry-run'])).toMatchObject({ exitCode: 2 });
    expect(await svc(world, ['lists', 'set', '99', '--contact', '7', '--dry-run'])).toMatchObject({ exitCode: 3 });
    const nobody = { ...world, env: { SVC_BASE_URL: origin } };
    expect(await svc(nobody, ['tickets', 'close', '7', '--dry-run'])).toMatchObject({ exitCode: 4 });
  });

  const ofMissing = [
    ...Object.entries(lines).flatMap(([name, [id = '', ...more]]) =>
      /^(?:\d+|T-\d+)$/u.test(id) ? [[`${name} 9999`, more] as const] : [],
    ),
    ['changelog update 9999', ['--content', 'Faster.']] as const,
    ['api /tickets/9999/notes', ['-f', 'body=x']] as const,
    ['api /tickets/9999/replies', ['-f', 'body=x']] as const,
  ];

  test.each(ofMissing)(
    'svc %s: where the command reads what is not there, its dry run ends as it does',
    async (name, more) => {
      const line = [...name.split(' '), ...more];
      const doing = await watched();
      const done = await svc(
        doing.world,
        [...line, '--yes'].filter((word, at, all) => all.indexOf(word) === at),
      );
      expect(done, done.stderr).toMatchObject({ exitCode: 3 });
      const looking = await watched();
      const shown = await svc(looking.world, [...line, '--dry-run']);
      expect(looking.writes()).toEqual([]);
      const reads = doing.writes().length === 0 || doing.reads().some((path) => path.includes('/9999'));
      expect(shown).toEqual(reads ? done : expect.objectContaining({ exitCode: 0 }));
    },
  );

  test('asks no question, not even for a delete', async () => {
    const { world, writes } = await watched();
    expect(await svc(world, ['lists', 'delete', '1', '--dry-run'])).toMatchObject({ exitCode: 0 });
    expect(writes()).toEqual([]);
  });

  test('of a request that only reads shows what it reads', async () => {
    const { world } = await watched();
    const { stdout, exitCode } = await svc(world, ['api', '/tickets', '--dry-run', '--jq', '.tickets | type']);
    expect({ stdout, exitCode }).toEqual({ stdout: 'array\n', exitCode: 0 });
  });
});
