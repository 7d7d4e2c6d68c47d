import { isAscii } from 'node:buffer';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outputs } from '../../src/config/outputs.ts';
import { type Built, buildSvc } from '../built.ts';

/** The Node that runs the built tool: this one, or the one that CI names. */
const node = process.env.SVC_TEST_NODE ?? process.execPath;

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const svc = (...argv: string[]) =>
  execa(node, [built.script, ...argv], {
    cwd: built.folder,
    reject: false,
    stdin: 'ignore',
    env: {
      SVC_CONFIG_DIR: `${built.folder}/config`,
      SVC_STATE_DIR: `${built.folder}/state`,
    },
  });
const inSandbox = (line: string) => svc('sandbox', 'exec', '--rate-limit', 'off', '--', 'sh', '-c', line);

describe('the built tool', () => {
  test('tells its version and its help', async () => {
    expect(await svc('--version')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/u) });
    expect(await svc('--help')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Usage: svc') });
  });

  test('where nothing is left that could end a run, that is no success', { tags: ['long'] }, async () => {
    const left = (signal: string) => {
      const script = `require('./dist/main.cjs').runToItsEnd(new Promise(() => {}), { signal: ${signal} })`;
      return execa(node, ['-e', script], { cwd: join(built.script, '..', '..'), reject: false });
    };
    expect(await left('AbortSignal.any([])')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^Error: /u),
    });
    for (const [name, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ])
      expect(await left(`AbortSignal.abort('${name}')`)).toMatchObject({ exitCode: code });
  });

  test('lists, creates and prints every format against the sandbox', { tags: ['long'] }, async () => {
    const ran = await inSandbox(`
      set -e
      svc contacts list --limit 2
      svc contacts create --name Ada --last-name Byron --email ada@example.com --phone +12025550123 --json
      for format in ${outputs.join(' ')}; do svc tickets list --limit 1 --output $format; done
      svc contacts list --jq '.[0].email'
    `);
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain('"name": "Ada"');
  });

  test('sends the rows of a file, keeps a copy of the account and asks it', { tags: ['long'] }, async () => {
    const ran = await inSandbox(`
      set -e
      printf 'subject,contact\\nFirst,7\\nSecond,8\\n' | svc tickets create --from - --results made.csv
      svc tickets close --from made.csv --yes
      svc mirror pull
      svc contacts update 7 --company Acme && svc mirror pull
      svc mirror sql "SELECT subject, status FROM tickets WHERE subject IN ('First', 'Second') ORDER BY 1" --output csv
      svc mirror diff --since 1h --json --jq '.[].kind'
    `);
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/First,closed\s+Second,closed\s+contacts$/u),
    });
  });

  test('ends with the exit code of what went wrong', { tags: ['long'] }, async () => {
    expect((await inSandbox('svc tickets get 99999')).exitCode).toBe(3);
    expect((await inSandbox('svc tickets update 7')).exitCode).toBe(2);
    expect((await inSandbox('svc webhooks list')).exitCode).toBe(4);
  });

  test('a closed pipe is a good end', { tags: ['long'] }, async () => {
    const ran = await inSandbox('svc contacts list --all | head -1');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('an address that nobody listens on is exit 10', { tags: ['long'] }, async () => {
    const ran = await execa(node, [built.script, 'contacts', 'list'], {
      reject: false,
      env: { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'any', SVC_CONFIG_DIR: `${built.folder}/config` },
    });
    expect(ran.exitCode).toBe(10);
  });
});

