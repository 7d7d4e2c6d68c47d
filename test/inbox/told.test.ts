/** What is told of a reply that has gone where the files of drafts fail right after it. */
import { expect, test, vi } from 'vitest';
import { desk, linear } from './desk.ts';

const fails = vi.hoisted(() => ({ at: undefined as 'written-down' | 'counted' | undefined, isSent: false }));

const broken = (code: string, what: string) => Object.assign(new Error(`${code}: ${what}`), { code, syscall: 'write' });

vi.mock('../../src/disk/append-lines.ts', async (load) => {
  const real = await load<typeof import('../../src/disk/append-lines.ts')>();
  const appendLines: typeof real.appendLines = async (path, lines, ...rest) => {
    const isDraft = path.endsWith('drafts.jsonl');
    const [line = ''] = [...lines].map(String);
    if (isDraft && fails.at === 'written-down' && line.includes('"state":"done"')) {
      fails.at = undefined;
      throw broken('ENOSPC', 'no space left on device, write');
    }
    await real.appendLines(path, lines, ...rest);
    if (isDraft && line.includes('"state":"sent"')) fails.isSent = true;
  };
  return { ...real, appendLines };
});

vi.mock('../../src/disk/lock.ts', async (load) => {
  const real = await load<typeof import('../../src/disk/lock.ts')>();
  const withLock: typeof real.withLock = (path, ...rest) => {
    if (!fails.isSent || fails.at !== 'counted' || !path.includes('drafts')) return real.withLock(path, ...rest);
    fails.at = undefined;
    throw broken('EIO', 'i/o error, open');
  };
  return { ...real, withLock };
});

const edit = (initial: string) => `It is fixed.\n${initial}`;

/** A reply to the first ticket, with what fails after it has gone. */
async function replied(at: 'written-down' | 'counted') {
  Object.assign(fails, { at, isSent: false });
  const world = await desk();
  const { stdout } = await linear(world, ['1', 'r', 'q'], { edit, columns: 400 });
  expect(fails.at).toBeUndefined();
  return { stdout, posts: world.sent.filter((one) => one.startsWith('POST')) };
}

test('a reply that went, and whose draft cannot be told so, is not called unsent', async () => {
  const { stdout, posts } = await replied('written-down');
  expect(posts).toEqual(['POST /tickets/5/replies']);
  expect(stdout).toContain('Do not send it again');
  expect(stdout).not.toContain('was not sent');
});

test('drafts that cannot be counted after a reply do not replace what was told of it', async () => {
  const { stdout, posts } = await replied('counted');
  expect(posts).toEqual(['POST /tickets/5/replies']);
  expect(stdout).toContain('Sent: a reply to T-1005');
  expect(stdout).not.toContain('EIO');
});
