import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { real } from '../real-component.ts';

const run = promisify(execFile);
let built: Built;
let env: Record<string, string>;

beforeAll(async () => {
  built = await buildSvc();
  const [bin, config] = [join(built.folder, 'bin'), join(built.folder, 'config')];
  await mkdir(bin);
  await mkdir(config);
  await writeFile(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${built.script}' "$@"\n`);
  await chmod(join(bin, 'svc'), 0o755);
  await writeFile(join(config, 'config.json'), JSON.stringify({ profiles: { default: {}, workshop: {} } }));
  await mkdir(join(config, 'templates'));
  await writeFile(join(config, 'templates', 'our  reply.md'), 'Hello');
  await writeFile(join(config, 'templates', 'it’s $5 & "new".md'), 'Hello');
  await writeFile(join(config, 'templates', 'run `touch ran` $HOME "now" \\.md'), 'Hello');
  await writeFile(join(config, 'templates', "clock's news.md"), 'Hello');
  await writeFile(join(config, 'templates', 'back\\slash.md'), 'Hello');
  await writeFile(join(built.folder, 'my contacts.csv'), '');
  env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: built.folder,
    SVC_CONFIG_DIR: config,
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
  };
});
afterAll(() => built.remove());

/** Types into an interactive shell until it has shown what is expected, step by step. */
async function type(shell: readonly [string, ...string[]], steps: readonly (readonly [keys: string, shows: string])[]) {
  const [file, ...args] = shell;
  const terminal = spawn(file, args, { env, cwd: built.folder, cols: 200, rows: 50 });
  let seen = '';
  let expecting = '';
  let met = () => {};
  terminal.onData((text) => {
    seen += text;
    if (seen.includes(expecting)) met();
  });
  try {
    for (const [keys, shows] of steps) {
      seen = '';
      expecting = shows;
      const shown = new Promise<void>((resolve) => {
        met = resolve;
      });
      terminal.write(keys);
      const late = setTimeout(() => met(), 60_000);
      await shown;
      clearTimeout(late);
      expect(seen).toContain(shows);
    }
  } finally {
    terminal.kill('SIGKILL');
  }
}

/** Types a line with its Tab, then has the shell itself say what the line has become. */
const becomes = (line: string, shown: string) =>
  [`${line}\t\x01echo t"he" line: \r`, `the line: ${shown}\r\n`] as const;

const lines = [
  becomes('svc tick', 'svc tickets'),
  becomes('svc tickets list --sta', 'svc tickets list --status'),
  becomes('svc tickets list --output ya', 'svc tickets list --output yaml'),
  becomes('svc tickets list --output=ya', 'svc tickets list --output=yaml'),
  becomes('svc --profile works', 'svc --profile workshop'),
  becomes('svc tickets reply 7 --body-file my', 'svc tickets reply 7 --body-file my contacts.csv'),
  // An echo keeps two blanks of one word alone.
  becomes('svc templates show our', 'svc templates show our  reply'),
  becomes('svc templates show our\\ ', 'svc templates show our  reply'),
  becomes("svc templates show 'our ", 'svc templates show our  reply'),
  becomes('svc templates show "our', 'svc templates show our  reply'),
  becomes('svc tickets reply 7 --template=our', 'svc tickets reply 7 --template=our  reply'),
  becomes('svc templates show it', 'svc templates show it’s $5 & "new"'),
  // Bash takes words apart at colons, which scopes have.
  ['svc() { printf "tickets:read\\tabout\\n"; }; echo st"ub"\r', 'stub\r\n'],
  becomes('svc auth login --scope tickets:r', 'svc auth login --scope tickets:read'),
] as const;

const loaded = (...commands: string[]) => [`${commands.join('; ')}; echo lo"aded"\r`, 'loaded\r\n'] as const;

describe('completions', () => {
  real('bash')('in bash', { tags: ['long'] }, async () => {
    await type(['bash', '--noprofile', '--norc', '-i'], [loaded('source <(svc completion bash)'), ...lines]);
  });

  real('bash')(
    'in bash, behind an open quote, where nothing of a name is code of the shell',
    { tags: ['long'] },
    async () => {
      await type(
        ['bash', '--noprofile', '--norc', '-i'],
        [
          loaded('source <(svc completion bash)'),
          becomes('svc templates show "run', 'svc templates show run `touch ran` $HOME "now" \\'),
          becomes("svc templates show 'run", 'svc templates show run `touch ran` $HOME "now" \\'),
          becomes("svc templates show 'cl", "svc templates show clock's news"),
          becomes('svc tickets list "--output=ya', 'svc tickets list --output=yaml'),
        ],
      );
      expect(await readdir(built.folder)).not.toContain('ran');
    },
  );

  real('zsh')('in zsh', { tags: ['long'] }, async () => {
    const setUp = loaded('autoload -Uz compinit', 'compinit -u -D', 'source <(svc completion zsh)');
    const backslash = becomes('svc templates show back', 'svc templates show back\\slash');
    await type(['zsh', '-f', '-i'], [setUp, backslash, ...lines]);
  });

  real('zsh')('in zsh, where nothing has loaded compinit', { tags: ['long'] }, async () => {
    await type(['zsh', '-f', '-i'], [loaded('source <(svc completion zsh)'), ...lines]);
  });

  real('zsh')('in zsh, from a folder of functions', { tags: ['long'] }, async () => {
    const functions = join(built.folder, 'functions');
    await mkdir(functions);
    await writeFile(join(functions, '_svc'), (await run('svc', ['completion', 'zsh'], { env })).stdout);
    const setUp = loaded(`fpath=('${functions}' $fpath)`, 'autoload -Uz compinit', 'compinit -u -D');
    await type(['zsh', '-f', '-i'], [setUp, ...lines]);
  });

  real('fish')('in fish, with what each word means', { tags: ['long'] }, async () => {
    const at = async (line: string) => {
      const script = `svc completion fish | source; complete -C '${line}'`;
      return (await run('fish', ['--no-config', '-c', script], { env, cwd: built.folder })).stdout;
    };
    expect(await at('svc tick')).toBe('tickets\tSupport tickets\n');
    expect(await at('svc tickets list --sta')).toContain('--status\t');
    expect(await at('svc tickets list --output ya')).toBe('yaml\n');
    expect(await at('svc tickets list --output=ya')).toBe('--output=yaml\n');
    expect(await at('svc --profile works')).toBe('workshop\n');
    expect(await at('svc tickets reply 7 --body-file my')).toContain('my contacts.csv');
    expect(await at('svc tickets get ')).toBe('');
    expect(await at('svc templates show our')).toBe('our  reply\n');
    expect(await at('svc templates show our\\\\ ')).toBe('our  reply\n');
    expect(await at('svc templates show "our ')).toBe('our  reply\n');
  });
});
