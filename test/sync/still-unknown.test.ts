// Rows that an earlier run has sent, and of which nobody knows whether they are done: whatever refuses or stops the run that
// sends them again, it does not say that nothing was done.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refusals, refusing } from '../refusing.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const commands = { 'contacts sync': /\/contacts\/sync$/u, 'lists import 1': /create_sync_contacts$/u };

function behind(words: string, path: RegExp) {
  const service = refusing(sandboxWorld({ rateLimit: 'off', seed: few }), path);
  const file = join(service.world.folder, 'people.csv');
  // Two chunks.
  const rows = Array.from({ length: 250 }, (_, row) => `new${row}@example.test,New ${row}\n`);
  writeFileSync(file, `email,name\n${rows.join('')}`);
  const run = async (flags: readonly string[] = [], signal?: AbortSignal) => {
    const fast = ['--settle', '1', '--max-wait', '3', '--concurrency', '1', '--json'];
    const ran = await svc(service.world, [...words.split(' '), file, ...fast, ...flags], signal && { signal });
    const { unknown, unsent, rejected } = JSON.parse(ran.stdout || '{}');
    return { exitCode: ran.exitCode, stderr: ran.stderr, unknown, unsent, rejected };
  };
  return { ...service, run };
}

/** The first chunk was sent, and the second one was not. */
const oneInDoubt = { unsent: 250, unknown: 200, rejected: 0 };

describe.each(Object.entries(commands))('%s', (words, path) => {
  const inDoubt = async () => {
    const service = behind(words, path);
    service.meets(service.lost);
    expect(await service.run()).toMatchObject({ exitCode: 9, ...oneInDoubt });
    return service;
  };

  test.each(Object.entries(refusals))(
    '%s after a lost answer is exit 9 in each run, until a good one',
    async (_, refusal) => {
      const service = await inDoubt();
      service.meets(() => refusal);
      for (const run of [service.run, service.run]) {
        const { stderr, ...counts } = await run();
        expect(counts).toEqual({ exitCode: 9, ...oneInDoubt });
        expect(stderr).toContain('Rows that an earlier run sent may or may not be done.');
        await service.letGo();
      }
      service.meets(() => undefined);
      expect(await service.run()).toMatchObject({ exitCode: 0, unknown: 0, unsent: 0, rejected: 0 });
    },
  );

  test.each(Object.entries(refusals))('%s at once says that nothing was done, in each run', async (_, refusal) => {
    const service = behind(words, path);
    service.meets(() => refusal);
    const first = await service.run();
    expect(first.exitCode).not.toBe(9);
    await service.letGo();
    const second = await service.run();
    expect(second.exitCode).toBe(first.exitCode);
    expect(second.stderr).not.toContain('may or may not');
    await service.letGo();
  });

  test('a stop before the rows in doubt go again is no word on them', async () => {
    const service = await inDoubt();
    const stop = new AbortController();
    service.meets(() => {
      stop.abort('SIGINT');
      return { lost: 'before-sending', reason: 'aborted', detail: 'It was stopped.' };
    });
    const { stderr, ...counts } = await service.run([], stop.signal);
    expect(counts).toEqual({ exitCode: 130, ...oneInDoubt });
    expect(stderr).toContain(
      '0 of 250 rows are done, 200 unknown. Rows that an earlier run sent may or may not be done.',
    );
    service.meets(() => refusals['HTTP 403']);
    expect((await service.run()).exitCode).toBe(9);
    // --restart begins as if nothing had been sent.
    expect((await service.run(['--restart'])).exitCode).toBe(5);
  });
});

test('on a terminal the summary counts the rows in doubt', async () => {
  const service = behind('contacts sync', commands['contacts sync']);
  service.meets(service.lost);
  const words = ['contacts', 'sync', join(service.world.folder, 'people.csv'), '--settle', '1', '--concurrency', '1'];
  const { exitCode, stdout } = await svc(service.world, [...words, '--no-color'], { columns: 100 });
  expect(exitCode).toBe(9);
  expect(stdout).toContain('  200  unknown\n   50  unsent\n');
});
