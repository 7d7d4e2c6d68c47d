import { parseArgsStringToArgv } from 'string-argv';
import { describe, expect, test } from 'vitest';
import { adviceOnPath } from '../../src/commands/api/path-words.ts';
import { entries } from '../../src/commands/index.ts';
import { commandHabits, elsewhereHabits } from '../../src/program/habit-words.ts';
import { parsePast } from '../../src/text/time.ts';
import { version } from '../../src/version.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const run = (line: string, options = {}) => svc(sandboxWorld(), parseArgsStringToArgv(line), options);

/** Exit 2 with the hint, before anything is sent. */
async function refusedWith(line: string, hint: string): Promise<void> {
  const world = sandboxWorld();
  const ran = await svc(world, line.split(' '));
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ran.stderr).toContain(hint);
  expect(world.sent).toEqual([]);
}

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

  test.each([
    ['import', 'contacts sync'],
    ['chat', 'conversations'],
    ['upgrade', 'doctor'],
    ['commands', undefined],
  ])('names the command that people mean by %s', async (word, command) => {
    const { stderr } = await run(`help ${word}`);
    if (command === undefined) expect(stderr).toBe('');
    else expect(stderr).toContain(`Did you mean: svc help ${command}\n`);
  });

  test('names a near command too, and guesses nothing from nonsense', async () => {
    expect((await run('help tickts')).stderr).toContain('Did you mean: svc help tickets');
    expect((await run('help nonsense')).stderr).not.toContain('Did you mean');
  });
});

test.each(['drafts', 'templates', 'webhooks inbox', 'webhooks dead'])('svc %s view is its show', async (group) => {
  expect(await run(`${group} view --help`)).toEqual(await run(`${group} show --help`));
});

describe('help as data', () => {
  test.each(['tickets list --bogus --help --json', 'contacts list -x --help --json'])(
    'svc %s is data too',
    async (line) => {
      expect(JSON.parse((await run(line)).stdout)).toMatchObject({ command: expect.stringContaining(' list') });
    },
  );

  test.each(['-h', '--help'])('is none of the business of a text that reads %s', async (text) => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'note', '8', '--body', text, '--json']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(world.sent).toContain('POST /tickets/8/notes');
  });

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

describe('help on help', () => {
  test.each(['help --json', '--json help', 'help -o json'])('svc %s is svc --help --json', async (line) => {
    expect(await run(line)).toEqual(await run('--help --json'));
  });

  test.each(['help tickets --json', 'help --json tickets', '--json help tickets'])('svc %s', async (line) => {
    expect(await run(line)).toEqual(await run('tickets --help --json'));
  });

  test('svc help topics names every topic, and a topic can be had as data', async () => {
    const { stdout } = await run('help topics');
    const { topics } = JSON.parse((await run('help --json')).stdout);
    for (const { name } of topics) if (name !== 'topics') expect(stdout).toContain(`  ${name} `);
    const data = JSON.parse((await run('help ids --json')).stdout);
    expect(data).toMatchObject({ topic: 'ids', text: expect.stringContaining('T-1008') });
  });
});

