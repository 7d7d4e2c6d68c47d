import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Sent = { readonly email: string; readonly phone: string };

/** Imports into a list, and returns the phones that were in two requests at once, and the most requests at once. */
async function importing(rows: readonly Sent[], { concurrency, aloneMs }: { concurrency: number; aloneMs: number }) {
  const there: SandboxWorld = sandboxWorld({ seed: 'empty' });
  const file = join(there.folder, 'list.csv');
  await writeFile(file, `email,name,phone\n${rows.map(({ email, phone }) => `${email},Ada,${phone}`).join('\n')}\n`);
  await svc(there, ['lists', 'create', '--name', 'Beta', '--target-industry', 'Software', '--notes', 'x']);
  const open = new Map<unknown, readonly string[]>();
  const met: string[] = [];
  let most = 0;
  let sent = 0;
  const exchange: typeof there.exchange = async (request) => {
    if (!request.url.includes('create_sync_contacts')) return there.exchange(request);
    const { contacts } = JSON.parse(String(request.body)) as { contacts: readonly Partial<Sent>[] };
    const phones = contacts.flatMap(({ phone }) => (phone ? [phone.replaceAll(/\D/gu, '').slice(-10)] : []));
    for (const other of open.values()) met.push(...phones.filter((phone) => other.includes(phone)));
    open.set(request, phones);
    most = Math.max(most, open.size);
    sent += contacts.length;
    // Answered once two were under way; one that must stay alone is answered in the end, too.
    for (const end = performance.now() + aloneMs; performance.now() < end && most < 2; ) await sleep(2);
    open.delete(request);
    return { status: 200, headers: {}, body: '{"success":"ok"}' };
  };
  const ran = await svc({ ...there, exchange }, [
    ...['lists', 'import', '1', file, '--json'],
    ...['--concurrency', String(concurrency)],
  ]);
  return { ran, met, most, sent };
}

const people = (count: number): Sent[] =>
  Array.from({ length: count }, (_, i) => ({
    email: `person${i}@example.com`,
    phone: `+1202555${String(1000 + i)}`,
  }));

test('lists import never has one phone in two requests at once, however it is written', async () => {
  const rows = people(1000);
  // Chunks 0 and 1 share a phone, and 2 and 4 do, under other addresses.
  rows[250] = { email: 'again@example.com', phone: '+1 (202) 555-1003' };
  rows[850] = { email: 'once.more@example.com', phone: '202.555.1450' };
  const { ran, met, most, sent } = await importing(rows, { concurrency: 5, aloneMs: 300 });
  expect(ran.exitCode).toBe(0);
  expect({ met, sent }).toEqual({ met: [], sent: 1000 });
  expect(most).toBeGreaterThan(1);
});

test('a phone too short to be matched holds nothing up', async () => {
  const rows = people(400).map((row, i) => (i % 200 === 7 ? { ...row, phone: '1234' } : row));
  const { most } = await importing(rows, { concurrency: 2, aloneMs: 10_000 });
  expect(most).toBe(2);
});
