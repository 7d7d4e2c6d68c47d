// @module-tag long
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { edit } from '../../src/node/editor.ts';
import { page } from '../../src/node/pager.ts';
import { type Built, buildSvc } from '../built.ts';

// Somebody removes the folder in which a terminal stands: what does not need it goes on.

// Windows removes no folder that is in use.
describe.skipIf(process.platform === 'win32')('in a folder that is gone', () => {
  let built: Built;
  beforeAll(async () => {
    built = await buildSvc();
  });
  afterAll(() => built.remove());

  const run = (script: string) =>
    execa(process.execPath, [built.script, 'sandbox', 'exec', '--', 'sh', '-c', script], {
      extendEnv: false,
      env: {
        PATH: process.env.PATH,
        HOME: built.folder,
        CI: '1',
        FOLDER: built.folder,
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: built.folder,
      },
      reject: false,
      stdin: 'ignore',
    });
  const leave = 'mkdir -p "$FOLDER/gone" && cd "$FOLDER/gone" && rmdir "$FOLDER/gone"';

  test('every command that needs nothing of it works', async () => {
    writeFileSync(join(built.folder, 'rows.csv'), 'subject,description\na,b\n');
    writeFileSync(join(built.folder, 'people.csv'), 'email,name,last_name\nada@example.com,Ada,Byron\nnobody,A,B\n');
    const lines = [
      ['--version', 0],
      ['help ids', 0],
      ['contacts list --limit 1', 0],
      ['contacts list --limit 1 --jq .[].email', 0],
      ['contacts export --output csv', 0],
      ['tickets create --from "$FOLDER/rows.csv" --yes', 0],
      ['contacts sync "$FOLDER/people.csv"', 8],
      ['contacts sync "$FOLDER/people.csv" --rejects "$FOLDER/rejects.csv" --json', 8],
      ['alias list', 0],
      ['config list', 0],
      ['config set output json', 0],
      ['config unset output', 0],
      ['mcp install print', 0],
      ['mcp install claude-code --file "$FOLDER/mcp.json"', 0],
      ['mcp install cursor', 0],
      ['templates list', 0],
      ['completion bash', 0],
      ['webhooks inbox list', 0],
      ['whoami', 0],
      ['sandbox exec -- true', 0],
      ['sandbox demo', 0],
    ] as const;
    const script = lines.map(([line]) => `svc ${line} >>"$FOLDER/said" 2>&1; echo "$?"`).join('\n');
    const { stdout } = await run(`${leave}\n${script}`);
    expect(
      stdout.split('\n').map((code, at) => `${lines[at]?.[0]}: ${code}`),
      readFileSync(join(built.folder, 'said'), 'utf8'),
    ).toEqual(lines.map(([line, code]) => `${line}: ${code}`));
  });

  test('a command whose file belongs there says what is wrong', async () => {
    const { exitCode, stderr } = await run(`${leave}; svc mcp install claude-code`);
    expect(exitCode).toBe(1);
    // The shell may have a word of its own about it.
    expect(stderr).toMatch(
      /^Error: The folder that svc was started in is not there any more\.\nGo to another folder, and run it there\.$/mu,
    );
  });

  test('an editor and a pager start all the same', async () => {
    const here = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), 'svc-gone-'));
    const gone = join(folder, 'gone');
    mkdirSync(gone);
    const { signal } = new AbortController();
    process.chdir(gone);
    try {
      rmdirSync(gone);
      expect(await edit('a', '.md', { env: { EDITOR: 'printf b >' }, files: { state: folder }, signal })).toBe('b');
      expect(await page(`cat > ${folder}/shown`, 'a page\n', { env: {}, signal })).toBe(true);
    } finally {
      process.chdir(here);
    }
    expect(readFileSync(join(folder, 'shown'), 'utf8')).toBe('a page\n');
  });
});