describe('a word of another program', () => {
  const meant = [
    ['listen --forward-to x', 'webhooks listen'],
    ['trigger payment.done', 'webhooks trigger'],
    ['logs tail', 'webhooks inbox list'],
    ['changelog draft', 'changelog create'],
    ['contacts search ann', 'contacts find'],
    ['contacts import a.csv', 'contacts sync'],
    ['tickets search ann', 'tickets list --search'],
    ['issue list', 'tickets'],
    ['mirror query x', 'mirror sql'],
    ['changelog edit 3', 'changelog update'],
  ];
  test.each(meant)('svc %s is answered with svc %s, and nothing is run', async (line, command) => {
    const world = sandboxWorld();
    const ran = await svc(world, line.split(' '));
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(`Did you mean: svc ${command}\n`);
    expect(world.sent).toEqual([]);
  });

  test('that may as well be another one names both', async () => {
    const { stderr } = await run('logs');
    expect(stderr).toContain('Did you mean: svc webhooks inbox list\nor: svc audit list\n');
  });

  test.each(['uninstall', 'remove', 'delete'])('is no slip of its opposite: svc mcp %s', async (word) => {
    const { stderr } = await run(`mcp ${word} claude`);
    expect(stderr).toContain('Take it out of the file by hand.');
    expect(stderr).toContain('svc mcp install CLIENT --dry-run');
    expect((await run('mcp instal claude')).stderr).toContain('Did you mean: svc mcp install\n');
  });

  test('that takes svc away is told how, with what to do first', async () => {
    const { exitCode, stderr } = await run('uninstall');
    expect(exitCode).toBe(2);
    expect(stderr).toContain("There is no 'svc uninstall'. svc is removed the way it came.\n");
    for (const what of ['svc logout --all', 'svc doctor', 'npm uninstall --global svc']) expect(stderr).toContain(what);
  });

  const targets = Object.entries(commandHabits).flatMap(([group, words]) =>
    Object.entries(words).map(([word, command]) => [group, word, command] as const),
  );
  test.each(targets)('the command that "%s" "%s" leads to is there: %s', async (group, word, command) => {
    const line = [group, command].join(' ').trim();
    expect(await run(line.startsWith('help ') ? line : `${line} --help`)).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await run(`${group} ${word}`)).stderr).toContain(`Did you mean: svc ${line}`);
  });

  test.each(
    Object.entries(elsewhereHabits).flatMap(([group, words]) =>
      Object.entries(words).map(([word, line]) => [group, word, line] as const),
    ),
  )('the command that "%s" "%s" leads to is there, in another group: %s', async (group, word, line) => {
    expect(await run(`${line} --help`)).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await run(`${group} ${word}`)).stderr).toContain(`Did you mean: svc ${line}\n`);
  });

  test.each([
    ['tickets list --query x', 'Did you mean --search?'],
    ['contacts list -L 3', 'Did you mean --limit?'],
    ['contacts list -L3', 'Did you mean --limit?'],
    ['tickets create --desc x', 'Did you mean --description?'],
    ['inbox --lin', 'Did you mean --linear?'],
    ['contacts update 7 --tag vip', 'Tags are added by svc contacts sync --tag'],
    ['tickets update 8 --assign me', 'The service shows nobody whom a ticket is assigned to'],
    ['contacts list --query x', 'To search: svc contacts find WORDS'],
    ['tickets reply 8 -F msg.txt', 'Did you mean --body-file?'],
    ['tickets reply 8 --file x', 'Did you mean --body-file?'],
    ['tickets reply --csv x', 'Did you mean --from?'],
    ['changelog create --publish', 'Did you mean --status published?'],
    ['changelog update 3 --publish', 'Did you mean --status published?'],
    ['mcp install --client claude', 'CLIENT has no flag, it is an argument: svc mcp install CLIENT'],
    ['tickets close 8 --reason x', 'To write down why: svc tickets note ID --body TEXT'],
    ['tickets resolve 8 --comment x', 'To write down why: svc tickets note ID --body TEXT'],
    ['contacts list --tag x', 'Run: svc contacts list --help'],
    ['tickets list --tag x', 'Run: svc tickets list --help'],
    ['contacts list --pages 2', 'Did you mean --page?'],
    ['contacts find --query x', 'TEXT has no flag, it is an argument: svc contacts find TEXT'],
    ['webhooks create --event a --url b', 'EVENT has no flag, it is an argument: svc webhooks create EVENT URL'],
    ['webhooks listen --event a', 'Did you mean --events?'],
    ['webhooks listen --url b', 'Did you mean --forward-to?'],
    ['changelog release --file CHANGELOG.md', 'Did you mean --from?'],
    ['changelog release --version 1.2.0', 'VERSION has no flag, it is an argument'],
    ['tickets create --title x', 'Did you mean --subject?'],
    ['tickets close 7 --force', 'Did you mean --yes?'],
    ['tickets list --zzz', 'Run: svc tickets list --help'],
    ['tickets list --hold 5', 'Run: svc tickets list --help'],
    ['tickets list --hlep', 'Did you mean --help?'],
  ])('svc %s: %s', refusedWith);

  test.each(['CHANGELOG.md', './docs/HISTORY', 'notes.rst', 'a/b.txt'])('svc changelog release %s', async (file) => {
    const ran = await run(`changelog release ${file} --dry-run`);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(`Run: svc changelog release --from ${file}`);
  });

  test.each(['1.2.0', 'web@1.2.0', '@scope/pkg@1.2.0', 'v2'])('%s is no file', async (version) => {
    expect((await run(`changelog release ${version} --dry-run`)).stderr).not.toContain('is a file');
  });
});

