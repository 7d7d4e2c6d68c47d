import { parseArgsStringToArgv } from 'string-argv';
import { describe, expect, test } from 'vitest';
import { entries } from '../../src/commands/index.ts';
import { version } from '../../src/version.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const run = (line: string, options = {}) => svc(sandboxWorld(), parseArgsStringToArgv(line), options);

describe('the first screen', () => {
  test.each(['', '--help', 'help'])('of "svc %s" fits 80×24 and names every command', async (line) => {
    const { stdout } = await run(line, { columns: 80 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThan(24);
    for (const one of lines) expect(one.length).toBeLessThanOrEqual(80);
    for (const { name } of entries) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`, 'u'));
    expect(stdout).toContain('Start here: svc login, or svc sandbox demo');
    expect(stdout).toContain('svc help flags');
  });

  test.each(['tickets --help', 'tickets list --help', 'mcp --help', 'sandbox exec --help'])(
    'svc %s has one line for the global flags',
    async (line) => {
      const { stdout } = await run(line);
      expect(stdout.match(/Global flags: svc help flags/gu)).toHaveLength(1);
      expect(stdout).not.toContain('--insecure-http');
    },
  );

  test('svc help flags and svc help commands have what it leaves out', async () => {
    expect((await run('help flags')).stdout).toContain('--insecure-http');
    expect(await run('help flags --no-color')).toEqual(await run('help flags'));
    for (const { name, summary } of entries) {
      const { stdout } = await run('help commands', { columns: 120 });
      expect(stdout).toContain(name);
      expect(stdout).toContain(summary);
    }
  });
});

describe('svc help of what is no topic', () => {
  test('names the topics and the near one', async () => {
    const ran = await run('help enviroment');
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain("There is no help on 'enviroment'.");
    expect(ran.stderr).toContain('Did you mean: svc help environment');
    for (const topic of ['exit-codes', 'output', 'flags', 'scripting']) expect(ran.stderr).toContain(topic);
  });

  test('names a near command too, and guesses nothing from nonsense', async () => {
    expect((await run('help tickts')).stderr).toContain('Did you mean: svc help tickets');
    expect((await run('help nonsense')).stderr).not.toContain('Did you mean');
  });
});

describe('help as data', () => {
  test('has arguments, flags with type, default and choices, examples and exit codes', async () => {
    const ran = await run('tickets list --help --json');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    const help = JSON.parse(ran.stdout);
    expect(help).toMatchObject({ command: 'tickets list', usage: 'svc tickets list [flags]', arguments: [] });
    const flag = (name: string) => help.flags.find((one: { name: string }) => one.name === name);
    expect(flag('--status')).toMatchObject({ type: 'string', choices: expect.arrayContaining(['open', 'unresolved']) });
    expect(flag('--all')).toMatchObject({ type: 'boolean', default: false, choices: null });
    expect(flag('--limit')).toMatchObject({ type: 'integer', default: null });
    expect(help.exit_codes).toContainEqual(expect.objectContaining({ code: 9, kind: 'unknown' }));
    expect(help.examples.length).toBeGreaterThan(0);
    expect(help.global_flags).toContainEqual(expect.objectContaining({ name: '--json' }));
  });

  test.each([
    ['tickets get -h -o json', 'tickets get', ['id']],
    ['--json ticket resolve --help', 'tickets resolve', ['id']],
    ['contacts find --help --json', 'contacts find', ['TEXT']],
  ])('svc %s', async (line, command) => {
    const help = JSON.parse((await run(line)).stdout);
    expect(help.command).toBe(command);
    expect(help.arguments).toHaveLength(1);
    expect(help.arguments[0].required).toBe(true);
  });

  test('of a group has its commands, of svc all of them', async () => {
    expect(JSON.parse((await run('tickets --help --json')).stdout).commands).toContainEqual(
      expect.objectContaining({ name: 'resolve' }),
    );
    expect(JSON.parse((await run('--help --json')).stdout).commands).toHaveLength(entries.length);
  });

  test('every command of the tree has it', async () => {
    for (const { name } of entries) expect(JSON.parse((await run(`${name} --help --json`)).stdout).command).toBe(name);
  });
});

describe('what people type from habit', () => {
  test.each(['version', '-v', '-V', '--version'])('svc %s is the version', async (line) => {
    expect(await run(line)).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
  });

  test('fields behind --json are answered with --fields, as it can be typed', async () => {
    const ran = await run('tickets list --json id,subject');
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('Run: svc tickets list --json --fields id,subject');
    const one = await run('contacts list --json email --limit 1');
    expect(one.stderr).toContain('Run: svc contacts list --json --fields email --limit 1');
    const found = await run('contacts find yara --json email,name');
    expect(found.stderr).toContain('Run: svc contacts find yara --json --fields email,name');
  });

  test('--json before an argument stays what it was', async () => {
    expect((await run('contacts get --json 7')).exitCode).toBe(0);
  });

  test('words behind find are words', async () => {
    const two = await run('contacts find yara kim --json');
    expect(two).toMatchObject({ exitCode: 0, stderr: '' });
    expect(two.stdout).toBe((await run("contacts find 'yara kim' --json")).stdout);
    expect(JSON.parse(two.stdout)).not.toEqual([]);
  });

  describe('with a copy', () => {
    const pulled = async () => {
      const world = sandboxWorld({ rateLimit: 'off' });
      expect((await svc(world, ['mirror', 'pull'])).exitCode).toBe(0);
      return world;
    };

    test('a misspelt table or column is answered with the near one', async () => {
      const world = await pulled();
      const ask = (sql: string) => svc(world, ['mirror', 'sql', sql]);
      expect((await ask('SELECT count(*) FROM tickts')).stderr).toContain('Did you mean tickets?');
      expect((await ask('SELECT statuss FROM tickets')).stderr).toContain('Did you mean status?');
      expect((await ask('SELECT zzzzzzzz FROM tickets')).stderr).not.toContain('Did you mean');
    });

    test('a query on standard input needs no dash', async () => {
      const world = await pulled();
      const ran = await svc(world, ['mirror', 'sql', '--json'], { stdin: 'SELECT 7 AS seven\n' });
      expect(JSON.parse(ran.stdout)).toEqual([{ seven: 7 }]);
      const asked = await svc(world, ['mirror', 'sql'], { columns: 80, answers: ['SELECT 7 AS seven'] });
      expect(asked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('7') });
    });

    test('a ticket that is found in its messages too is there once, with its number', async () => {
      const world = await pulled();
      const ran = await svc(world, ['mirror', 'search', 'export', 'rows', '--json', '--limit', '100']);
      expect(ran).toMatchObject({ exitCode: 0 });
      const hits = JSON.parse((await svc(world, ['mirror', 'search', 'export', '--json', '--limit', '100'])).stdout);
      const records = hits.flatMap(({ kind, id, of }: { kind: string; id: number; of: number | null }) =>
        /^ticket/u.test(kind) ? [of ?? id] : [],
      );
      expect(records.length).toBeGreaterThan(0);
      expect(new Set(records).size).toBe(records.length);
      for (const { kind, number } of hits) if (/^ticket/u.test(kind)) expect(number).toMatch(/^T-\d+$/u);
    });

    test('a search that leaves something out says how much', async () => {
      const ran = await svc(await pulled(), ['mirror', 'search', 'a', '--limit', '2']);
      expect(ran.stderr).toMatch(/Showing 2 of (?:at least )?\d+\. For more: --limit N\./u);
    });
  });
});
