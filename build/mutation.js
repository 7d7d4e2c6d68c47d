import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm run mutation [-- PART … --OPTION=VALUE …]` changes the files that decide what happens to a person's data, one
 * small change at a time, and counts how many of the changes no test notices. Each part has few tests, so that it ends
 * within minutes. MUTATION_RUNNERS says how many run at once.
 */
const parts = {
  retry: {
    files: ['retry/retry.ts', 'retry/retry-after.ts'],
    tests: ['http/retry.test.ts', 'http/retry-after.test.ts'],
  },
  settle: {
    files: ['http/look/agree.ts', 'http/exchange/settle.ts'],
    tests: ['http/agree.test.ts', 'http/settle.test.ts', 'http/look.test.ts'],
  },
  look: {
    files: ['http/look/look.ts', 'http/look/lookups.ts'],
    tests: [
      'looked-replies',
      'own-writes',
      'long-lists',
      'agree',
      'look',
      'look-rules',
      'settle',
      'sweeps',
      'contradicting-lists',
      'others-record',
      'new-others-record',
      'not-as-made',
      'late-copy',
      'whose',
    ].map((name) => `http/${name}.test.ts`),
  },
  send: {
    files: [
      'http/send/send.ts',
      'http/send/after-look.ts',
      'http/exchange/answer.ts',
      'http/exchange/endings.ts',
      'http/send/attempt.ts',
    ],
    tests: [
      'http/sending',
      'http/sending-again',
      'http/answers',
      'http/endings',
      'http/own-writes',
      'http/look',
      'http/late-copy',
      'http/repeated-answer',
      'http/foreign-refusal',
      'http/other-record',
      'http/others-record',
      'http/new-others-record',
      'http/contradicting-lists',
      'http/whose',
      'http/kept-otherwise',
      'http/problem',
      'http/trace',
      'http/service-clock',
      'http/wrong-address',
      'sends/policy',
      'sends/judged-again',
      'sends/waited',
      'commands/dry-run',
      'commands/api',
      'commands/changed-meanwhile',
      'audit/faces',
      'bulk/asleep',
    ].map((name) => `${name}.test.ts`),
  },
  sync: {
    files: ['sync/run.ts', 'sync/chunks.ts', 'sync/journal.ts'],
    tests: ['sync', 'resume', 'on-disk', 'in-flight', 'chunks', 'journal', 'run-plan'].map(
      (name) => `sync/${name}.test.ts`,
    ),
  },
  refresh: {
    files: ['auth/refresh.ts'],
    tests: [
      'refresh-or-not',
      'refresh',
      'logout',
      'lost-lock',
      'one-account',
      'token-answers',
      'full-disk',
      'keep',
    ].map((name) => `auth/${name}.test.ts`),
  },
  receiving: {
    files: [
      'event/envelope',
      'receive/diagnose',
      'receive/judge',
      'receive/receiver',
      'store/delivery',
      'store/forwarding',
    ].map((name) => `webhooks/${name}.ts`),
    tests: [
      'event/envelope',
      'receive/judge',
      'receive/diagnose',
      'store/delivery',
      'receive/receiver-edges',
      'receive/receiver-load',
      'receive/receiver',
    ].map((name) => `webhooks/${name}.test.ts`),
  },
  release: {
    files: ['release/section.ts', 'release/pick.ts', 'release/plan.ts'],
    tests: [
      'pick',
      'plan',
      'section',
      'sections-of-any-kind',
      'heading',
      'as-projects-write',
      'rst',
      'release',
      'write',
      'gaps',
      'hidden-entry',
      'no-text',
    ].map((name) => `release/${name}.test.ts`),
  },
};

const given = process.argv.slice(2);
const asked = given.filter((word) => !word.startsWith('-'));
/** Stryker's own, for example `--mutate=src/http/look/look.ts:60-70`. */
const options = given.filter((word) => word.startsWith('-'));
const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  process.stderr.write(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}\n`);
  process.exit(2);
}

const project = join(import.meta.dirname, '..');
const gone = Object.values(parts)
  .flatMap(({ files, tests }) => [...files.map((file) => `src/${file}`), ...tests.map((file) => `test/${file}`)])
  .filter((file) => !existsSync(join(project, file)));
if (gone.length > 0) {
  process.stderr.write(`There is no such file: ${gone.join(', ')}\n`);
  process.exit(2);
}

const vitest = join(project, 'node_modules/vitest/vitest.mjs');
const stryker = join(project, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const folder = mkdtempSync(join(tmpdir(), 'svc-mutation-'));
// Ctrl-C ends Stryker; what the tests have left is removed all the same.
process.on('SIGINT', () => {});
for (const [name, { files, tests }] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const env = {
    ...process.env,
    MUTATION_FILES: files.map((file) => `src/${file}`).join(' '),
    MUTATION_TESTS: tests.map((file) => `test/${file}`).join(' '),
    MUTATION_FOLDER: folder,
    // For the tests that start svc itself: as it is, without a change.
    SVC_TEST_BUILD: project,
    TMPDIR: folder,
  };
  // Stryker takes a test file that does not load for one without tests, and goes on.
  const whole = spawnSync(process.execPath, [vitest, 'run', '--config', 'build/mutation-vitest.config.ts'], {
    stdio: 'inherit',
    env,
  });
  const { status, signal } =
    whole.status === 0 ? spawnSync(process.execPath, [stryker, 'run', ...options], { stdio: 'inherit', env }) : whole;
  if (status !== 0) process.exitCode = 1;
  if (signal || status === 130) break;
}
// Stryker's processes may end a moment after it.
rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