describe('what a run loads', () => {
  const loadedBy = async (...argv: string[]) => {
    const ran = await execa(node, ['--require', `${import.meta.dirname}/loaded.cjs`, built.script, ...argv], {
      cwd: built.folder,
      reject: false,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'any', SVC_CONFIG_DIR: `${built.folder}/config` },
    });
    return linesOf(ran.stdio[3]);
  };
  const chunksIn = (loaded: string[]) => loaded.filter((one) => /^[\w-]+$/u.test(one));
  const chunksOf = async (...argv: string[]) => {
    const chunks = chunksIn(await loadedBy(...argv));
    expect(chunks).toContain('version');
    return chunks;
  };
  const linesOf = (text: unknown) => String(text).split('\n').filter(Boolean);
  const forPeople = /chalk|ora|inquirer|prompts|table|pager|editor|thread|board|width/u;
  const heavy =
    /jq|yaml|csv|marked|sanitize-html|execa|open|sdk|oauth|keyring|sandbox|receiver|inspector|read-back|trace/u;

  test('--version: nothing but the chunk that answers it', async () => {
    expect(await chunksOf('--version')).toEqual(['quick', 'version']);
  });

  test('--help: the text that the build wrote down', async () => {
    expect(await chunksOf('--help')).toEqual(['quick', 'version']);
    const { rootHelp } = await import('../../src/program/root-help.ts');
    for (const width of [80, 120]) {
      expect(readFileSync(join(built.script, '..', '..', 'dist', `help-${width}.txt`), 'utf8')).toBe(rootHelp(width));
    }
  });

  test('help of a topic: the tree’s names, no command', async () => {
    const chunks = await chunksOf('help', 'output');
    expect(chunks.length).toBeLessThanOrEqual(5);
    expect(chunks.filter((chunk) => /program|main|context|contacts|service/u.test(chunk))).toEqual([]);
    // Half of what a start costs is compiling: the tree brings the names of the topics, and no library.
    const dist = join(built.script, '..', '..', 'dist');
    const tree = readdirSync(dist).filter((name) => name.startsWith('tree-'));
    expect(tree.map((name) => statSync(join(dist, name)).size)).toEqual([expect.toSatisfy((size) => size < 22_500)]);
  });

  test.each([
    ['core', 130_000],
    ['service', 165_000],
  ])('%s, which most commands load: small, and in one byte for each character', (name, most) => {
    const dist = join(built.script, '..', '..', 'dist');
    const [file = ''] = readdirSync(dist).filter((one) => one.startsWith(`${name}-`) && one.endsWith('.cjs'));
    const bytes = readFileSync(join(dist, file));
    // An `import()` of a library as a whole brings all of it, also what nobody calls.
    expect(bytes.length).toBeLessThan(most);
    expect(isAscii(bytes)).toBe(true);
  });

  test('config list: nothing of what asks the service', async () => {
    const chunks = await chunksOf('config', 'list');
    expect(chunks).toContain('core');
    expect(chunks.filter((chunk) => /service|http-client|login|credentials/u.test(chunk))).toEqual([]);
  });

  test('contacts list, in a pipe: its group alone, nothing for people, nothing heavy', { tags: ['long'] }, async () => {
    const loaded = await loadedBy('contacts', 'list');
    const chunks = chunksIn(loaded);
    expect(chunks.filter((chunk) => forPeople.test(chunk) || heavy.test(chunk))).toEqual([]);
    expect(chunks.filter((chunk) => /rows|tickets|lists|webhooks|changelog|feedback/u.test(chunk))).toEqual([]);
    // Here a service that is not there is waited for, which loads what would tell of it.
    expect(chunks.filter((chunk) => chunk !== 'progress').length).toBeLessThanOrEqual(18);
    expect(loaded.filter((one) => /^node:(?:crypto|fs\/promises|tls|v8)$/u.test(one))).toEqual([]);
  });

  test.each([['webhooks list'], ['mirror sql SELECT(1)']])(
    '%s: nothing that measures a terminal',
    { tags: ['long'] },
    async (line) => {
      expect((await chunksOf(...line.split(' '))).filter((chunk) => /width/u.test(chunk))).toEqual([]);
    },
  );

  test('mirror pull, without a proxy: nothing of what goes through one', { tags: ['long'] }, async () => {
    const chunks = await chunksOf('mirror', 'pull', '--max-wait', '0');
    expect(chunks).toContain('small-heap');
    expect(chunks.filter((chunk) => /proxied/u.test(chunk))).toEqual([]);
  });

  test('contacts find, from the copy: neither the tables of every kind, nor more of Node than it needs', {
    tags: ['long'],
  }, async () => {
    const asking = `${node} --require ${import.meta.dirname}/loaded.cjs ${built.script} contacts find yara`;
    const lines = `${node} ${built.script} mirror pull --only contacts && ${asking} 3>&1 >found`;
    const ran = await execa(node, [built.script, 'sandbox', 'exec', '--', 'sh', '-c', lines], {
      cwd: built.folder,
      env: { SVC_CONFIG_DIR: `${built.folder}/asked`, SVC_STATE_DIR: `${built.folder}/asked` },
    });
    expect(readFileSync(`${built.folder}/found`, 'utf8')).toContain('yara');
    const loaded = linesOf(ran.stdout);
    expect(loaded).toContain('copy');
    // To open a file costs more than what is in it.
    expect(loaded.filter((one) => /^[\w-]+$/u.test(one)).length).toBeLessThanOrEqual(25);
    expect(loaded.filter((one) => /^(?:kinds|tables|schema|migrations)$/u.test(one))).toEqual([]);
    expect(loaded.filter((one) => /^node:(?:crypto|v8|perf_hooks)$/u.test(one))).toEqual([]);
  });

  test('contacts sync --dry-run: no HTTP', { tags: ['long'] }, async () => {
    const { writeFile } = await import('node:fs/promises');
    await writeFile(`${built.folder}/rows.csv`, 'email\na@example.com\n');
    const chunks = await chunksOf('contacts', 'sync', 'rows.csv', '--dry-run');
    expect(chunks.filter((chunk) => forPeople.test(chunk) || /exchange|agent|undici|sandbox|jq/u.test(chunk))).toEqual(
      [],
    );
  });
});