describe('a secret behind a flag', () => {
  test.each([
    'login --with-api-key=abcSECRET',
    'login --with-api-key abcSECRET',
    'login --with-m2m-token=abcSECRET',
    'login --with-token=abcSECRET',
    'login --with-token',
    'auth --with-api-key=abcSECRET',
    '--token=abcSECRET whoami',
    'whoami --token abcSECRET',
    'tickets list --api-key=abcSECRET',
  ])('is not repeated, and the hint names standard input: svc %s', async (line) => {
    for (const words of [line, `${line} --json`]) {
      const ran = await run(words);
      expect(ran.exitCode).toBe(2);
      expect(ran.stdout + ran.stderr).not.toContain('SECRET');
      expect(ran.stderr).toContain('No flag takes a secret. Give it on standard input: echo');
    }
  });

  test.each([
    ['tickets list --pasword=abcSECRET', "Unknown option '--pasword'."],
    [
      'tickets --status=open --token abcSECRET',
      'Did you mean svc tickets list? It has no --token: svc tickets list --help',
    ],
    ['list tickets --api --api-key abcSECRET', 'Did you mean svc tickets list? It has no --api'],
    ['alias set mine login --x-token=abcSECRET', "Run: svc alias set mine 'login --x-token=…'"],
    ['api --token=abcSECRET GET /x', '-X GET. It has no --token: svc api --help'],
    ['whoami --yes=abc"\n"SECRET', '--yes takes no value'],
    ['api GET /contacts -H "Authorization: Bearer abcSECRET"', 'Run: svc api /contacts -H … -X GET'],
  ])('is left out of the line that is meant: svc %s', async (line, shown) => {
    const ran = await run(line);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).not.toContain('SECRET');
    expect(ran.stderr).toContain(shown);
  });
});

test.each([
  [
    'update ticket --foo 9 10 --priority 2',
    'Did you mean svc tickets update? It has no --foo: svc tickets update --help\n',
  ],
  ['get ticket 8 --foo', 'Did you mean svc tickets get? It has no --foo: svc tickets get --help\n'],
  ['get ticket 8 --json --foo 1', 'Did you mean svc tickets get? It has no --foo: svc tickets get --help\n'],
  [
    'list tickets --status open --foo=1 --bar --all',
    'svc tickets list? It has no --foo and --bar: svc tickets list --help\n',
  ],
  ['tickets --status open --foo 1', 'Did you mean svc tickets list? It has no --foo: svc tickets list --help\n'],
  ['tickets list --foo --json id,subject', "Unknown option '--foo'."],
])('the line that is proposed for svc %s has no flag that would be refused', async (words, shown) => {
  const { exitCode, stderr } = await svc(sandboxWorld(), words.split(' '));
  expect(exitCode).toBe(2);
  expect(stderr).toContain(shown);
});

test.each([
  'changelog create --title ab --template t.md',
  'tickets reply abc --template t.md',
  'conversations reply abc --template t.md',
])('with a template no text is missing: svc %s', async (words) => {
  const { exitCode, stderr } = await svc(sandboxWorld(), words.split(' '));
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain('required as well');
});

