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
  // Two requests.
  const rows = Array.from({ length: 150 }, (_, row) => `new${row}@example.test,New ${row}\n`);
  writeFileSync(file, `email,name\n${rows.join('')}`);
  const run = async (flags: readonly string[] = [], signal?: AbortSignal) => {
    const fast = ['--settle', '1', '--max-wait', '3', '--concurrency', '1', '--json'];
    const ran = await svc(service.world, [...words.split(' '), file, ...fast, ...flags], signal && { signal });
    const { unsent, rejected } = JSON.parse(ran.stdout || '{}');
    return { exitCode: ran.exitCode, stderr: ran.stderr, unsent, rejected };
  };
  return { ...service, run };
}

describe.each(Object.entries(commands))('%s', (words, path) => {
  const inDoubt = async () => {
    const service = behind(words, path);
    service.meets(service.lost);
    expect(await service.run()).toMatchObject({ exitCode: 9, unsent: 150, rejected: 0 });
    return service;
  };

  test.each(Object.entries(refusals))(
    '%s after a lost answer is exit 9 in each run, until a good one',
    async (_, refusal) => {
      const service = await inDoubt();
      service.meets(() => refusal);
      for (const run of [service.run, service.run]) {
        const { exitCode, stderr, unsent } = await run();
        expect({ exitCode, unsent }).toEqual({ exitCode: 9, unsent: 150 });
        expect(stderr).toContain('Rows that an earlier run sent may or may not be done.');
        await service.letGo();
      }
      service.meets(() => undefined);
      expect(await service.run()).toMatchObject({ exitCode: 0, unsent: 0, rejected: 0 });
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
    const { exitCode, stderr } = await service.run([], stop.signal);
    expect(exitCode).toBe(130);
    expect(stderr).toContain('Rows that an earlier run sent may or may not be done.');
    service.meets(() => refusals['HTTP 403']);
    expect((await service.run()).exitCode).toBe(9);
    // --restart begins as if nothing had been sent.
    expect((await service.run(['--restart'])).exitCode).toBe(5);
  });
});
