// @module-tag long
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Built, buildSvc } from '../built.ts';

// biome-ignore lint/suspicious/noExplicitAny: the workflow files of others' programs
type Any = any;

const page = readFileSync(new URL('../../docs/ci.md', import.meta.url), 'utf8');
const [[alone], withAction, github, gitlab]: Any[] = [...page.matchAll(/^```yaml\n(.*?)^```$/gmsu)].map(([, text]) =>
  parse(text as string),
);

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

/** A checked-out repository, and the runner's own files beside it. */
function repository(name: string): string {
  const folder = join(built.folder, name);
  mkdirSync(folder);
  cpSync(new URL('corpus/keep-a-changelog.txt', import.meta.url), join(folder, 'CHANGELOG.md'));
  return folder;
}

/** A line of a script as the shell of a runner runs it; `inSandbox`: where the job would talk to the service. */
async function run(line: string, folder: string, env: Record<string, string>, inSandbox = false) {
  const svc = `'${process.execPath}' '${built.script}'`;
  const script = `svc() { ${svc} "$@"; }\n${line}`;
  const own = { SVC_CONFIG_DIR: join(folder, '.config'), SVC_STATE_DIR: join(folder, '.state'), CI: 'true' };
  const argv = inSandbox ? [built.script, 'sandbox', 'exec', '--seed', 'empty', '--', 'sh', '-ec', line] : undefined;
  return execa(argv ? process.execPath : 'sh', argv ?? ['-ec', script], {
    cwd: folder,
    reject: false,
    env: { ...own, ...env, PWD: folder },
  });
}

test('docs/ci.md begins with the action, and gives it only inputs that it has', () => {
  const action: Any = parse(readFileSync(new URL('../../action.yml', import.meta.url), 'utf8'));
  const [, step] = withAction.jobs.changelog.steps;
  expect(step.uses).toMatch(/^OWNER\/svc@v\d/u);
  expect(alone).toMatchObject(step);
  expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
  for (const name of Object.keys(action.inputs)) expect(page).toContain(`\`${name}\``);
});

describe('docs/ci.md for GitHub Actions', () => {
  const steps = (job: string): Any[] => github.jobs[job].steps;
  const named = (job: string, name: string) => steps(job).find((step) => step.name === name);
  const runner = (folder: string) => ({
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: folder,
    GITHUB_OUTPUT: join(folder, 'output'),
    GITHUB_STEP_SUMMARY: join(folder, 'summary'),
  });

  test('is a workflow in which no secret is near the code of a pull request', () => {
    expect(Object.keys(github)).toEqual(['name', 'on', 'permissions', 'concurrency', 'jobs']);
    expect(github.permissions).toEqual({ contents: 'read' });
    expect(JSON.stringify(github.jobs.try)).not.toContain('secrets.');
    expect(named('publish', 'Publish').env.SVC_API_KEY).toContain('secrets.SVC_API_KEY');
    // An output inside a script would be a way in for whoever writes a title.
    for (const { run: script = '' } of [...steps('try'), ...steps('publish')]) {
      expect(script.replace(/\$\{\{ vars\.SVC_PACKAGE \}\}/u, '')).not.toMatch(/\$\{\{/u);
    }
  });

  test('tries a pull request in the sandbox', async () => {
    const folder = repository('github-try');
    const ran = await run(named('try', 'Try the release in the sandbox').run, folder, runner(folder));
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'Created entry 1 (Release 1.2.0), published.' });
    expect(readFileSync(join(folder, 'summary'), 'utf8')).toContain('| Version | 1.2.0 |');
  });

  test('fails a pull request whose section is empty, on its line', async () => {
    const folder = repository('github-bad');
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## 2.0.0\n\n## 1.0.0\n\n- First\n');
    const ran = await run(named('try', 'Try the release in the sandbox').run, folder, runner(folder));
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(/^::error file=CHANGELOG\.md,line=3,/mu);
  });

  test('publishes, twice without harm, and hands the outputs on', async () => {
    const folder = repository('github-publish');
    const line = named('publish', 'Publish').run;
    const ran = await run(`${line}; ${line}`, folder, runner(folder), true);
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toBe(
      'Created entry 1 (Release 1.2.0), published.\nEntry 1 (Release 1.2.0) is already up to date and published.',
    );
    const output = readFileSync(join(folder, 'output'), 'utf8');
    const { env, run: tell } = named('publish', 'Tell');
    const given = Object.entries<string>(env).map(([name, expression]) => {
      const key = /outputs\.(\w+)/u.exec(expression)?.[1];
      return [name, new RegExp(`^${key}<<(\\S+)\\n(.*)\\n\\1$`, 'mu').exec(output)?.[2] ?? ''];
    });
    expect((await run(tell, folder, Object.fromEntries(given))).stdout).toBe('Entry 1 (release-1-2-0) is published.');
  });
});

describe('docs/ci.md for GitLab', () => {
  const gitlabRunner = { GITLAB_CI: 'true' };

  test('tries a merge request in the sandbox', async () => {
    const [line] = gitlab['try changelog'].script;
    const ran = await run(line, repository('gitlab-try'), gitlabRunner);
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'Created entry 1 (Release 1.2.0), published.' });
  });

  test('publishes the version of a tag', async () => {
    const [line] = gitlab['publish changelog'].script;
    const ran = await run(line, repository('gitlab-publish'), { ...gitlabRunner, CI_COMMIT_TAG: 'v1.1.0' }, true);
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'Created entry 1 (Release 1.1.0), published.' });
    expect(ran.stderr).not.toContain('::');
  });
});

test('docs/ci.md says what --json prints', async () => {
  const [line = ''] = [...page.matchAll(/^```sh\n(.*?)^```$/gmsu)].map(([, text]) => text as string);
  const ran = await run(line, repository('elsewhere'), {}, true);
  expect(ran.exitCode).toBe(0);
  const keys = Object.keys(JSON.parse(ran.stdout));
  expect(page).toContain(`\`{${keys.join(', ')}}\``);
});
