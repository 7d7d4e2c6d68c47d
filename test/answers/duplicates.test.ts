// Contacts that look like one person.
import { expect } from 'vitest';
import type { Group } from '../../src/answers/duplicates.ts';
import { json, ok, onBothEngines } from '../mirror/engines.ts';
import { inCopy } from '../mirror/truth.ts';
import { svc } from '../svc.ts';
import { writeRows } from './rows.ts';

const contacts = [
  { contact_id: 90_001, name: 'Ada', last_name: 'Byron', email: 'ada@dup.test', phone: '+14155550123', company: 'A' },
  { contact_id: 90_002, name: 'Ada', last_name: 'B.', email: ' ADA@Dup.test', phone: '', company: 'A', tags: ['vip'] },
  // As the service would store neither of the two, but an older one may have.
  { contact_id: 90_003, name: 'A.', email: 'other@dup.test', phone: '(415) 555-0123' },
  { contact_id: 90_004, name: 'Zoë  Émile', last_name: '', email: '', phone: '', company: 'Dup  GmbH' },
  { contact_id: 90_005, name: 'ZOË', last_name: 'émile', email: '', phone: '', company: 'dup gmbh' },
  { contact_id: 90_006, name: 'Zoë Émile', email: '', phone: '', company: '' },
  { contact_id: 90_007, name: 'Gone', email: 'ada@dup.test', gone_at: '2026-01-01T00:00:00Z' },
  { contact_id: 90_008, name: 'Both', email: 'both@dup.test', phone: '+4930123450', company: 'B' },
  { contact_id: 90_009, name: 'Both', email: 'both@dup.test', phone: '+49 30 123450', company: 'B' },
];

onBothEngines('contacts duplicates', ({ test, pulled }) => {
  test('are grouped by email, phone, and name with company, each group once, with what differs', async () => {
    const world = await pulled();
    await inCopy(world, (store, account) => store.write((sql) => writeRows(sql, account, { contacts })));
    const groups = async (more: readonly string[] = []) =>
      ((await json(world, ['contacts', 'duplicates', ...more])) as Group[]).filter(
        ({ ids }) => Number(ids[0]) > 90_000,
      );
    const all = await groups();
    expect(all.map(({ by, same, ids, differs }) => ({ by, same, ids, differs: Object.keys(differs) }))).toEqual([
      {
        by: ['email'],
        same: { email: 'ada@dup.test' },
        ids: [90_001, 90_002],
        differs: ['last_name', 'email', 'phone', 'tags'],
      },
      {
        by: ['phone'],
        same: { phone: '+14155550123' },
        ids: [90_001, 90_003],
        differs: ['name', 'last_name', 'email', 'phone', 'company'],
      },
      {
        by: ['name'],
        same: { name: 'zoë émile, dup gmbh' },
        ids: [90_004, 90_005],
        differs: ['name', 'last_name', 'company'],
      },
      {
        by: ['email', 'phone', 'name'],
        same: { email: 'both@dup.test', phone: '+4930123450', name: 'both, b' },
        ids: [90_008, 90_009],
        differs: ['phone'],
      },
    ]);
    expect(all[0]?.differs.phone).toEqual(['+14155550123', '']);
    expect((await groups(['--by', 'phone'])).map(({ ids }) => ids)).toEqual([
      [90_001, 90_003],
      [90_008, 90_009],
    ]);
    expect((await svc(world, ['contacts', 'duplicates', '--by', 'shoe'])).exitCode).toBe(2);
    const first = await ok(world, ['contacts', 'duplicates', '--limit', '1', '--json']);
    expect(JSON.parse(first.stdout)).toHaveLength(1);
    expect(first.stderr).toMatch(/Showing 1 of \d+\. For more: --limit N, or --all\./u);
    const ran = await ok(world, ['contacts', 'duplicates'], { columns: 80 });
    expect(ran.stderr).toContain('The service cannot merge contacts');
    expect(ran.stdout).toContain('90001, 90002');
  });
});