describe('svc api with what is no path', () => {
  test.each([
    ['nope', 'There is no operation at "nope".', 'svc api ls'],
    ['tikets', 'There is no operation at "tikets".', 'Did you mean /tickets?'],
    ['GET', 'PATH is missing', 'svc api /contacts -X GET'],
    ['listContacts', 'the name of an operation', 'Run: svc api /contacts\n'],
    ['createTicket', 'the name of an operation', 'Run: svc api /tickets -X POST'],
    ['GET /contacts', 'GET stands beside it', 'Run: svc api /contacts -X GET'],
    ['/contacts get', 'GET stands beside it', 'Run: svc api /contacts -X GET'],
    ['POST /tickets -f subject=x', 'POST stands beside it', 'Run: svc api /tickets -f subject=x -X POST'],
    ...['--data', '-d', '--data-raw', '--body'].flatMap((flag) => [
      [
        `POST /tickets ${flag} {"subject":"x"}`,
        'POST stands beside it',
        'The method is a flag: -X POST. The body is read from a file or standard input: --input FILE, --input -. Field by field: -f KEY=TEXT\n',
      ],
      [
        `/tickets ${flag} @body.json`,
        `Unknown option '${flag}'.`,
        '\nThe body is read from a file or standard input: --input FILE, --input -. Field by field: -f KEY=TEXT\n',
      ],
    ]),
    [
      'POST /tickets --foo 1',
      'POST stands beside it',
      'The method is a flag: -X POST. It has no --foo: svc api --help\n',
    ],
  ])('svc api %s is exit 2 with a hint, and sends nothing', async (words, fact, hint) => {
    const world = sandboxWorld();
    const ran = await svc(world, ['api', ...words.split(' ')]);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(fact);
    expect(ran.stderr).toContain(hint);
    expect(world.sent).toEqual([]);
  });

  test.each(['contacts', 'contacts?per_page=2', '/contacts', 'tickets/8'])('svc api %s goes out', async (path) => {
    expect(await run(`api ${path}`)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('a 404 of a path that no operation has is not called a missing record', async () => {
    const ran = await run('api /tiket/8');
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain('No operation that svc knows has this path.');
    expect(adviceOnPath('DELETE', '/tickets/8?x=1')).toContain('That path takes GET or PATCH, not DELETE.');
    expect(adviceOnPath('GET', '/tickets/8')).toBeUndefined();
    expect((await run('api /tickets/99999')).stderr).toContain('Records of other accounts answer the same.');
  });
});

describe('a priority', () => {
  test.each([
    ['high', 3],
    ['Urgent', 4],
    ['none', 0],
    ['2', 2],
  ])('is taken as a word too: %s', async (word, priority) => {
    const ran = await run(`tickets update 8 --priority ${word} --dry-run --json`);
    expect(JSON.parse(ran.stdout)).toEqual([{ method: 'PATCH', path: '/tickets/8', body: { priority } }]);
  });

  test.each(['hihg', '9', 'p1'])('is not %s', async (word) => {
    const ran = await run(`tickets update 8 --priority ${word}`);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('--priority ');
  });
});

describe('near fields and times', () => {
  test.each([
    ['tickets list --sort updatd_at', 'Did you mean updated_at?'],
    ['tickets list --sort email', 'Did you mean contact.email?'],
    ['tickets list --sort zzz', 'Fields: id'],
    ['tickets list --fields id,updatd_at', 'There is no field "updatd_at" here.\nDid you mean updated_at?'],
  ])('svc %s: %s', async (line, hint) => {
    const ran = await run(line);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(hint);
  });

  test.each([
    ['tickets list --sort updated --json', 'tickets list --sort updated_at --json'],
    ['tickets list --sort -Updated --json', 'tickets list --sort -updated_at --json'],
    ['tickets list --sort contact --json', 'tickets list --sort contact.name --json'],
    ['tickets list --fields id,Updated --json', 'tickets list --fields id,updated_at --json'],
    ['tickets list --sort -created --json', 'tickets list --sort -created_at --json'],
    ['tickets list --fields ticket,subject,created', 'tickets list --fields ticket_number,subject,created_at'],
    ['tickets get 8 --fields created --json', 'tickets get 8 --fields created_at --json'],
    ['calls list --fields created -o csv', 'calls list --fields created_at -o csv'],
  ])('svc %s is svc %s: a word of the table is taken for its field', async (line, same) => {
    const world = sandboxWorld();
    const words = parseArgsStringToArgv(line);
    const ran = await svc(world, words);
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('Error') });
    expect(ran.stdout).toBe((await svc(world, parseArgsStringToArgv(same))).stdout);
  });

  test('what is a field itself stays that, whatever a column is called', async () => {
    const { stdout } = await run('tickets list --fields contact --json --limit 1');
    expect(JSON.parse(stdout)).toEqual([{ contact: expect.objectContaining({ email: expect.any(String) }) }]);
  });

  test.each(['today', 'yesterday', 'Yesterday', '2h', '3d', 'now'])('--updated-since %s', async (time) => {
    expect(await run(`tickets list --updated-since ${time}`)).toMatchObject({ exitCode: 0 });
  });

  test('yesterday begins at midnight here', () => {
    const now = new Date(2026, 2, 1, 15, 30);
    expect(parsePast('yesterday', '--since', now)).toBe(new Date(2026, 1, 28).toISOString());
    expect(parsePast('today', '--since', now)).toBe(new Date(2026, 2, 1).toISOString());
  });

  test('a missing --since is the last day, and is said', async () => {
    expect((await run('mirror changes')).stderr).toContain('Changes of the last day. For others: --since TIME');
    expect((await run('mirror changes --since yest')).stderr).toContain('yesterday');
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

  test('a single field among ids, too', async () => {
    for (const line of ['tickets get T-1008 --json subject', 'tickets get 7 8 --json subject']) {
      const ran = await run(line);
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
      expect(ran.stderr).toContain(`Run: svc ${line.replace('subject', '--fields subject')}`);
    }
    expect((await run('tickets get 7 --json T-1008')).exitCode).toBe(0);
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

    test('a misspelt table or column is answered with the near one', { tags: ['long'] }, async () => {
      const world = await pulled();
      const ask = (sql: string) => svc(world, ['mirror', 'sql', sql]);
      expect((await ask('SELECT count(*) FROM tickts')).stderr).toContain('Did you mean tickets?');
      expect((await ask('SELECT statuss FROM tickets')).stderr).toContain('Did you mean status?');
      expect((await ask('SELECT zzzzzzzz FROM tickets')).stderr).not.toContain('Did you mean');
      expect((await ask('SELECT updated FROM tickets')).stderr).toContain('Did you mean updated_at?');
      // Titles are of the changelog: what is near has to be in a table that the query names.
      expect((await ask('SELECT titl FROM tickets')).stderr).not.toContain('Did you mean title');
      expect((await ask('SELECT titl FROM tickets, changelog')).stderr).toContain('Did you mean title?');
    });

    test('a query on standard input needs no dash', { tags: ['long'] }, async () => {
      const world = await pulled();
      const ran = await svc(world, ['mirror', 'sql', '--json'], { stdin: 'SELECT 7 AS seven\n' });
      expect(JSON.parse(ran.stdout)).toEqual([{ seven: 7 }]);
      const asked = await svc(world, ['mirror', 'sql'], { columns: 80, answers: ['SELECT 7 AS seven'] });
      expect(asked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('7') });
    });

    test('a ticket that is found in its messages too is there once, with its number', { tags: ['long'] }, async () => {
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

    test('a search that leaves something out says how much', { tags: ['long'] }, async () => {
      const ran = await svc(await pulled(), ['mirror', 'search', 'a', '--limit', '2']);
      expect(ran.stderr).toMatch(/Showing 2 of (?:at least )?\d+\. For more: --limit N, or --all\.\n/u);
    });

    test('--all is every record, where --limit is less and where all are shown anyway', {
      tags: ['long'],
    }, async () => {
      const world = await pulled();
      for (const id of ['1', '2']) await svc(world, ['tickets', 'update', id, '--subject', 'Another one']);
      await svc(world, ['mirror', 'pull']);
      const ask = async (line: string) => {
        const { exitCode, stdout, stderr } = await svc(world, [...line.split(' '), '--json']);
        expect(exitCode, stderr).toBe(0);
        return { records: JSON.parse(stdout), stderr };
      };
      const hits = await ask('mirror search a --all');
      expect(hits.records.length).toBeGreaterThan(20);
      expect(hits.stderr).not.toContain('Showing');
      expect((await ask('mirror search a')).records).toHaveLength(20);
      const changes = await ask('mirror changes');
      const first = await ask('mirror changes --limit 1');
      expect(first.records).toEqual(changes.records.slice(0, 1));
      expect(first.stderr).toContain('Showing the first 1. For more: --limit N, or --all.');
      expect((await ask(`mirror changes --limit ${changes.records.length}`)).stderr).toBe(changes.stderr);
      for (const line of [
        'mirror changes',
        'tickets waiting',
        'contacts find a',
        'contacts duplicates',
        'lists list',
        'lists members 1',
      ])
        expect(await ask(`${line} --all`), line).toEqual(await ask(line));
    });
  });
});

describe('what is done otherwise here is told', () => {
  test.each([
    ['mcp instal', 'Did you mean: svc mcp install'],
    ['mcp nonsense', 'Run: svc mcp --help'],
    ['lists get 1', 'Did you mean: svc lists members'],
    ['contacts list --search kim', 'To search: svc contacts find WORDS'],
    ['contacts list --sort name', "To sort what is read: --jq 'sort_by(.FIELD)'"],
    ['lists list --order-by name', "To sort what is read: --jq 'sort_by(.FIELD)'"],
    ['tickets list --priority high', '--sort -priority'],
    ['tickets list --priority high', '(3 is high, 2 normal, 1 low, 0 none)'],
    ['tickets list -o tabel', 'Did you mean table? svc report also takes md and html.'],
    ['tickets update 8 --priority hihg', 'Did you mean high?'],
    ['config set output jsn', 'Did you mean json?'],
    ['completion bsh', 'Did you mean bash?'],
    ['mcp install cluade', 'Did you mean claude?'],
    ['contacts sync x.csv --dedupe frst', 'not "frst".\nDid you mean first?'],
    ['watch tickts', 'Did you mean tickets?'],
    ['report weak', 'A report is of a day, week or month, not "weak".\nDid you mean week?'],
    ['tickets --status open', 'Did you mean: svc tickets list --status open\n'],
    ['-p other ticket --status=open --limit 3', 'Did you mean: svc -p other tickets list --status=open --limit 3\n'],
    ['contacts --email a@b.example', 'Did you mean: svc contacts create --email a@b.example\n'],
    ['webhooks inbox --limit 2', 'Did you mean: svc webhooks inbox list --limit 2\n'],
    ['tickets --nonsense 3', 'Run: svc tickets --help'],
    ['help policy', 'Did you mean: svc help sends\n'],
    ['config set send draft', 'Did you mean sends?'],
    ['config get colour', 'Did you mean color?'],
    ['drafts send 3', 'Did you mean: svc drafts approve\n'],
    ['drafts delete 3', 'Did you mean: svc drafts reject\n'],
    ['tickets comment 8', 'Did you mean: svc tickets note\nor, which reaches a person: svc tickets reply\n'],
    ['note 8', 'Did you mean: svc tickets note\n'],
    ['answer 8', 'Did you mean: svc tickets reply\n'],
    ['segments list', 'Did you mean: svc lists\n'],
    ['conversations comment 8', 'The API cannot add an internal note to a conversation.'],
    ['events resend evt_1', 'Did you mean: svc webhooks inbox replay\n'],
    ['events log', 'Did you mean: svc webhooks inbox list\nor, which reaches a person: svc events send\n'],
    ['events trigger x', 'Did you mean: svc webhooks trigger\nor, which reaches a person: svc events send\n'],
    // Two letters away from what reaches somebody is too far to offer it.
    ['events seed', 'Did you mean: svc events send\n'],
    ['events seeds', 'Run: svc events --help'],
    ['tickets rspond 8', 'Run: svc tickets --help'],
    ['tickets relpy 8', 'Did you mean: svc tickets reply\n'],
    ['tickets replay 8', 'Did you mean: svc tickets reply\n'],
    ['alias set bad tickts', 'Did you mean tickets?'],
    ['tickets note 8 --body x --status open', 'To set it: svc tickets update ID --status STATUS\n'],
    ['tickets note 8 --body x --priority=2', 'To set it: svc tickets update ID --priority N\n'],
    ['tickets note 8 --body x --draft', 'For a reply: svc tickets reply ID --body TEXT --draft\n'],
    ['tickets note 8 --body x --hold 10', 'For a reply: svc tickets reply ID --body TEXT --hold SECONDS\n'],
    ['conversations reply 2 --body x --status resolved', 'To resolve it: svc conversations resolve ID\n'],
    ['drafts approve 1 --hold 20', 'Approving sends at once. --hold goes on the command that sends: svc '],
    ['tickets list --order-by priority', 'Did you mean --sort?'],
  ])('svc %s: %s', refusedWith);

  test('what is told for a sort and for the urgent ones works', async () => {
    const world = sandboxWorld();
    const sorted = await svc(world, ['contacts', 'list', '--jq', 'sort_by(.name) | map(.name)']);
    const names = JSON.parse(sorted.stdout) as string[];
    expect(names.length).toBeGreaterThan(2);
    expect(names).toEqual([...names].sort());
    const urgent = await svc(world, ['tickets', 'list', '--jq', 'map(select(.priority == 4)) | map(.priority)']);
    expect(new Set(JSON.parse(urgent.stdout) as number[])).toEqual(new Set([4]));
  });
});

test.each([
  ['contacts sync --from x.csv', 'FILE has no flag, it is an argument: svc contacts sync FILE'],
  ['contacts list --csv', 'Did you mean -o csv?'],
  ['tickets list --yaml', 'Did you mean -o yaml?'],
  ['feedback list --sort -votes', "To sort what is read: --jq 'sort_by(.FIELD)'"],
  ['calls get 6', 'The API cannot read one call alone.'],
  ['mirror pull --only contact', 'Did you mean contacts?'],
  ['mirror pull --only people', 'Kinds: contacts, lists, '],
  ['contacts duplicates --by emial', 'Did you mean email?'],
  ['tickets reply 8 --body-file .', '. is a folder.\nName a file in it.'],
  ['branding get', 'The API cannot show the branding.'],
  ['branding show', 'See it in the product.'],
  ['webhooks create https://hooks.example.com ticket.created', 'The event stands before the URL. Events: '],
  ['tickets create --subject x --contact a@b.example --create-contacts', '--create-contacts needs --from FILE.'],
])('svc %s is answered with what does it', (line, hint) => refusedWith(line, hint));

test('a flag without its value says so, in words', async () => {
  for (const [line, flag] of [
    ['contacts update 3 --company', '--company'],
    ['tickets list --limit', '--limit'],
  ] as const) {
    const ran = await run(line);
    expect([ran.exitCode, ran.stderr]).toEqual([
      2,
      expect.stringContaining(`Error: ${flag} needs a value.\nRun: svc `),
    ]);
  }
  const { stderr } = await run('contacts sync x.csv --dedupe');
  expect(stderr).toBe('Error: --dedupe needs a value.\nOne of first, merge, error.\nRun: svc contacts sync --help\n');
});

test.each([
  ['contacts sync', 'To read standard input: svc contacts sync -'],
  ['lists import 5', 'To read standard input: svc lists import ID -'],
  [
    'tickets create --subject x --description y --priority 9',
    '0 (lowest) to 4 (highest), or none, low, normal, high or',
  ],
  ['webhooks trigger ticket.created --to http://localhost:3000', 'export SVC_WEBHOOK_SECRET=sample'],
  ['webhooks listen', 'any text will do, if the app has the same one: export SVC_WEBHOOK_SECRET=sample'],
])('what is missing or wrong is told with what to type: svc %s', refusedWith);

test.each(['create', 'update', 'reply'])(
  'the help of svc tickets %s names priorities by words too',
  async (command) => {
    expect((await run(`tickets ${command} --help`, { columns: 200 })).stdout).toContain(
      '(highest), or none, low, normal, high or urgent',
    );
  },
);

describe('what nothing takes', () => {
  test.each([
    [
      'tickets create --subject Export stops --description x',
      "Nothing takes 'stops'. Put quotes around a text of several",
    ],
    ['tickets note 8 hello world', 'Put a text behind --body, in quotes.'],
    ['whoami nobody', 'Did you mean: svc -p nobody whoami'],
    // Followed, `Leave out` ended the login of another profile.
    ['auth logout acme2', 'Did you mean: svc -p acme2 auth logout'],
    ['auth logout team_2-eu', 'To name a profile: svc -p NAME auth logout'],
    ['auth status default', 'Did you mean: svc -p default auth status'],
    ['mirror status default', "Leave out 'default'. Run: svc mirror status --help"],
    ['contacts export out.csv', 'Did you mean --out out.csv?'],
    ['contacts export --out a.csv b.csv', 'One file at a time: run the command once for each.'],
    ['contacts sync a.csv b.csv', 'One file at a time: run the command once for each.'],
    ['lists import 5 a.csv b.csv', 'One file at a time: run the command once for each.'],
    ['lists add 1 7', 'Did you mean --contact 7?'],
    ['tickets 8', 'Did you mean: svc tickets get 8'],
    ['settings list', 'Did you mean: svc config\n'],
    ['lists export 1', 'Did you mean: svc lists members\n'],
    ['api /contacts --all', 'Did you mean --paginate?'],
    ['webhooks listen ticket.created', 'Did you mean --events ticket.created?'],
    ['templates list --paginate', 'Leave out --paginate: svc templates list shows all of them.'],
    ['lists members 1 --paginate', 'Did you mean --all?'],
    ['changelog create --published', 'Did you mean --status published?'],
    ['help exit', 'Did you mean: svc help exit-codes'],
    ['contacts update a@b b@b', 'svc contacts update takes one ID. For several: svc contacts update --from FILE'],
    ['tickets reply 1 2', 'svc tickets reply takes one ID. For several: svc tickets reply --from FILE'],
    ['tickets create rows.csv', 'Did you mean --from rows.csv?'],
    ['tickets reply 8 msg.txt', 'Did you mean --body-file msg.txt?'],
    ['webhooks serve serve.yaml', 'Did you mean --config serve.yaml?'],
    ['webhooks sign b.json', 'Did you mean --body b.json?'],
    ['webhooks sign hello', "Leave out 'hello'. Run: svc webhooks sign --help"],
    ['report last week', 'Did you mean: svc report week'],
    ['openapi out.json', 'Run: svc openapi --help'],
  ])('svc %s', refusedWith);

  test('is not repeated where it may be a secret', async () => {
    const { stderr } = await run('tickets create --subject Export sk_live_4242 --description x');
    expect(stderr).toContain('Put quotes around a text of several words.');
    expect(stderr).not.toContain('4242');
  });
});

describe('advice that can be typed', () => {
  test('has the command once where it stands behind its flag', async () => {
    await refusedWith('tickets --status open list', 'Did you mean: svc tickets list --status open\n');
    await refusedWith('tickets --status open', 'Did you mean: svc tickets list --status open\n');
  });

  test.each(['lists delete 1 --desc', 'tickets close 7 --ys', 'tickets reply 8 --body x --es'])(
    'never agrees to anything by the looks of a flag: svc %s',
    async (line) => {
      const { exitCode, stderr } = await run(line);
      expect(exitCode).toBe(2);
      expect(stderr).not.toContain('--yes');
    },
  );

  test.each([
    ['tickets list --sort priority --desc', 'The largest first: --sort -FIELD'],
    ['tickets list --json=false', '--json takes no value: give it alone, or leave it out.'],
    ['tickets list --all=true', '--all takes no value: give it alone, or leave it out.'],
    ['list tickets', 'Did you mean: svc tickets list\n'],
    ['get tickets 8', 'Did you mean: svc tickets get 8\n'],
    ['describe ticket 8', 'Did you mean: svc tickets get 8\n'],
    ['create ticket --subject x', 'Did you mean: svc tickets create --subject x\n'],
    ['-p work --yes rm webhook 5', 'Did you mean: svc -p work --yes webhooks delete 5\n'],
    ['delete list 3', 'Did you mean: svc lists delete 3\n'],
    ['delete ticket 3', 'The API cannot delete tickets.'],
    ['list roadmap', 'Did you mean: svc roadmap get\n'],
    ['show customer 7', 'Did you mean: svc contacts get 7\n'],
  ])('svc %s', refusedWith);
});

describe('--help in front of the words that it is about', () => {
  test.each([
    '--help tickets list',
    '-h tickets list',
    'tickets -h list',
    'tickets --help list',
    '--no-color --help tickets list',
  ])('svc %s is the help of that command', async (line) => {
    expect(await run(line)).toEqual(await run('tickets list --help'));
  });

  test.each([
    ['--help nonsense', "Unknown command 'nonsense'."],
    ['tickets --help nonsense', "Unknown command 'nonsense'."],
  ])('svc %s', refusedWith);

  test('shows the help of a command also where an argument stands behind it', async () => {
    expect(await run('tickets get --help 8')).toEqual(await run('tickets get --help'));
  });
});

describe('a refusal names the way', () => {
  test.each([
    ['tickets list --json=id,subject', 'Run: svc tickets list --json --fields id,subject'],
    ['tickets get 8 --json=subject', 'Run: svc tickets get 8 --json --fields subject'],
    ['tickets list --template x', 'Did you mean --jq?'],
    ['tickets list --no-json', 'Leave out --no-json'],
    ['tickets list --no-all', 'Leave out --no-all'],
    ['webhooks listen 3754', '--forward-to http://localhost:3754'],
    ['webhooks listen localhost:3754/hooks', '--forward-to http://localhost:3754/hooks'],
    ['tickets list --limit all', 'For all of them: --all'],
    ['tickets list --sort id --limit all', 'For all of them: --all'],
    ['webhooks inbox list --limit all', 'For all of them: --all'],
    ['audit list --limit all', 'For all of them: --all'],
    ['contacts create --name Ada', '--file or --from'],
    ['each --profiles acme* tickets list --limit 1', "Run: svc each --profiles 'acme*' -- tickets list --limit 1"],
    ['each --all tickets list --limit 1', 'Run: svc each --all -- tickets list --limit 1'],
    ['each --all svc tickets list --limit 1', 'Run: svc each --all -- svc tickets list --limit 1'],
  ])('svc %s', refusedWith);

  test('what stands there already is not asked for', async () => {
    const ran = await run('tickets reply 9 10 --body x');
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('takes one ID.')]);
    expect(ran.stderr).not.toContain('--body');
  });

  test('notes on standard input are called that', async () => {
    const ran = await run('changelog release 9.2.0 --notes-file -', { stdin: '' });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('Standard input, line 1: ')]);
    expect(ran.stderr).not.toContain('-:1');
  });
});

test.each(['--profile', '--jq', '--output', '--timeout', '--fields'])(
  '%s without a value: the page that lists it is named',
  async (flag) => {
    for (const line of [['tickets', 'list'], ['whoami'], []]) {
      const { exitCode, stderr } = await svc(sandboxWorld(), [...line, flag]);
      expect([exitCode, stderr]).toEqual([2, `Error: ${flag} needs a value.\nRun: svc help flags\n`]);
    }
  },
);

test.each([
  [
    'tickets snooze 7',
    'The API cannot snooze tickets.',
    'To put one away on this machine for a while: svc inbox, then z',
  ],
  ['tickets assign 7 Ada', 'The API cannot assign tickets to anybody.', 'Do it in the product.'],
  ['tickets tag 7 urgent', 'The API cannot put tags on tickets.', 'Do it in the product.'],
  ['conversations assign 3', 'The API cannot assign conversations to anybody.', 'Do it in the product.'],
])('svc %s: there is no such thing, and what there is', async (line, fact, instead) => {
  const { exitCode, stderr } = await run(line);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(fact)]);
  expect(stderr).toContain(instead);
});
