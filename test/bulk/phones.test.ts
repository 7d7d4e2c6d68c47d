// What the service may make of the phones of a file is said before anything is sent, as `contacts sync` says it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const world = sandboxWorld({ rateLimit: 'off' });
const made = (await svc(world, ['contacts', 'list', '--limit', '4', '--json'])).stdout;
const ids: readonly number[] = JSON.parse(made).map((one: { contact_id: number }) => one.contact_id);
const phones = ['+49 171 5550142', '0171 5550142', '(555) 010', '12345678901234567890'];
const file = join(world.folder, 'people.csv');
writeFileSync(file, `id,phone\n${ids.map((id, at) => `${id},${phones[at]}`).join('\n')}\n`);
const update = ['contacts', 'update', '--from', file];

test.each([[['--dry-run']], [['--yes']]])(
  'contacts update --from %j names the phones that may be refused',
  async (flags) => {
    const { stderr } = await svc(world, [...update, ...flags]);
    expect(stderr).toContain('Warning: phones without a country code. The service may refuse');
    expect(stderr).toContain('line 3: 0171 5550142');
    expect(stderr).toContain('Write them with + and the code of the country, as in +49');
    expect(stderr).not.toContain('line 2');
  },
);

test('a phone beside its country is left to the service, and a file without phones has no note', async () => {
  writeFileSync(file, `id,phone,country\n${ids[0]},0171 5550142,DE\n`);
  expect((await svc(world, [...update, '--dry-run'])).stderr).not.toContain('Warning');
  writeFileSync(file, `id,company\n${ids[0]},Acme\n`);
  expect((await svc(world, [...update, '--dry-run'])).stderr).not.toContain('Warning');
});

test('a dry run says for people how many rows it does not show', async () => {
  writeFileSync(file, `id,company\n${ids.map((id) => `${id},Acme`).join('\n')}\n`);
  const { stdout } = await svc(world, [...update, '--dry-run'], { columns: 80, env: { NO_COLOR: '1' } });
  expect(stdout).toContain('… and 1 more row');
  expect(stdout).toContain('4 of 4 rows would be sent');
});
