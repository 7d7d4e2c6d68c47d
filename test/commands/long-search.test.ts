import { describe, expect, test } from 'vitest';
import { seedRows } from '../../src/sandbox/store/seed.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, virtualClock } from '../svc.ts';

const advice = 'svc mirror pull --only contacts';

const demo = seedRows('demo', virtualClock().now());

function worldOf(count: number): SandboxWorld {
  const [one] = demo.contacts ?? [];
  const contacts = Array.from({ length: count }, (_, at) => ({
    ...one,
    contact_id: at + 1,
    email: `person${at + 1}@example.com`,
    name: 'Ann',
  }));
  return sandboxWorld({ seed: { ...demo, contacts } as typeof demo });
}

/** The command, with everything that its progress said. */
async function said(world: SandboxWorld, argv: readonly string[]) {
  const texts: string[] = [];
  const ran = await svc(world, argv, {
    progress: (text) => void (text !== undefined && texts.push(text)),
    columns: 80,
  });
  return { ran, texts, waits: texts.filter((text) => text.includes('continuing in')) };
}

describe('a search through more pages than the limit takes in a minute', () => {
  test.each([
    { argv: ['contacts', 'find', 'nobody at all'], exitCode: 0 },
    { argv: ['contacts', 'get', 'nobody@example.com'], exitCode: 3 },
  ])('$argv says what it takes, how far it is, and what is quicker', async ({ argv, exitCode }) => {
    const { ran, waits } = await said(worldOf(13_000), argv);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr.split(advice)).toHaveLength(2);
    expect(ran.stderr).toContain('Reading 13,000 contacts in 130 requests takes about 2 min.');
    expect(waits.length).toBeGreaterThan(1);
    for (const text of waits) {
      expect(text).toMatch(/^Read \d+ of 130 pages of contacts( · about \d+ min left)? · continuing in \d+ s$/u);
      expect(text.length).toBeLessThanOrEqual(77);
    }
    expect(waits[0]).toMatch(/^Read (59|60) of 130 pages of contacts · about 2 min left · continuing in \d+ s$/u);
    expect(waits.at(-1)).not.toContain('min left');
  });

  test('how far it is is said in one form', async () => {
    const { texts } = await said(worldOf(1_300), ['contacts', 'find', 'zzz1']);
    const far = texts.filter((text) => /\d of /u.test(text));
    expect(far[0]).toBe('Looking for zzz1: read 100 of 1,300 contacts');
    for (const text of far) expect(text).toMatch(/^Looking for zzz1: read [\d,]+ of 1,300 contacts$/u);
  });

  test('of every list, the wait says how far it is', async () => {
    const { ran, waits } = await said(worldOf(6_200), ['contacts', 'list', '--all', '--json']);
    expect(ran.exitCode).toBe(0);
    expect(waits[0]).toMatch(/^Read (59|60) of 62 pages of contacts · continuing in \d+ s$/u);
    expect(ran.stderr).not.toContain(advice);
  });

  test('with --live nobody is sent to the copy; a short search says nothing', async () => {
    expect((await said(worldOf(6_200), ['contacts', 'find', 'nobody', '--live'])).ran.stderr).not.toContain(advice);
    expect((await said(worldOf(300), ['contacts', 'find', 'nobody'])).ran.stderr).not.toContain(advice);
  });
});
